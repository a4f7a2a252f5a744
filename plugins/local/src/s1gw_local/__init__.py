"""A decision engine in process: a small embedding model that needs no key, server or download."""

from s1gw_local.provider import LocalProvider

__all__ = ["LocalProvider"]
