"""Who is told about every decision after its reply is built: logs, shadows, meters."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

import attrs

from gateway_core.decide.request import DecideRequest
from gateway_core.wire import Answer

_log: Final = logging.getLogger("s1gw.decide")


@attrs.frozen(kw_only=True)
class DecisionRecord:
    """One call that was valid, and what came of it.

    Attributes:
        request: the call.
        reply: the reply object as the caller gets it; not to be changed.
        answer: what the provider answered, before calibration; None when none did.
        model: the model that answered; the one that was asked where the provider does not say.
    """

    request: DecideRequest
    reply: Mapping[str, Any]
    answer: Answer | None = None
    model: str | None = None


class Observer(Protocol):
    """Something that watches decisions without taking part in them."""

    def decided(self, record: DecisionRecord) -> None:
        """Take note of one call.

        Called in the event loop between building the reply and returning it, so it hands
        slow work to a task or a thread of its own.
        """
        ...


def tell(observers: Sequence[Observer], record: DecisionRecord) -> None:
    """Tell every observer; one that fails is logged and changes nothing for the caller."""
    for observer in observers:
        try:
            observer.decided(record)
        # The answer is ready: whatever a bystander raises must not take it from the caller.
        except Exception:  # noqa: BLE001
            _log.exception("%s failed; the reply is unchanged", type(observer).__name__)
