"""One tour through everything that a provider is asked, with the process watched meanwhile."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from typing import Final

import attrs
import httpx  # noqa: F401  # the host imports it on first use, which must not look like a stop

from gateway_core.secret import Secret
from gateway_core.testing.checks.check import RuleError
from gateway_core.testing.checks.subject import KEY, Bench, Subject, bench
from gateway_core.testing.messages import Gate, Raw, Reply, Script
from gateway_core.testing.watch.audit import Audit, watching
from gateway_core.testing.watch.logs import log_lines, warning_texts
from gateway_core.testing.watch.pulse import STOPPED_S, Pulse, Stop, feeling_the_pulse
from gateway_core.testing.watch.state import changes, state_of_the_process
from gateway_core.types import DecisionRequest, Operation, YesNo
from gateway_core.wire import Question, encode, wire_format

CALLERS_KEY: Final = Secret("s1gw-kit-callers-key-88e1")
WORDS: Final = ("kitquestion", "kitfirst", "kitsecond", "kitname", "kitvalue")
SAID: Final = "kit-upstream-said-this"
STATUSES: Final = (302, 400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 502, 503, 504, 529)
_TEXT, _FIRST, _SECOND, _NAME, _VALUE = WORDS
QUESTION: Final = Question(text=_TEXT, options=(_FIRST, _SECOND), context={_NAME: [_VALUE]})
_YES_NO: Final = Question(text=_TEXT, context={_NAME: [_VALUE]})
_HELD_S: Final = 0.4
_SOON_S: Final = 0.05
_PATIENCE_S: Final = 10.0


class _EndOfTourError(Exception):
    """A provider did not come to an end, or stopped the loop: nothing is gained by going on."""


@attrs.define(eq=False)
class Tour:
    """What was seen on the way.

    Attributes:
        audit: what was done to the machine.
        changed: the settings of the process that are not as they were.
        longest: the longest time that the event loop stood still.
        decided_elsewhere: where decisions were sent, other than to the URL they were given.
        probed_elsewhere: where probes and listings were sent, other than to the configured host.
        received: how many requests the upstream received.
        sent: how many of these went out by the host's way.
        told: the texts of errors, probes and log lines.
        failure: what the very first question came to, if not to an answer.
    """

    audit: Audit
    changed: list[str] = attrs.field(factory=list)
    longest: Stop = attrs.field(factory=Stop)
    decided_elsewhere: list[str] = attrs.field(factory=list)
    probed_elsewhere: list[str] = attrs.field(factory=list)
    received: int = 0
    sent: int = 0
    told: list[str] = attrs.field(factory=list)
    failure: Exception | None = None

    def and_then(self, later: "Tour") -> "Tour":
        """Return this and a later part of the way as one."""
        return Tour(
            audit=self.audit.and_then(later.audit),
            changed=[*self.changed, *later.changed],
            longest=max(self.longest, later.longest, key=lambda stop: stop.seconds),
            decided_elsewhere=[*self.decided_elsewhere, *later.decided_elsewhere],
            probed_elsewhere=[*self.probed_elsewhere, *later.probed_elsewhere],
            received=self.received + later.received,
            sent=self.sent + later.sent,
            told=[*self.told, *later.told],
            failure=self.failure,
        )


def first_question(subject: Subject) -> Tour:
    """Return what was seen when the provider was asked for the first time in this process.

    It is asked once, and watched already then: some things are done on first use alone. Not to be
    called from a running loop.
    """
    if first_question not in subject.kept:
        subject.kept[first_question] = asyncio.run(_tour(subject, _Guide.begin))
    found: Tour = subject.kept[first_question]
    return found


def toured(subject: Subject) -> Tour:
    """Return the tour of a provider, which is made once; not to be called from a running loop."""
    if toured not in subject.kept:
        first = first_question(subject)
        subject.kept[toured] = first.and_then(asyncio.run(_tour(subject, _Guide.show)))
    found: Tour = subject.kept[toured]
    return found


async def _tour(subject: Subject, show: "Callable[[_Guide], Awaitable[None]]") -> Tour:
    async with bench(subject) as on:
        tour = Tour(Audit(home=(on.upstream.host, on.upstream.port)))
        with log_lines() as lines, warning_texts() as warned:
            before = state_of_the_process()
            async with feeling_the_pulse() as pulse:
                with watching(tour.audit), suppress(_EndOfTourError):
                    await show(_Guide(on=on, tour=tour, pulse=pulse))
            tour.changed = changes(before, state_of_the_process())
        tour.longest = pulse.longest
        tour.told += (*lines, *warned)
        tour.received = len(on.upstream.requests)
        tour.sent = sum(url.startswith(f"{on.upstream.url}/") for url in on.sender.sent)
    return tour


@attrs.frozen(kw_only=True)
class _Guide:
    """Takes a provider through its tour; what fails is for other checks to find."""

    on: Bench
    tour: Tour
    pulse: Pulse

    @property
    def _url(self) -> str:
        """Another URL than ``build_url`` gives, so that one that is made anew shows."""
        inside = self.on.subject.is_inside
        return self.on.provider.url(Operation.DECIDE) if inside else f"{self.on.upstream.url}/given"

    async def begin(self) -> None:
        await self._aside(self._first)

    async def _first(self) -> None:
        try:
            answer = await self.on.answer(QUESTION)
            if answer.decision not in QUESTION.outcomes:
                self.tour.failure = RuleError(f"the decision is {answer.decision!r}")
        except Exception as error:
            self.tour.failure = error
            raise

    async def show(self) -> None:
        for work in self._decisions():
            await self._decision(work)
        await self._aside(self._probe)
        await self._aside(self.on.provider.models)
        if not self.on.subject.is_inside:
            await self._failures()
        await self._decision(self._given_up)
        await self._decision(self._decide)

    def _decisions(self) -> Iterator[Callable[[], Awaitable[object]]]:
        yield self._decide
        yield lambda: self._decide(key=CALLERS_KEY)
        if self.on.provider.capabilities.yes_no is not YesNo.UNSUPPORTED:
            yield lambda: self._decide(_YES_NO)
        if self.on.subject.is_inside:
            yield lambda: self._decide(body=b'{"questions": 1}')
        else:
            yield self._held

    async def _decide(
        self, question: Question = QUESTION, *, key: Secret | None = None, body: bytes | None = None
    ) -> object:
        capabilities = self.on.provider.capabilities
        request = DecisionRequest(
            format=wire_format(capabilities),
            body=self._body(question) if body is None else body,
            model=self.on.model,
            api_key=key,
        )
        return await self.on.provider.hooks.decide(request=request, url=self._url)

    def _body(self, question: Question) -> bytes:
        return encode(question, self.on.model, self.on.provider.capabilities)

    async def _held(self) -> None:
        """Ask with a reply that is held back: a client that blocks stops the loop meanwhile."""
        on = self.on
        on.upstream.queue(lambda sent: attrs.evolve(on.reply(sent), gate=Gate(_HELD_S)))
        await self._decide()

    async def _given_up(self) -> None:
        self.on.upstream.queue(lambda sent: attrs.evolve(self.on.reply(sent), gate=Gate(_HELD_S)))
        call = asyncio.ensure_future(self._decide())
        await asyncio.wait([call], timeout=_SOON_S)
        call.cancel()
        await asyncio.wait([call], timeout=_PATIENCE_S)
        self.on.upstream.unqueue()

    async def _probe(self) -> None:
        self.tour.told.append((await self.on.provider.probe(_PATIENCE_S)).detail)

    async def _failures(self) -> None:
        echo = {"detail": f"{SAID} {KEY.reveal()} {' '.join(WORDS)}"}
        scripts: list[Script] = [Reply(status=status, body=echo) for status in STATUSES]
        for script in (*scripts, Raw(data=b"")):
            self.on.upstream.answer(script)
            await self._decision(self._decide)
        self.on.upstream.answer(Reply(status=500, body=echo))
        await self._aside(self._probe)
        self.on.upstream.answer(self.on.reply)

    async def _decision(self, work: Callable[[], Awaitable[object]]) -> None:
        self.tour.decided_elsewhere += [
            url for url in await self._urls(work) if url != self._url or self.on.subject.is_inside
        ]

    async def _aside(self, work: Callable[[], Awaitable[object]]) -> None:
        there = f"{self.on.upstream.url}/"
        self.tour.probed_elsewhere += [
            url for url in await self._urls(work) if not url.startswith(there)
        ]

    async def _urls(self, work: Callable[[], Awaitable[object]]) -> list[str]:
        """Do one thing and return the URLs to which it sent; what it raises is noted."""
        before = len(self.on.sender.sent)
        limit = asyncio.timeout(_PATIENCE_S)
        try:
            async with limit:
                await work()
        except Exception as error:  # a stranger's code raises anything
            if limit.expired():
                raise _EndOfTourError from error
            self.tour.told.extend(texts_of(error))
        if self.pulse.longest.seconds >= STOPPED_S:
            raise _EndOfTourError
        return self.on.sender.sent[before:]


def texts_of(error: BaseException | None) -> Iterator[str]:
    """Yield the texts of an error and of those it came from, which may form a ring."""
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        yield f"{error} {error!r}"
        seen.append(error)
        error = error.__cause__ or error.__context__
