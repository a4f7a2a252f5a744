"""What a call is answered when its arguments could not be read: the contract's own reply."""

import logging
from contextvars import ContextVar
from typing import Any, Final, Self

import attrs

from gateway_core import logs
from gateway_core.errors import InvalidRequest

_log: Final = logging.getLogger("s1gw.decide")


@attrs.frozen
class Refusal:
    """The fault in a call's arguments.

    Attributes:
        error: the fault; it names the field.
        request_id: the id under which it is logged and answered.
    """

    error: InvalidRequest
    request_id: str

    @classmethod
    def of(cls, error: InvalidRequest, arguments: Any) -> Self:
        """Return the refusal of ``arguments``, as far as these could be read."""
        from gateway_core.decide.request import request_id_of

        return cls(error, request_id_of(arguments))

    def reply(self) -> dict[str, Any]:
        """Return the reply of the contract, and log that the call was refused."""
        from gateway_core.decide import refused

        token = logs.request_id.set(logs.visible(self.request_id))
        try:
            _log.info("invalid request: %s", logs.visible(self.error.field or "no JSON"))
        finally:
            logs.request_id.reset(token)
        return refused(self.error, self.request_id)


refusal: ContextVar[Refusal | None] = ContextVar("refusal", default=None)
"""The refusal of the call that is being answered; the transport sets it."""
