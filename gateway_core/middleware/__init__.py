"""Decision middleware: what third parties put between callers and the chain."""

from gateway_core.middleware.build import Place, build_middleware
from gateway_core.middleware.layers import Layer, Layers
from gateway_core.middleware.spec import Middleware, MiddlewareContext, Proceed

__all__ = [
    "Layer",
    "Layers",
    "Middleware",
    "MiddlewareContext",
    "Place",
    "Proceed",
    "build_middleware",
]
