"""What authors of providers test with: a scripted upstream and the provider contract."""

from typing import TYPE_CHECKING, Final

from gateway_core.lazy import lazy_names

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
__getattr__ = lazy_names(__name__, _HOMES)

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
