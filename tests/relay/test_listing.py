"""What the listing shows of a stranger's dialect, whatever its plugin says of its models."""

from collections.abc import Sequence
from typing import Any

import pytest

from gateway_core import Capabilities, Format, ModelInfo, Operation, ProviderContext, hookimpl
from gateway_core.context import Endpoint
from gateway_core.door.callers import OPERATOR
from gateway_core.outbound import Outbound
from gateway_core.provider import build_provider
from gateway_core.relay.listing import list_models
from gateway_core.relay.targets import Table, make_targets

MODELS = ("own/one", "two")


class Stranger:
    formats = frozenset({Format.SYSTEMONE})

    def __init__(self, context: ProviderContext[None]) -> None:
        self.context = context

    @hookimpl
    def capabilities(self) -> Capabilities:
        return Capabilities(formats=self.formats, keyless=True)

    @hookimpl
    def build_url(self, operation: Operation) -> str:
        return self.context.url("/v1/systemone")

    @hookimpl
    async def decide(self) -> Any:
        raise AssertionError("a listing asks nobody")

    @hookimpl
    async def list_models(self) -> Sequence[ModelInfo]:
        return [
            ModelInfo(id="two", format=Format.OPENAI),
            ModelInfo(id="own/one", format=Format.OPENAI, listed=False),
            ModelInfo(id="not-configured", format=Format.OPENAI),
        ]


class Failing(Stranger):
    @hookimpl
    async def list_models(self) -> Sequence[ModelInfo]:
        raise RuntimeError


class OfOpenAI(Stranger):
    formats = frozenset({Format.OPENAI})


class FailingOfOpenAI(Failing):
    formats = frozenset({Format.OPENAI})


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("dialect", "listed"),
    [
        (Stranger, [("s/own/one", "systemone"), ("s/two", "systemone")]),
        (Failing, [("s/own/one", "systemone"), ("s/two", "systemone")]),
        (OfOpenAI, [("s/two", "openai")]),
        (FailingOfOpenAI, []),
    ],
)
async def test_every_configured_model_of_system_one_is_listed(
    dialect: type, listed: list[tuple[str, str]]
) -> None:
    endpoint = Endpoint(base_url="http://h.example", models=MODELS)
    outbound = Outbound({})
    provider = build_provider(
        dialect,
        name="s",
        dialect="stranger",
        endpoint=endpoint,
        settings={},
        sender=outbound.sender(endpoint),
    )
    table = Table(make_targets("s", provider, MODELS))
    data = (await list_models(table, OPERATOR))["data"]
    assert [(entry["id"], entry["format"]) for entry in data] == listed
