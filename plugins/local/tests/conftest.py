"""What every test of this plugin shares."""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest
from s1gw_local import LocalProvider

from gateway_core import DecisionReply, DecisionRequest, Endpoint, Format
from gateway_core.provider import Provider, build_provider

Ask = Callable[..., Awaitable[dict[str, Any]]]


class NoWayOut:
    """A sender that fails: this provider sends nothing."""

    async def send(
        self, method: str, url: str, *, headers: Mapping[str, str], body: bytes
    ) -> DecisionReply:
        raise AssertionError("the embedded engine tried to send something")

    def client(self) -> Any:
        raise AssertionError("the embedded engine tried to send something")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def build() -> Callable[..., Provider]:
    def build(**settings: Any) -> Provider:
        return build_provider(
            LocalProvider,
            name="local",
            dialect="local",
            endpoint=Endpoint(),
            settings=settings,
            sender=NoWayOut(),
        )

    return build


@pytest.fixture
def ask(build: Callable[..., Provider]) -> Ask:
    """Put a body to a provider and return the reply as JSON; keys given replace the usual ones."""
    usual = build()

    async def ask(body: Any, *, provider: Provider = usual, **request: Any) -> dict[str, Any]:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        asked = DecisionRequest(format=Format.SYSTEMONE, body=raw, model="local", **request)
        reply = await provider.ask(asked, timeout_s=60)
        assert reply.status == 200
        found: dict[str, Any] = json.loads(reply.body)
        return found

    return ask


@pytest.fixture
def choice_body() -> Callable[..., dict[str, Any]]:
    """Return a body with one choice between four teams; keys given replace the usual ones."""

    def body(**keys: Any) -> dict[str, Any]:
        criteria = {
            "billing": "Payments, invoices, refunds",
            "technical": "Bugs, outages, error messages",
            "sales": "Pricing, upgrades, quotes",
            "account": None,
        }
        question = {"type": "choice", "instructions": "Which team?", "criteria": criteria}
        state = "I was charged twice this month, please refund one of the payments."
        usual = {"model": "local-e5-small", "state": state, "questions": {"team": question}}
        return usual | keys

    return body
