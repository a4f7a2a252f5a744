"""Plugins that misbehave: whatever their hooks do, the host stays up and says what it was."""

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
    hookimpl,
)
from gateway_core.errors import (
    DestinationUnusable,
    MalformedResponse,
    PluginUnavailable,
    ProviderCrashed,
    ProviderError,
    ProviderTimeout,
)
from gateway_core.outbound import Outbound
from gateway_core.provider import Provider, build_provider

REQUEST = DecisionRequest(format=Format.SYSTEMONE, body=b"{}", model="m")


class Scripted:
    """A provider whose behaviour a test sets."""

    url = "https://up.example/v1/systemone"
    answer: Any = DecisionReply(body=b"{}")

    def __init__(self, _: object) -> None:
        pass

    @hookimpl
    def capabilities(self) -> Capabilities:
        return Capabilities(formats=frozenset({Format.SYSTEMONE}))

    @hookimpl
    def build_url(self) -> str:
        return self.url

    @hookimpl
    async def probe(self) -> ProbeResult:
        return ProbeResult(ok=True)

    @hookimpl
    async def decide(self) -> DecisionReply:
        return await self.outcome()

    async def outcome(self) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def provider(plugin: type = Scripted, **members: object) -> Provider:
    return build_provider(
        type("Plugin", (plugin,), members),
        name="acme",
        dialect="acme",
        endpoint=Endpoint(),
        settings={},
        sender=Outbound({}).sender(Endpoint()),
    )


def refuses(*names: str) -> type:
    """Return a plugin class in which each of the named hooks ends its process."""

    def leave(*_: object, **__: object) -> Any:
        raise SystemExit(3)

    async def leave_later(*_: object, **__: object) -> Any:
        raise SystemExit(3)

    sync = {"capabilities", "build_url", "__init__"}
    made = {name: leave if name in sync else leave_later for name in names}
    hooks = {name: hookimpl(hook) if name[0] != "_" else hook for name, hook in made.items()}
    return type("Leaving", (Scripted,), hooks)


@pytest.mark.parametrize("name", ["__init__", "capabilities"])
def test_a_plugin_that_ends_the_process_while_it_is_built_is_unavailable(name: str) -> None:
    with pytest.raises(PluginUnavailable, match="raised SystemExit"):
        provider(plugin=refuses(name))


class Panic(BaseException):
    """As extension modules raise it when their own code panics."""


class Guarded(type):
    """A class that does not let itself be looked at."""

    def __getattribute__(cls, name: str) -> Any:
        if name == "default_base_url":
            raise RuntimeError("sk-secret")
        return super().__getattribute__(name)


def panics(*_: object) -> Any:
    raise Panic("sk-secret")


@pytest.mark.parametrize(
    ("plugin", "kind"),
    [
        (type("Panicking", (Scripted,), {"__init__": panics}), "Panic"),
        (type("Panicking", (Scripted,), {"capabilities": hookimpl(panics)}), "Panic"),
        (Guarded("Hiding", (Scripted,), {}), "RuntimeError"),
    ],
)
def test_a_plugin_that_cannot_be_built_is_unavailable(plugin: type, kind: str) -> None:
    with pytest.raises(PluginUnavailable, match=f"raised {kind}") as refusal:
        provider(plugin=plugin)
    assert "sk-secret" not in str(refusal.value)


@pytest.mark.anyio
async def test_a_hook_that_panics_has_crashed() -> None:
    async def outcome(_: object) -> Any:
        raise Panic

    with pytest.raises(ProviderCrashed, match="raised Panic"):
        await provider(outcome=outcome).ask(REQUEST, 5)


