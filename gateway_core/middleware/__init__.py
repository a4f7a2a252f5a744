"""Decision middleware: what third parties put between callers and the chain."""

from gateway_core.middleware.build import MiddlewareSlot, build_middleware
from gateway_core.middleware.layers import Layer, Layers
from gateway_core.middleware.spec import Middleware, MiddlewareContext, Proceed

__all__ = [
    "Layer",
    "Layers",
    "Middleware",
    "MiddlewareContext",
    "MiddlewareSlot",
    "Proceed",
    "build_middleware",
]
