"""Providers that do what a test says, and a decider over them."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import jsonschema
import pytest

from gateway_core import (
    Capabilities,
    DecisionReply,
    DecisionRequest,
    Endpoint,
    Format,
    Operation,
    ProviderContext,
    hookimpl,
)
from gateway_core.calibration import Calibrator, Thresholds
from gateway_core.config.model import DecideConfig
from gateway_core.decide import Chain, Cooldowns, Decider, DecisionRecord, Link, VerdictRules
from gateway_core.errors import ConfigError
from gateway_core.provider import Provider, build_provider
from gateway_core.schema import RESPONSE

KEYLESS = Capabilities(formats=frozenset({Format.SYSTEMONE}), keyless=True)


class Nowhere:
    """A way out that is never taken: the providers here answer by themselves."""

    async def send(
        self, method: str, url: str, *, headers: Mapping[str, str], body: bytes
    ) -> DecisionReply:
        raise AssertionError("nothing is sent")

    def client(self) -> Any:
        raise AssertionError("nothing is sent")


@attrs.define(eq=False)
class Script:
    """What one provider answers, call by call, and what it was asked.

    An answer is a reply's JSON, an error to raise, ``None`` to hang until it is cancelled, or an
    event to wait for before the last answer.
    """

    answers: Sequence[object] = ()
    capabilities: Capabilities = KEYLESS
    asked: list[DecisionRequest] = attrs.field(factory=list)
    started: asyncio.Event = attrs.field(factory=asyncio.Event)
    cancelled: bool = False

    async def answer(self, request: DecisionRequest) -> DecisionReply:
        answer = self.answers[min(len(self.asked), len(self.answers) - 1)]
        self.asked.append(request)
        self.started.set()
        if isinstance(answer, Exception):
            raise answer
        if answer is None:
            await self.hang()
        if isinstance(answer, asyncio.Event):
            await answer.wait()
            answer = self.answers[-1]
        return DecisionReply(body=json.dumps(answer).encode())

    async def hang(self) -> None:
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            self.cancelled = True
            raise


def scripted(name: str, script: Script, **endpoint: Any) -> Provider:
    """Build the provider ``name`` that follows ``script``."""

    class Scripted:
        def __init__(self, context: ProviderContext[None]) -> None:
            self.context = context

        @hookimpl
        def capabilities(self) -> Capabilities:
            return script.capabilities

        @hookimpl
        def build_url(self, operation: Operation) -> str:
            return "https://up.example/v1/systemone"

        @hookimpl
        async def decide(self, request: DecisionRequest) -> DecisionReply:
            return await script.answer(request)

    return build_provider(
        Scripted,
        name=name,
        dialect="scripted",
        endpoint=Endpoint(**({"models": (f"{name}-1",)} | endpoint)),
        settings={},
        sender=Nowhere(),
    )


@attrs.define(eq=False)
class Notebook:
    """An observer that keeps every record."""

    records: list[DecisionRecord] = attrs.field(factory=list)

    def decided(self, record: DecisionRecord) -> None:
        self.records.append(record)


class CheckedDecider(Decider):
    """A decider whose every reply is held against the published schema."""

    async def decide(self, fields: object) -> dict[str, Any]:
        reply = await super().decide(fields)
        jsonschema.validate(reply, RESPONSE)
        assert list(reply) == list(RESPONSE["properties"])
        return reply


@pytest.fixture
def notebook() -> Notebook:
    return Notebook()


@pytest.fixture
def script() -> type[Script]:
    """The class of scripts."""
    return Script


@pytest.fixture
def make_provider() -> Callable[..., Provider]:
    """Build a provider that follows a script."""
    return scripted


@pytest.fixture
def make_decider(notebook: Notebook) -> Callable[..., Decider]:
    """Make a decider over ``name=Script`` (or a provider, or a fault), in that order."""

    def make(
        settings: DecideConfig | None = None,
        *,
        is_paused: Callable[[], bool] = lambda: False,
        calibrator: Calibrator | None = None,
        thresholds: Mapping[str, float] | None = None,
        observers: Sequence[Any] = (),
        cooldowns: Cooldowns | None = None,
        **chain: Script | Provider | ConfigError,
    ) -> Decider:
        settings = settings or DecideConfig()
        links = [
            Link(name=name, provider=scripted(name, it) if isinstance(it, Script) else it)
            for name, it in chain.items()
        ]
        rules = VerdictRules(
            calibrator=calibrator or Calibrator(),
            thresholds=Thresholds(settings.threshold, thresholds or {}),
            abstain_when_truncated=settings.abstain_when_truncated,
        )
        nobody = ConfigError("no provider is usable")
        return CheckedDecider(
            chain=Chain(
                links=links,
                settings=settings,
                rules=rules,
                error_when_empty=nobody,
                cooldowns=cooldowns,
            ),
            is_paused=is_paused,
            observers=[*observers, notebook],
        )

    return make


@pytest.fixture
def fits(tmp_path: Path) -> Callable[..., Calibrator]:
    """Load a calibrator whose one fit, for two outcomes, is written to a file first."""

    def load(*, provider: str, **fit: Any) -> Calibrator:
        whole = {"bucket": "2", "examples": 100} | fit
        record = {"id": "cal-1", "provider": provider, "created": "2026-01-01T00:00:00Z"}
        text = json.dumps(record | {"fits": [whole]})
        (tmp_path / "cal-1.json").write_text(text, encoding="utf-8")
        return Calibrator.load(tmp_path)

    return load
