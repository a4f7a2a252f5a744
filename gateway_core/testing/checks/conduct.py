"""Checks of how a provider behaves towards its host and towards others of its kind."""

import asyncio
import threading
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from typing import Final
from urllib.parse import urlsplit

import attrs

from gateway_core.errors import ProviderError
from gateway_core.secret import Secret
from gateway_core.testing.checks.check import Needs, check, require
from gateway_core.testing.checks.subject import KEY, Subject, bench
from gateway_core.testing.messages import Gate, Reply
from gateway_core.wire import Question

_OTHER: Final = Secret("s1gw-kit-second-provider-51be")
_PATIENCE_S: Final = 20.0
_BLOCKED_S: Final = 2.0
_WORDS: Final = ("kitquestion", "kitfirst", "kitsecond", "kitname", "kitvalue")


@check(
    "Everything goes out by the host's way.",
    why="The operator's proxies, certificates and forbidden destinations hold nowhere else.",
    needs=Needs.UPSTREAM,
)
async def everything_goes_the_hosts_way(subject: Subject) -> None:
    """``context.post``, ``context.get`` and ``context.http``, not a client of one's own."""
    async with bench(subject) as on:
        await on.ask()
        require(on.sender.used, "the decision went another way")
        before = len(on.upstream.requests)
        on.sender.used = False
        await on.provider.probe(_PATIENCE_S)
        asked = len(on.upstream.requests) > before
        require(on.sender.used or not asked, "the probe went another way")


@check(
    "The probe asks nobody but the configured host.",
    why="Another host was never vetted, is not the operator's, and learns that it is asked.",
    needs=Needs.UPSTREAM,
)
async def the_probe_stays_on_its_host(subject: Subject) -> None:
    """Whatever path it asks there."""
    async with bench(subject) as on:
        await on.provider.probe(_PATIENCE_S)
        hosts = {urlsplit(url).netloc for url in on.sender.sent}
        elsewhere = hosts - {urlsplit(on.upstream.url).netloc}
        require(not elsewhere, f"it asked {', '.join(sorted(elsewhere))}")


@check(
    "Waiting for the upstream holds nobody else up.",
    why="Every call of the gateway runs on one event loop, which a blocking client stops.",
    needs=Needs.UPSTREAM,
)
async def waiting_blocks_nobody(subject: Subject) -> None:
    """The reply is held back, and the loop has to turn meanwhile."""
    gate = Gate(_PATIENCE_S)
    late = threading.Timer(_BLOCKED_S, gate.open)
    async with bench(subject) as on:
        on.upstream.answer(lambda received: attrs.evolve(on.reply(received), gate=gate))
        call = asyncio.create_task(on.ask())
        late.start()
        try:
            await on.upstream.received()
            require(not gate.is_open, "nothing else ran while it waited")
        finally:
            late.cancel()
            gate.open()
            await asyncio.gather(call, return_exceptions=True)


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
            count = len(on.upstream.requests)
            require(count == 1, f"one of the upstreams was asked {count} times")
            require(subject.carries(on.upstream.requests[0], key), "the keys were exchanged")


@check(
    "Question, options and context all reach the upstream.",
    why="What is left out in silence is decided without.",
    needs=Needs.UPSTREAM,
)
async def the_whole_question_is_sent(subject: Subject) -> None:
    """In whichever form, as long as the words are there."""
    text, first, second, name, value = _WORDS
    question = Question(text=text, options=(first, second), context={name: [value]})
    async with bench(subject) as on:
        await on.answer(question)
        (sent,) = on.upstream.requests
        missing = [word for word in _WORDS if word.encode() not in sent.body]
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
        with redirect_stdout(printed), redirect_stderr(printed):
            await on.answer(Question(text="Which team?", options=("sales", "billing")))
            await on.provider.probe(_PATIENCE_S)
            on.upstream.answer(Reply(status=500, body={}))
            try:
                await on.ask()
            except ProviderError:
                await on.provider.probe(_PATIENCE_S)
    require(not printed.getvalue(), f"it printed {printed.getvalue()[:80]!r}")
