"""A provider of s1gw for Echo."""

from s1gw_echo.provider import EchoProvider

__all__ = ["EchoProvider"]
