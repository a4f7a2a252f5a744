"""s1gw, the gateway for decision models: the names that programs and providers may use.

What is listed in ``__all__`` is what a version number promises. Everything is imported on
first use, so that a program pays only for the part it needs.
"""

from typing import TYPE_CHECKING, Final

from gateway_core.lazy import lazy_names
from gateway_core.version import __version__ as __version__

if TYPE_CHECKING:
    from gateway_core.context import Endpoint as Endpoint
    from gateway_core.context import ProviderContext as ProviderContext
    from gateway_core.context import bearer as bearer
    from gateway_core.decide.reply import Outcome as Outcome
    from gateway_core.decide.request import DecideRequest as DecideRequest
    from gateway_core.decide.verdict import Reason as Reason
    from gateway_core.decide.verdict import Status as Status
    from gateway_core.decide.verdict import Verdict as Verdict
    from gateway_core.gateway import Gateway as Gateway
    from gateway_core.hookspecs import API_VERSION as API_VERSION
    from gateway_core.hookspecs import ProviderSpec as ProviderSpec
    from gateway_core.hookspecs import hookimpl as hookimpl
    from gateway_core.middleware.spec import Middleware as Middleware
    from gateway_core.middleware.spec import MiddlewareContext as MiddlewareContext
    from gateway_core.middleware.spec import Proceed as Proceed
    from gateway_core.secret import Secret as Secret
    from gateway_core.types import Capabilities as Capabilities
    from gateway_core.types import DecisionReply as DecisionReply
    from gateway_core.types import DecisionRequest as DecisionRequest
    from gateway_core.types import EmptyState as EmptyState
    from gateway_core.types import Format as Format
    from gateway_core.types import LabelRules as LabelRules
    from gateway_core.types import ModelInfo as ModelInfo
    from gateway_core.types import Operation as Operation
    from gateway_core.types import ProbeResult as ProbeResult
    from gateway_core.types import YesNo as YesNo
    from gateway_core.urls import IN_PROCESS as IN_PROCESS

_HOMES: Final = {
    "context": ("Endpoint", "ProviderContext", "bearer"),
    "decide.reply": ("Outcome",),
    "decide.request": ("DecideRequest",),
    "decide.verdict": ("Reason", "Status", "Verdict"),
    "gateway": ("Gateway",),
    "hookspecs": ("API_VERSION", "ProviderSpec", "hookimpl"),
    "middleware.spec": ("Middleware", "MiddlewareContext", "Proceed"),
    "secret": ("Secret",),
    "types": (
        "Capabilities",
        "DecisionReply",
        "DecisionRequest",
        "EmptyState",
        "Format",
        "LabelRules",
        "ModelInfo",
        "Operation",
        "ProbeResult",
        "YesNo",
    ),
    "urls": ("IN_PROCESS",),
}
__getattr__ = lazy_names(__name__, _HOMES)

__all__ = [
    "API_VERSION",
    "IN_PROCESS",
    "Capabilities",
    "DecideRequest",
    "DecisionReply",
    "DecisionRequest",
    "EmptyState",
    "Endpoint",
    "Format",
    "Gateway",
    "LabelRules",
    "Middleware",
    "MiddlewareContext",
    "ModelInfo",
    "Operation",
    "Outcome",
    "ProbeResult",
    "Proceed",
    "ProviderContext",
    "ProviderSpec",
    "Reason",
    "Secret",
    "Status",
    "Verdict",
    "YesNo",
    "bearer",
    "hookimpl",
]
