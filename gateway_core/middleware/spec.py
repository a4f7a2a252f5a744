"""Decision middleware, API version 1: all that an author needs to read.

A middleware stands between the caller of a decision and the chain of providers: a cache, a
redaction, an audit, a person's approval. It sees every valid call, whoever asks and by whichever
way; it may change the question, answer it itself, or change what comes back. Bodies that are
relayed (``/v1/systemone`` and ``/v1/decisions``) pass byte for byte and never meet one.

It is a class, named by an entry point in the group ``gateway_core.middleware.v1``. A plain
protocol does here, not pluggy: one of these wraps the next, and a pluggy wrapper around an
asynchronous hook sees a coroutine, not what it returns.

    import logging

    from gateway_core import DecideRequest, MiddlewareContext, Proceed, Outcome

    log = logging.getLogger("acme.audit")


    class AuditMiddleware:
        def __init__(self, context: MiddlewareContext[None]) -> None:
            self.context = context

        async def decide(self, request: DecideRequest, proceed: Proceed) -> Outcome:
            outcome = await proceed(request)
            log.warning("%s was %s", request.request_id, outcome.verdict.status)
            return outcome

Nothing is used that the configuration does not name. The order is the configuration's, outermost
first:

    [decide]
    middleware = ["redact", "cache"]

    [middleware.cache]
    settings = { ttl_s = 60 }

The rules that the host keeps:

- One that cannot be used (not installed, disabled, in conflict, broken, wrong settings) closes
  the gateway: every call answers ``config_error`` and nobody is asked. A redaction is never left
  out.
- One that raises, or returns what is no answer to the call it got, ends the call with an error
  that names it. Of what it raised only the type is told. The one around it sees that error as
  the verdict of ``proceed``, which does not raise.
- Its time counts: the whole call ends at ``decide.deadline_s``, with an error that names the
  one that was at work. The chain gets a little less, so that its answer can still be handled.
- The decision log and the shadows see the call as it reached the innermost middleware or the
  chain, so what is redacted is not logged either.
- Every gateway of one process has instances of its own: an organization never gets from a cache
  what another one asked.
"""

from collections.abc import Awaitable, Callable
from typing import Generic, Protocol, TypeVar

import attrs

from gateway_core.decide.reply import Outcome
from gateway_core.decide.request import DecideRequest

SettingsT = TypeVar("SettingsT")

Proceed = Callable[[DecideRequest], Awaitable[Outcome]]
"""Asks the next middleware, or the chain, and returns how the call ended."""


@attrs.frozen(kw_only=True)
class MiddlewareContext(Generic[SettingsT]):
    """What the host hands to a middleware when it builds it.

    Attributes:
        name: its name in the configuration.
        settings: its own keys, structured into the class's ``settings_class``, an attrs class;
            None for a class without one.
    """

    name: str
    settings: SettingsT


class Middleware(Protocol):
    """One decision middleware; built as ``MiddlewareClass(context)``, with no I/O."""

    async def decide(self, request: DecideRequest, proceed: Proceed) -> Outcome:
        """Settle one call: let it proceed, changed or not, or answer it.

        Args:
            request: the call: the question with its options and context, the caller's
                threshold, and the request id. It is frozen; ``attrs.evolve`` makes another.
            proceed: asks whoever comes next. It may be called never, once or more often; every
                pass asks the providers again and is paid for again. What went wrong with
                providers is in the verdict, not raised.

        Returns:
            What ``proceed`` returned, or ``Outcome(verdict=Verdict(...))``. A decision and its
            probabilities are over the outcomes of ``request``, and an abstention has a reason:
            ``Verdict(reason=Reason.REFUSED, rationale="nobody approved it")``. The attempts are
            not read from it: the host notes every provider that was tried for the call.
        """
        ...
