"""Checks of how a provider behaves towards its host and towards others of its kind."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from tempfile import TemporaryFile
from typing import Final

from gateway_core.errors import ProviderError
from gateway_core.secret import Secret
from gateway_core.testing.checks.check import Needs, check, require
from gateway_core.testing.checks.subject import KEY, Subject, bench
from gateway_core.testing.checks.tour import QUESTION, WORDS
from gateway_core.testing.messages import Reply
from gateway_core.wire import Question

_OTHER: Final = Secret("s1gw-kit-second-provider-51be")
_PATIENCE_S: Final = 20.0


@check(
    "Two providers of one dialect keep to themselves.",
    why="A second account or region is a second table: neither may use the other's key or URL.",
    needs=Needs.UPSTREAM,
)
async def two_providers_keep_apart(subject: Subject) -> None:
    """The first one is asked after the second one was built and asked."""
    async with bench(subject) as first, bench(subject, key=_OTHER) as second:
        await second.ask()
        await first.ask()
        for on, key in ((first, KEY), (second, _OTHER)):
            require(on.upstream.requests, "one of the upstreams was not asked")
            require(subject.carries(on.upstream.requests[-1], key), "the keys were exchanged")


@check(
    "Question, options and context all reach the upstream.",
    why="What is left out in silence is decided without.",
    needs=Needs.UPSTREAM,
)
async def the_whole_question_is_sent(subject: Subject) -> None:
    """In whichever form, as long as the words are there."""
    async with bench(subject) as on:
        await on.answer(QUESTION)
        sent = on.upstream.requests[-1]
        missing = [word for word in WORDS if word.encode() not in sent.body]
        require(not missing, f"these words did not arrive: {', '.join(missing)}")


@check(
    "Asking prints nothing.",
    why="Under MCP over stdio, a printed line breaks the client, and may show what was asked.",
    needs=Needs.ANSWERS,
)
async def asking_prints_nothing(subject: Subject) -> None:
    """Neither a decision nor a probe, whether it works or not."""
    printed = StringIO()
    async with bench(subject) as on:
        with redirect_stdout(printed), redirect_stderr(printed), _descriptors(printed):
            await on.answer(Question(text="Which team?", options=("sales", "billing")))
            await on.provider.probe(_PATIENCE_S)
            on.upstream.answer(Reply(status=500, body={}))
            try:
                await on.ask()
            except ProviderError:
                await on.provider.probe(_PATIENCE_S)
    require(not printed.getvalue(), f"it printed {printed.getvalue()[:80]!r}")


@contextmanager
def _descriptors(printed: StringIO) -> Iterator[None]:
    """Collect what goes to the descriptors of stdout and stderr themselves, too."""
    with TemporaryFile() as kept:
        own = {number: os.dup(number) for number in (1, 2)}
        try:
            for number in own:
                os.dup2(kept.fileno(), number)
            yield
        finally:
            for number, copy in own.items():
                os.dup2(copy, number)
                os.close(copy)
            kept.seek(0)
            printed.write(kept.read().decode(errors="replace"))
