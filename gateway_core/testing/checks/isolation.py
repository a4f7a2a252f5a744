"""Checks of calls that overlap, take too long or are given up."""

import asyncio
from typing import Final

import attrs

from gateway_core.errors import ProviderTimeout
from gateway_core.secret import Secret
from gateway_core.testing.checks.check import Needs, RuleError, check, require
from gateway_core.testing.checks.subject import Subject, bench
from gateway_core.testing.messages import Gate, Received, Reply
from gateway_core.wire import Question

_SOON_S: Final = 5.0
# Replies that are held come after a while, so that a provider that blocks ends, too.
_PATIENCE_S: Final = 15.0
_MANY: Final = 8


@check(
    "A call that is given up ends at once, upstream too, and the next one works.",
    why="The caller is gone: an upstream that goes on is paid for nothing.",
    needs=Needs.UPSTREAM,
)
async def cancelling_reaches_the_upstream(subject: Subject) -> None:
    """What holds the call back is an upstream that never answers."""
    async with bench(subject) as on:
        on.upstream.queue(Reply(gate=Gate(_PATIENCE_S)))
        call = asyncio.create_task(on.ask())
        await on.upstream.received()
        call.cancel()
        done, _ = await asyncio.wait([call], timeout=_SOON_S)
        require(done, f"it went on for {_SOON_S:g} s after it was cancelled")
        require(call.cancelled(), "it did not end as cancelled")
        try:
            await on.upstream.disconnected(timeout_s=_SOON_S)
        except TimeoutError as error:
            raise RuleError("its connection to the upstream stayed open") from error
        await on.ask()


@check(
    "A call that takes too long ends as ProviderTimeout.",
    why="The chain goes on to the next provider within the client's own limit.",
    needs=Needs.UPSTREAM,
)
async def slow_upstreams_time_out(subject: Subject) -> None:
    """The host keeps the time, and a provider must let itself be cancelled."""
    async with bench(subject) as on:
        on.upstream.answer(Reply(gate=Gate(_PATIENCE_S)))
        try:
            async with asyncio.timeout(_SOON_S):
                await on.ask(timeout_s=0.1)
        except ProviderTimeout:
            return
        except TimeoutError as error:
            raise RuleError(f"it went on for {_SOON_S:g} s after its time was over") from error
        raise RuleError("it returned a reply that never came")


@check(
    "Two calls at once see neither each other's request nor reply nor key.",
    why="Callers of the gateway are different people.",
    needs=Needs.UPSTREAM,
)
async def calls_do_not_see_each_other(subject: Subject) -> None:
    """Both are under way, and the second is answered first."""
    keys = [Secret(f"s1gw-kit-caller-{number}") for number in (1, 2)]
    gates = {key: Gate(_PATIENCE_S) for key in keys}

    async with bench(subject) as on:

        def answer(received: Received) -> Reply:
            reply = on.reply(received)
            for key in filter(lambda key: subject.carries(received, key), keys):
                headers = {"x-kit-caller": key.reveal()}
                return attrs.evolve(reply, headers=headers, gate=gates[key])
            return reply

        on.upstream.answer(answer)
        calls = [asyncio.create_task(on.ask(api_key=key)) for key in keys]
        try:
            await on.upstream.received(2, timeout_s=_SOON_S)
        except TimeoutError as error:
            raise RuleError("the second call waited for the first") from error
        for key in reversed(keys):
            sent = [one for one in on.upstream.requests if subject.carries(one, key)]
            require(sent, "no request carries the key of one of the two calls")
            gates[key].open()
        replies = await asyncio.gather(*calls)
        seen = [reply.headers.get("x-kit-caller") for reply in replies]
        mixed = subject.relaying and seen != [key.reveal() for key in keys]
        require(not mixed, "the replies were exchanged")


@check(
    "Many questions at once are all answered.",
    why="A provider that keeps state between calls mixes them up under load.",
    needs=Needs.ANSWERS,
)
async def many_questions_at_once(subject: Subject) -> None:
    """Each question has options of its own, and so an answer of its own."""
    questions = [
        Question(text="Which?", options=(f"red {number}", f"blue {number}"))
        for number in range(_MANY)
    ]
    async with bench(subject) as on:
        answers = await asyncio.gather(*(on.answer(question) for question in questions))
    for question, answer in zip(questions, answers, strict=True):
        require(answer.decision in question.outcomes, "an answer is to another question")