@pytest.mark.anyio
@pytest.mark.parametrize("kind", [KeyError, TimeoutError, SystemExit])
async def test_the_log_says_where_a_hook_raised_and_not_what(
    caplog: pytest.LogCaptureFixture, kind: type[BaseException]
) -> None:
    async def outcome(_: object) -> Any:
        raise kind("sk-secret")

    with caplog.at_level(logging.DEBUG, "s1gw"), pytest.raises(ProviderError):
        await provider(outcome=outcome).ask(REQUEST, 5)
    line = outcome.__code__.co_firstlineno + 1
    assert f"test_misbehaving_plugins.py, line {line}" in caplog.text
    assert "sk-secret" not in caplog.text


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["build_url", "decide", "probe", "list_models"])
async def test_a_hook_that_ends_the_process_has_crashed(name: str) -> None:
    asked = provider(plugin=refuses(name))
    calls = {
        "build_url": lambda: asked.ask(REQUEST, 5),
        "decide": lambda: asked.ask(REQUEST, 5),
        "list_models": asked.models,
    }
    if name in calls:
        with pytest.raises(ProviderCrashed, match="raised SystemExit"):
            await calls[name]()
    if name in ("build_url", "probe"):
        assert (await asked.probe(5)).detail == "the plugin raised SystemExit"


@pytest.mark.anyio
async def test_a_plugin_that_loses_a_task_of_its_own_has_crashed() -> None:
    class Losing(Scripted):
        async def outcome(self) -> Any:
            raise asyncio.CancelledError

    with pytest.raises(ProviderCrashed, match="CancelledError"):
        await provider(plugin=Losing).ask(REQUEST, 5)


@pytest.mark.anyio
async def test_a_call_that_is_cancelled_is_no_crash() -> None:
    class Silent(Scripted):
        async def outcome(self) -> Any:
            type(self).begun.set()
            await asyncio.Event().wait()

    Silent.begun = asyncio.Event()  # type: ignore[attr-defined]
    call = asyncio.create_task(provider(plugin=Silent).ask(REQUEST, 60))
    await Silent.begun.wait()  # type: ignore[attr-defined]
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


@pytest.mark.anyio
async def test_a_plugin_that_gives_up_waiting_timed_out() -> None:
    with pytest.raises(ProviderTimeout, match="the plugin gave up waiting"):
        await provider(answer=TimeoutError()).ask(REQUEST, 5)


@pytest.mark.anyio
@pytest.mark.parametrize("status", [500, 302, 0, "200"])
async def test_a_failure_that_is_returned_is_malformed(status: Any) -> None:
    with pytest.raises(MalformedResponse, match="a failure as if it were a reply"):
        await provider(answer=DecisionReply(body=b"{}", status=status)).ask(REQUEST, 5)


@pytest.mark.anyio
@pytest.mark.parametrize("models", [None, "m-1", [{"id": "m-1"}], ["m-1"]])
async def test_models_that_are_none_are_malformed(models: Any) -> None:
    class Vague(Scripted):
        @hookimpl
        async def list_models(self) -> Any:
            return models

    with pytest.raises(MalformedResponse, match="a list of ModelInfo"):
        await provider(plugin=Vague).models()


@pytest.mark.parametrize("url", ["http://[::1", "https://[oops]/x", "http://"])
def test_a_url_that_cannot_be_taken_apart_is_unusable(url: str) -> None:
    with pytest.raises(DestinationUnusable, match="a plain http"):
        provider(url=url).url(Operation.DECIDE)


@pytest.mark.parametrize(
    "members",
    [{"default_base_url": 7}, {"default_models": "jev"}, {"default_models": (1,)}],
)
def test_defaults_of_the_wrong_kind_make_a_plugin_unavailable(members: dict[str, Any]) -> None:
    with pytest.raises(PluginUnavailable, match=next(iter(members))):
        provider(**members)


def test_the_refusal_of_a_misspelt_hook_does_not_show_the_plugin() -> None:
    class Misspelt(Scripted):
        @hookimpl
        def capabilitys(self) -> None: ...

        def __repr__(self) -> str:
            return "sk-secret"

    with pytest.raises(PluginUnavailable, match="unknown hook 'capabilitys'") as refusal:
        provider(plugin=Misspelt)
    assert "sk-secret" not in str(refusal.value)
