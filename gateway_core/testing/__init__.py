"""What authors of providers test with: a scripted upstream and the provider contract."""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from gateway_core.testing.answers import standard_answer as standard_answer
    from gateway_core.testing.checks.subject import Bench as Bench
    from gateway_core.testing.checks.subject import Subject as Subject
    from gateway_core.testing.checks.subject import bench as bench
    from gateway_core.testing.contract import ProviderContract as ProviderContract
    from gateway_core.testing.upstream import Gate as Gate
    from gateway_core.testing.upstream import Raw as Raw
    from gateway_core.testing.upstream import Received as Received
    from gateway_core.testing.upstream import Reply as Reply
    from gateway_core.testing.upstream import ScriptedUpstream as ScriptedUpstream

# On first use: the checks also run where pytest is not installed.
_HOMES: Final = {
    "answers": ("standard_answer",),
    "checks.subject": ("Bench", "Subject", "bench"),
    "contract": ("ProviderContract",),
    "upstream": ("Gate", "Raw", "Received", "Reply", "ScriptedUpstream"),
}
_HOME_OF: Final = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Bench",
    "Gate",
    "ProviderContract",
    "Raw",
    "Received",
    "Reply",
    "ScriptedUpstream",
    "Subject",
    "bench",
    "standard_answer",
]


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value
