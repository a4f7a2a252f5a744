"""A provider for Laya servers: System One over HTTP."""

from s1gw_laya.provider import LayaProvider, Settings

__all__ = ["LayaProvider", "Settings"]
