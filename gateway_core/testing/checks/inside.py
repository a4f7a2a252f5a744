"""Checks of providers that answer in process."""

import asyncio
import json
from typing import Any, Final

import attrs

from gateway_core.errors import GatewayError, KeyMissing, ProviderError, ProviderTimeout
from gateway_core.testing.checks.check import Needs, RuleError, check, require
from gateway_core.testing.checks.subject import Bench, Subject, bench
from gateway_core.testing.checks.tour import toured
from gateway_core.types import Format
from gateway_core.wire import Answer, Question, encode, read, why_not_askable, wire_format

_SOON_S: Final = 5.0
_PATIENCE_S: Final = 20.0
_MANY: Final = 4
_QUESTION: Final = Question(text="Which team?", options=("sales", "billing", "support"))
_NONSENSE: Final[dict[str, bytes]] = {
    "an empty body": b"",
    "no JSON": b"<html>",
    "a JSON array": b"[1]",
    "JSON that breaks off": b'{"questions": {"decision": ',
    "bytes that are no UTF-8": b'{"questions": "\xff"}',
    "JSON without questions": b"{}",
}


@check(
    "What answers in process sends nothing, and its URL says that it is in process.",
    why="The gateway tells its users that nothing leaves the machine.",
    needs=Needs.INSIDE,
)
def in_process_sends_nothing(subject: Subject) -> None:
    """Not by the host's way, either; ``remote=False`` stands in its capabilities."""
    elsewhere = toured(subject).decided_elsewhere
    require(not elsewhere, f"it sent something to {', '.join(sorted(set(elsewhere)))}")
    require(not subject.build().capabilities.remote, "its capabilities say remote=True")


@check(
    "The probe says that all is well when questions are answered.",
    why="The gateway reports a provider as down that is not.",
    needs=Needs.INSIDE,
)
async def the_probe_agrees(subject: Subject) -> None:
    """Probed before the first question and after it."""
    async with bench(subject) as on:
        before = await on.provider.probe(_PATIENCE_S)
        await on.answer(_QUESTION)
        for probed in (before, await on.provider.probe(_PATIENCE_S)):
            require(probed.ok, f"it said {probed.detail!r}")


@check(
    "Without a key, a keyless provider answers, and any other raises KeyMissing.",
    why="The automatic chain takes a keyless provider in without one.",
    needs=Needs.INSIDE,
)
async def the_key_is_needed_as_declared(subject: Subject) -> None:
    """``context.required_api_key(request)`` raises the right error."""
    async with bench(subject, key=None) as on:
        if on.provider.capabilities.keyless:
            await on.answer(_QUESTION)
            return
        try:
            await on.ask()
        except KeyMissing:
            return
        except ProviderError as error:
            raise RuleError(f"it raised {type(error).__name__} instead of KeyMissing") from error
        raise RuleError("it is not keyless, and answered without a key")


@check(
    "What is no question never becomes an answer.",
    why="Relayed bodies come from anybody, and an answer to nothing is read as a decision.",
    needs=Needs.INSIDE,
)
async def no_question_is_no_answer(subject: Subject) -> None:
    """It is refused with a ``ProviderError``."""
    async with bench(subject) as on:
        for kind, body in _NONSENSE.items():
            try:
                reply = await on.ask(body)
                read(reply.body, _QUESTION, on.provider.capabilities)
            except GatewayError:
                continue
            raise RuleError(f"{kind} became an answer")


@check(
    "Every question of a body is answered, or the capabilities say that they are too many.",
    why="Bodies with several questions are relayed, and each is answered under its own name.",
    needs=Needs.INSIDE,
)
async def several_questions_are_answered_or_declared(subject: Subject) -> None:
    """Two choices."""
    async with bench(subject) as on:
        most = on.provider.capabilities.max_questions
        if most is not None and most < 2:
            return
        body = json.loads(encode(_QUESTION, on.model, on.provider.capabilities))
        wire = wire_format(on.provider.capabilities)
        reply = await on.ask(json.dumps(_doubled(body, wire)).encode())
        names = _names(reply.json_object().get("answers"), wire)
        require(len(names) == 2, f"of two questions {len(names)} were answered")


