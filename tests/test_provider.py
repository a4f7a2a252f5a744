"""One provider, and the step in which it is asked."""

import asyncio
import logging
from typing import Any

import pytest

from gateway_core import (
    Capabilities,
    DecisionReply,
    DecisionRequest,
    Endpoint,
    Format,
    Operation,
    ProbeResult,
    ProviderContext,
    Secret,
    hookimpl,
)
from gateway_core.causes import Cause
from gateway_core.errors import (
    DestinationUnusable,
    MalformedResponse,
    Overloaded,
    PluginUnavailable,
    ProviderCrashed,
    ProviderTimeout,
    RateLimited,
)
from gateway_core.outbound import Outbound
from gateway_core.provider import Provider, build_provider

NOWHERE = Endpoint()
REQUEST = DecisionRequest(format=Format.SYSTEMONE, body=b"{}", model="m")


class Scripted:
    """A provider whose behaviour a test sets."""

    url = "https://up.example/v1/systemone"
    answer: Any = DecisionReply(body=b"{}")

    def __init__(self, context: ProviderContext[None]) -> None:
        self.started = asyncio.Event()
        self.released = asyncio.Event()
        self.released.set()

    @hookimpl
    def capabilities(self) -> Capabilities:
        return Capabilities(formats=frozenset({Format.SYSTEMONE}))

    @hookimpl
    def build_url(self, operation: Operation) -> str:
        return self.url

    @hookimpl
    async def probe(self) -> ProbeResult:
        return await self.outcome()

    @hookimpl
    async def decide(self) -> DecisionReply:
        return await self.outcome()

    async def outcome(self) -> Any:
        self.started.set()
        await self.released.wait()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def provider(endpoint: Endpoint = NOWHERE, plugin: type = Scripted, **members: object) -> Provider:
    return build_provider(
        type("Plugin", (plugin,), members),
        name="acme",
        dialect="acme",
        endpoint=endpoint,
        settings={},
        sender=Outbound({}).sender(endpoint),
    )


@pytest.mark.anyio
async def test_a_reply_comes_back_as_the_provider_gave_it() -> None:
    reply = DecisionReply(body=b'{"answers": {}}', headers={"x-id": "1"})
    assert await provider(answer=reply).ask(REQUEST, 5) is reply


@pytest.mark.anyio
async def test_an_attempt_is_bounded_in_time() -> None:
    class Silent(Scripted):
        async def outcome(self) -> Any:
            await asyncio.Event().wait()

    with pytest.raises(ProviderTimeout, match=r"within 0\.05 s"):
        await provider(plugin=Silent).ask(REQUEST, 0.05)


@pytest.mark.anyio
async def test_the_endpoints_own_limit_bounds_attempts_and_probes() -> None:
    class Silent(Scripted):
        async def outcome(self) -> Any:
            await asyncio.Event().wait()

    asked = provider(Endpoint(timeout_s=0.05), Silent)
    with pytest.raises(ProviderTimeout, match=r"within 0\.05 s"):
        await asked.ask(REQUEST, 60)
    assert await asked.probe(60) == ProbeResult(ok=False, detail="no answer within 0.05 s")


@pytest.mark.anyio
async def test_a_timeout_of_the_plugins_own_is_told_from_ours() -> None:
    with pytest.raises(ProviderTimeout, match="the plugin gave up waiting"):
        await provider(answer=TimeoutError()).ask(REQUEST, 60)


@pytest.mark.anyio
async def test_a_providers_own_error_passes_unchanged() -> None:
    error = RateLimited("too many", status=429, headers={"retry-after": "7"})
    with pytest.raises(RateLimited) as raised:
        await provider(answer=error).ask(REQUEST, 5)
    assert raised.value is error
    assert raised.value.retry_after == "7"


