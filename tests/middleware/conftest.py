"""Third parties' middleware, installed, around a real provider."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from gateway_core import Gateway
from gateway_core.api import MIDDLEWARE_GROUP
from gateway_core.testing import ScriptedUpstream, standard_answer

SOURCE = """
import asyncio
import attrs
from gateway_core import Reason, Secret, Outcome, Verdict
from gateway_core.errors import InvalidRequest
from gateway_core.wire import Question

trace = []
built = []

@attrs.frozen(kw_only=True)
class Settings:
    word: str = "secret-word"
    token: Secret | None = None

class Redact:
    settings_class = Settings
    def __init__(self, context):
        self.word = context.settings.word
        built.append(self)
    async def decide(self, request, proceed):
        trace.append("redact")
        text = request.question.text.replace(self.word, "***")
        return await proceed(
            attrs.evolve(request, question=attrs.evolve(request.question, text=text)))

class Base:
    def __init__(self, context):
        self.context = context
        built.append(self)

class Audit(Base):
    async def decide(self, request, proceed):
        outcome = await proceed(request)
        trace.append((request.question.text, outcome.verdict.status.value,
                      str(outcome.verdict.error or "")))
        return outcome

class Refuse(Base):
    async def decide(self, request, proceed):
        return Outcome(verdict=Verdict(reason=Reason.REFUSED, rationale="nobody approved it"))

class Twice(Base):
    async def decide(self, request, proceed):
        await proceed(request)
        return await proceed(request)

class Wait(Base):
    cancelled = False
    async def decide(self, request, proceed):
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            trace.append("cancelled")

class WaitAfter(Base):
    async def decide(self, request, proceed):
        await proceed(request)
        await asyncio.get_running_loop().create_future()

class Raise(Base):
    async def decide(self, request, proceed):
        raise ValueError(request.question.text)

class RaiseAfter(Base):
    async def decide(self, request, proceed):
        await proceed(request)
        raise TimeoutError(request.question.text)

class Exit(Base):
    async def decide(self, request, proceed):
        raise SystemExit(request.question.text)

class Panic(Base):
    async def decide(self, request, proceed):
        raise BaseException(request.question.text)

class LoseTask(Base):
    async def decide(self, request, proceed):
        raise asyncio.CancelledError(request.question.text)

class ReturnNothing(Base):
    async def decide(self, request, proceed):
        await proceed(request)

class ReturnVerdict(Base):
    async def decide(self, request, proceed):
        return (await proceed(request)).verdict

class Invent(Base):
    async def decide(self, request, proceed):
        return Outcome(verdict=Verdict(decision="perhaps"))

class DecideNothing(Base):
    async def decide(self, request, proceed):
        return Outcome(verdict=Verdict())

class DecideAndAbstain(Base):
    async def decide(self, request, proceed):
        return Outcome(verdict=Verdict(decision="yes", reason=Reason.REFUSED))

class OtherOptions(Base):
    async def decide(self, request, proceed):
        changed = Question(text=request.question.text, options=("yes", "no", "maybe"))
        outcome = await proceed(attrs.evolve(request, question=changed))
        return attrs.evolve(outcome, verdict=attrs.evolve(outcome.verdict, decision="no"))

class Own(Base):
    async def decide(self, request, proceed):
        return Outcome(verdict=(await proceed(request)).verdict)

class ProceedWithText(Base):
    async def decide(self, request, proceed):
        return await proceed("Urgent?")

class Sync(Base):
    def decide(self, request, proceed): ...

class Narrow(Base):
    async def decide(self, request): ...

class Undecided(Base):
    pass

class CrashHard:
    def __init__(self, context):
        raise SystemExit("secret-word")

class Crash:
    def __init__(self, context):
        raise ValueError("secret-word")
"""
NAMES = {
    "redact": "Redact",
    "audit": "Audit",
    "refuse": "Refuse",
    "twice": "Twice",
    "wait": "Wait",
    "wait-after": "WaitAfter",
    "raise": "Raise",
    "raise-after": "RaiseAfter",
    "exit": "Exit",
    "panic": "Panic",
    "lose-task": "LoseTask",
    "return-nothing": "ReturnNothing",
    "return-verdict": "ReturnVerdict",
    "invent": "Invent",
    "decide-nothing": "DecideNothing",
    "decide-and-abstain": "DecideAndAbstain",
    "other-options": "OtherOptions",
    "own": "Own",
    "proceed-with-text": "ProceedWithText",
    "sync": "Sync",
    "narrow": "Narrow",
    "undecided": "Undecided",
    "crash": "Crash",
    "crash-hard": "CrashHard",
    "absent": "NotThere",
}
OpenGateway = Callable[..., AbstractAsyncContextManager[Gateway]]


@pytest.fixture
def upstream() -> Iterator[ScriptedUpstream]:
    with ScriptedUpstream() as server:
        server.answer(standard_answer)
        yield server


@pytest.fixture
def installed(site) -> None:
    """The distribution ``acme``, whose middleware does what its names say."""
    site.module("acme_middleware", SOURCE)
    entries = {name: f"acme_middleware:{cls}" for name, cls in NAMES.items()}
    site.distribution("acme", {MIDDLEWARE_GROUP: entries})


@pytest.fixture
def write_config(tmp_path: Path, upstream: ScriptedUpstream) -> Callable[..., Path]:
    """Write a configuration with one provider behind the named middleware."""

    def write(*names: str, more: str = "", decide: str = "") -> Path:
        path = tmp_path / "config.toml"
        path.write_text(
            f"[decide]\nchain = ['up']\nmiddleware = {list(names)}\n{decide}\n"
            f"[providers.up]\ndialect = 'generic-systemone'\nbase_url = '{upstream.url}'\n"
            f"models = ['m']\n{more}\n"
        )
        return path

    return write


@pytest.fixture
def gateway(installed: None, write_config: Callable[..., Path], tmp_path: Path) -> OpenGateway:
    """Open a gateway behind the named middleware."""
    state = {"S1GW_STATE_DIR": str(tmp_path / "state")}

    @asynccontextmanager
    async def opened(
        *names: str, more: str = "", decide: str = "", environ: dict[str, str] | None = None
    ) -> AsyncIterator[Gateway]:
        path = write_config(*names, more=more, decide=decide)
        async with Gateway.open(path, environ={**state, **(environ or {})}) as found:
            yield found

    return opened
