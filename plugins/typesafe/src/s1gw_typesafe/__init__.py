"""A provider for TypeSafe's Jev models: System One over HTTP."""

from s1gw_typesafe.provider import TypeSafeProvider

__all__ = ["TypeSafeProvider"]