@pytest.mark.anyio
async def test_a_crash_of_the_plugin_tells_its_type_and_never_its_text(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    with pytest.raises(ProviderCrashed) as raised:
        await provider(answer=RuntimeError("key sk-secret at 10.0.0.7")).ask(REQUEST, 5)
    assert str(raised.value) == "the plugin raised RuntimeError"
    assert "sk-secret" not in caplog.text


@pytest.mark.anyio
@pytest.mark.parametrize("answer", [None, b"{}", {"body": "{}"}, DecisionReply(body="{}")])  # type: ignore[arg-type]
async def test_anything_but_a_reply_in_bytes_is_malformed(answer: object) -> None:
    with pytest.raises(MalformedResponse, match="did not return a DecisionReply"):
        await provider(answer=answer).ask(REQUEST, 5)


@pytest.mark.anyio
@pytest.mark.parametrize(
    "url",
    [
        "ftp://up.example/x",
        "https://user:pw@up.example/x",
        "/v1/systemone",
        "inproc://x",
        7,
        "https://",
    ],
)
async def test_a_url_that_is_not_plain_http_is_refused_before_anything_is_sent(url: object) -> None:
    asked = provider(url=url)
    with pytest.raises(DestinationUnusable, match="provider 'acme'"):
        await asked.ask(REQUEST, 5)
    assert not (await asked.probe(5)).ok


@pytest.mark.anyio
async def test_a_full_provider_refuses_at_once_and_recovers() -> None:
    class Waiting(Scripted):
        def __init__(self, context: ProviderContext[None]) -> None:
            super().__init__(context)
            self.released.clear()
            type(self).current = self

    asked = provider(Endpoint(max_concurrency=1), Waiting)
    plugin: Scripted = asked.hooks.decide.get_hookimpls()[-1].plugin  # type: ignore[attr-defined]
    first = asyncio.create_task(asked.ask(REQUEST, 5))
    await plugin.started.wait()
    with pytest.raises(Overloaded) as refusal:
        await asked.ask(REQUEST, 5)
    assert refusal.value.retry_after == "1"
    plugin.released.set()
    await first
    await asked.ask(REQUEST, 5)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("answer", "detail"),
    [
        (RateLimited("too many"), "too many"),
        (RuntimeError("sk-secret"), "the plugin raised RuntimeError"),
        (None, "the plugin did not return a ProbeResult"),
    ],
)
async def test_a_probe_that_fails_in_any_way_is_a_result(answer: object, detail: str) -> None:
    assert await provider(answer=answer).probe(5) == ProbeResult(ok=False, detail=detail)


def test_a_plugin_that_cannot_be_built_is_reported_without_its_text() -> None:
    class Broken(Scripted):
        def __init__(self, context: ProviderContext[None]) -> None:
            raise OSError("sk-secret")

    with pytest.raises(PluginUnavailable) as refusal:
        provider(plugin=Broken)
    assert "raised OSError" in str(refusal.value)
    assert "sk-secret" not in str(refusal.value)


def test_settings_for_a_dialect_that_takes_none_are_refused() -> None:
    with pytest.raises(PluginUnavailable, match="takes no settings"):
        build_provider(
            Scripted,
            name="acme",
            dialect="acme",
            endpoint=Endpoint(),
            settings={"colour": "red"},
            sender=Outbound({}).sender(Endpoint()),
        )


def test_a_secret_shows_itself_nowhere() -> None:
    endpoint = Endpoint(api_key=Secret("sk-secret"), headers={"x-key": Secret("sk-other")})
    key = Secret("sk-secret")
    shown = f"{endpoint!r} {endpoint} {key} {[key]} {key:>20} {provider(endpoint)!r}"
    assert "sk-" not in shown


def test_a_reply_that_cannot_be_read_has_the_cause_that_the_relay_finds() -> None:
    for body, cause in ((b'{"a":"\xff"}', Cause.NOT_UTF8), (b"<html>", Cause.NOT_JSON)):
        with pytest.raises(MalformedResponse) as caught:
            DecisionReply(body=body).json_object()
        assert caught.value.cause is cause
