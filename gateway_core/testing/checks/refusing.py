"""Checks of how a provider reports what went wrong."""

from typing import Final

from gateway_core import errors
from gateway_core.errors import GatewayError, MalformedResponse, ProviderError
from gateway_core.testing.checks.check import Needs, RuleError, check, require
from gateway_core.testing.checks.subject import Bench, Subject, bench
from gateway_core.testing.messages import Raw, Reply, Script
from gateway_core.wire import Question

_STATUSES: Final[dict[int, tuple[str, ...]]] = {
    400: ("UpstreamRejected",),
    401: ("KeyRejected", "KeyMissing"),
    402: ("PaymentRequired",),
    403: ("KeyRejected", "KeyMissing"),
    404: ("ModelNotFound",),
    408: ("ProviderTimeout",),
    413: ("RequestTooLarge",),
    422: ("UpstreamRejected",),
    429: ("RateLimited",),
    500: ("ProviderError",),
    502: ("ProviderError",),
    503: ("Overloaded",),
    504: ("ProviderTimeout",),
    529: ("Overloaded",),
}
_TOO_LARGE: Final = 10 * 1024 * 1024 + 1
_NONSENSE: Final[dict[str, Script]] = {
    "an HTML page": Reply(body="<html>busy</html>", headers={"content-type": "text/html"}),
    "an empty body": Reply(body=b""),
    "a JSON array": Reply(body=[1]),
    "a body cut short": Raw(data=b'HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"answers'),
    "JSON that breaks off": Reply(body=b'{"answers": {"decision": '),
    "a body over 10 MiB": Reply(body=b'"' + b"x" * _TOO_LARGE + b'"'),
}


async def _failure(on: Bench, script: Script) -> ProviderError:
    on.upstream.answer(script)
    try:
        await on.ask()
    except ProviderError as error:
        return error
    raise RuleError("it returned a reply")


@check(
    "Each status becomes the error that it means, with the status in it.",
    why="The chain, the relay's statuses and its advice to clients all follow the error's class.",
    needs=Needs.UPSTREAM,
)
async def statuses_become_their_errors(subject: Subject) -> None:
    """``context.post`` raises them; a client of the provider's own has to."""
    async with bench(subject) as on:
        for status, names in _STATUSES.items():
            error = await _failure(on, Reply(status=status, body={"detail": "no"}))
            kinds = tuple(getattr(errors, name) for name in names)
            found = f"HTTP {status} became {type(error).__name__}"
            require(isinstance(error, kinds), f"{found} instead of {' or '.join(names)}")
            require(error.status == status, f"{found} with the status {error.status}")


@check(
    "Retry-After is kept as it came.",
    why="Clients obey it; without it they hammer an upstream that asked for a pause.",
    needs=Needs.UPSTREAM,
)
async def retry_after_is_kept(subject: Subject) -> None:
    """Seconds, many seconds, and a date."""
    async with bench(subject) as on:
        for value in ("7", "287441", "Wed, 21 Oct 2026 07:28:00 GMT"):
            reply = Reply(status=429, body={}, headers={"Retry-After": value})
            error = await _failure(on, reply)
            require(error.retry_after == value, f"{value!r} became {error.retry_after!r}")


@check(
    "Nothing is retried.",
    why="The chain falls back, and clients retry by themselves: attempts would multiply.",
    needs=Needs.UPSTREAM,
)
async def nothing_is_retried(subject: Subject) -> None:
    """One attempt for each status, a broken connection and a reply that is none."""
    failures: dict[str, Script] = {
        f"HTTP {status}": Reply(status=status, body={}, headers={"Retry-After": "0"})
        for status in _STATUSES
    }
    failures["a connection that closed"] = Raw(data=b"")
    for failure, script in failures.items():
        async with bench(subject) as on:
            await _failure(on, script)
            count = len(on.upstream_sends)
            require(count <= 1, f"{failure} led to {count} requests")


@check(
    "A redirect is an error and is not followed.",
    why="Its target was never vetted, and would receive the credential.",
    needs=Needs.UPSTREAM,
)
async def redirects_are_not_followed(subject: Subject) -> None:
    """For each kind of redirect."""
    for status in (301, 302, 307, 308):
        async with bench(subject) as on:
            await _failure(on, Reply(status=status, headers={"location": "/elsewhere"}))
            require(len(on.upstream_sends) <= 1, f"HTTP {status} was followed")


@check(
    "A connection that cannot be made or breaks is ProviderUnreachable.",
    why="It is what an operator looks for when a provider is down.",
    needs=Needs.UPSTREAM,
)
async def broken_connections_are_unreachable(subject: Subject) -> None:
    """One that closes at once, and one that is not there."""
    async with bench(subject) as on:
        error = await _failure(on, Raw(data=b""))
        require(isinstance(error, errors.ProviderUnreachable), f"it raised {type(error).__name__}")
        on.upstream.stop()
        error = await _failure(on, Raw())
        require(isinstance(error, errors.ProviderUnreachable), f"it raised {type(error).__name__}")


@check(
    "What is no answer never becomes one.",
    why="A page of a proxy that is read as a decision is worse than no decision.",
    needs=Needs.UPSTREAM,
)
async def nonsense_never_becomes_an_answer(subject: Subject) -> None:
    """Refused by the provider, or by the host that reads its reply."""
    question = Question(text="Which team?", options=("sales", "billing"))
    for kind, script in _NONSENSE.items():
        async with bench(subject) as on:
            on.upstream.answer(script)
            try:
                await on.answer(question)
            except (MalformedResponse, errors.ProviderUnreachable):
                continue
            except GatewayError as error:
                raise RuleError(f"{kind} became {type(error).__name__}") from error
            raise RuleError(f"{kind} became an answer")
