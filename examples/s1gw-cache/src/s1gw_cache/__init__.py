"""A cache of decisions for s1gw."""

from s1gw_cache.middleware import CacheMiddleware, CacheSettings

__all__ = ["CacheMiddleware", "CacheSettings"]