def _doubled(body: dict[str, Any], wire: Format) -> dict[str, Any]:
    questions = body["questions"]
    if wire is Format.OPENAI:
        body["questions"] = [{**questions[0], "name": name} for name in ("first", "second")]
    else:
        body["questions"] = dict.fromkeys(("first", "second"), questions["decision"])
    return body


def _names(answers: Any, wire: Format) -> set[str]:
    if wire is Format.OPENAI:
        return {answer.get("name") for answer in answers or ()} & {"first", "second"}
    return set(answers or ()) & {"first", "second"}


@check(
    "A call that is given up ends at once, and the next one works.",
    why="The caller is gone, and others wait.",
    needs=Needs.INSIDE,
)
async def cancelling_ends_the_call(subject: Subject) -> None:
    """At the very beginning, and a little later."""
    async with bench(subject) as on:
        for turns in (1, 2, 10):
            call = asyncio.create_task(on.ask())
            for _ in range(turns):
                await asyncio.sleep(0)
            call.cancel()
            done, _ = await asyncio.wait([call], timeout=_SOON_S)
            require(done, f"it went on for {_SOON_S:g} s after it was cancelled")
            require(call.cancelled() or not call.exception(), "it did not end as cancelled")
        await on.answer(_QUESTION)


@check(
    "A call that takes too long ends as ProviderTimeout.",
    why="The chain goes on to the next provider within the client's own limit.",
    needs=Needs.INSIDE,
)
async def long_calls_time_out(subject: Subject) -> None:
    """The host keeps the time, and a provider must let itself be cancelled."""
    async with bench(subject) as on:
        try:
            async with asyncio.timeout(_SOON_S):
                await on.ask(timeout_s=0.01)
        except ProviderTimeout:
            pass
        except TimeoutError as error:
            raise RuleError(f"it went on for {_SOON_S:g} s after its time was over") from error
        await on.answer(_QUESTION)


@check(
    "Questions at once are answered as one by one.",
    why="Callers of the gateway are different people.",
    needs=Needs.INSIDE,
)
async def calls_at_once_do_not_mix(subject: Subject) -> None:
    """Each question has a number of options of its own, and so an answer that fits no other."""
    questions = [_numbered(count) for count in range(2, 2 + _MANY)]
    async with bench(subject) as on:
        fitting = [one for one in questions if not why_not_askable(one, on.provider.capabilities)]
        found = await asyncio.gather(*(on.answer(question) for question in fitting))
    for question, answer in zip(fitting, found, strict=True):
        require(answer.decision in question.outcomes, "an answer is to another question")


@check(
    "Two providers of one dialect keep to themselves.",
    why="A second table may have other settings or another model.",
    needs=Needs.INSIDE,
)
async def two_inside_keep_apart(subject: Subject) -> None:
    """Each answers its own question after the other one was built and asked."""
    two, three = _numbered(2), _numbered(3)
    async with bench(subject) as first, bench(subject) as second:
        asked = [(second, three), (first, two), (second, three)]
        for on, question in asked:
            answer = await _answer(on, question)
            decided = answer is None or answer.decision in question.outcomes
            require(decided, "an answer is to the other one's question")


@check(
    "A body is answered for the model that it names, in the words of its options alone.",
    why="The reply goes to the caller as it is.",
    needs=Needs.INSIDE,
)
async def the_reply_is_over_the_options(subject: Subject) -> None:
    """Options that look alike, and one that is a number."""
    options = ("Sales", "sales ", "1", "sales")
    question = attrs.evolve(_QUESTION, options=options)
    async with bench(subject) as on:
        answer = await _answer(on, question)
        over = answer is None or not answer.probabilities or set(answer.probabilities) == {*options}
        require(over, "its probabilities are over other options")


def _numbered(count: int) -> Question:
    return Question(text="Which?", options=tuple(f"{count} options: {n}" for n in range(count)))


async def _answer(on: Bench, question: Question) -> Answer | None:
    return (
        None if why_not_askable(question, on.provider.capabilities) else await on.answer(question)
    )
