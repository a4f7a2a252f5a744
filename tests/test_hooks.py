"""The hook specification, and what the host refuses when a provider breaks it."""

import inspect
from typing import Any

import pluggy
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
from gateway_core.errors import PluginUnavailable
from gateway_core.hooks import HOOKS, checked_capabilities, make_hooks
from gateway_core.hookspecs import ProviderSpec

ENDPOINT = Endpoint(models=("m-1", "m-2"))


class Complete:
    @hookimpl
    async def decide(self, request: DecisionRequest, url: str) -> DecisionReply:
        return DecisionReply(body=request.body + url.encode())

    @hookimpl
    def capabilities(self) -> Capabilities:
        return Capabilities(formats=frozenset({Format.SYSTEMONE}))

    @hookimpl
    def build_url(self, operation: Operation) -> str:
        return f"https://up.example/{operation}"


class WithoutDecide:
    capabilities = Complete.capabilities
    build_url = Complete.build_url


class SyncDecide(Complete):
    @hookimpl
    def decide(self, request: DecisionRequest, url: str) -> DecisionReply:  # type: ignore[override]
        return DecisionReply(body=b"")


class AsyncCapabilities(Complete):
    @hookimpl
    async def capabilities(self) -> Capabilities:  # type: ignore[override]
        return Capabilities(formats=frozenset({Format.SYSTEMONE}))


class Misspelt(Complete):
    @hookimpl
    async def prope(self) -> ProbeResult:
        return ProbeResult(ok=True)


class UnknownArgument(Complete):
    @hookimpl
    async def probe(self, url: str, patience: int) -> ProbeResult:
        return ProbeResult(ok=True)


class Wrapper(Complete):
    @hookimpl(wrapper=True)
    def build_url(self, operation: Operation) -> Any:  # type: ignore[override]
        return (yield)


class Unmarked(Complete):
    async def list_models(self) -> list[Any]:
        return []


class UnmarkedOverride(Complete):
    async def decide(self, request: DecisionRequest, url: str) -> DecisionReply:
        return DecisionReply(body=b"")


class MarkedForAnother(Complete):
    @pluggy.HookimplMarker("another-host")
    async def probe(self) -> ProbeResult:
        return ProbeResult(ok=True)


@pytest.mark.parametrize(
    ("plugin", "reason"),
    [
        (WithoutDecide, "it has no 'decide' hook"),
        (SyncDecide, "hook 'decide' must be async def"),
        (AsyncCapabilities, "hook 'capabilities' must be def"),
        (Misspelt, "unknown hook 'prope'"),
        (UnknownArgument, "{'patience'} are declared in the hookimpl"),
        (Wrapper, "hook 'build_url' must not be a wrapper"),
        (Unmarked, "its method 'list_models' is not marked as a hook; put @hookimpl above it"),
        (UnmarkedOverride, "its method 'decide' is not marked as a hook"),
        (MarkedForAnother, "its method 'probe' is not marked as a hook"),
    ],
)
def test_a_provider_that_breaks_the_specification_is_refused_with_the_reason(
    plugin: type, reason: str
) -> None:
    with pytest.raises(PluginUnavailable) as refusal:
        make_hooks(plugin(), "acme", ENDPOINT)
    assert "provider 'acme'" in str(refusal.value)
    assert reason in str(refusal.value)


@pytest.mark.anyio
async def test_the_host_answers_the_optional_hooks_where_a_provider_does_not() -> None:
    hooks = make_hooks(Complete(), "acme", ENDPOINT)
    assert await hooks.probe(url="https://up.example") == ProbeResult(ok=True, detail="not probed")
    models = await hooks.list_models()
    assert [(model.id, model.format) for model in models] == [
        ("m-1", Format.SYSTEMONE),
        ("m-2", Format.SYSTEMONE),
    ]


@pytest.mark.anyio
async def test_a_provider_may_take_fewer_arguments_than_the_specification() -> None:
    class Brief(Complete):
        @hookimpl
        async def probe(self) -> ProbeResult:
            return ProbeResult(ok=True, detail="brief")

    hooks = make_hooks(Brief(), "acme", ENDPOINT)
    assert (await hooks.probe(url="https://up.example")).detail == "brief"


@pytest.mark.anyio
async def test_two_providers_of_one_class_never_answer_for_each_other() -> None:
    first, second = (make_hooks(Complete(), name, ENDPOINT) for name in ("first", "second"))
    request = DecisionRequest(format=Format.SYSTEMONE, body=b"body ", model="m-1")
    replies = [
        await hooks.decide(request=request, url=url)
        for hooks, url in ((first, "one"), (second, "two"))
    ]
    assert [reply.body for reply in replies] == [b"body one", b"body two"]


@pytest.mark.parametrize(
    "answer", [None, {"formats": ["systemone"]}, Capabilities(formats=frozenset())]
)
def test_capabilities_that_are_none_are_refused(answer: object) -> None:
    class Vague(Complete):
        @hookimpl
        def capabilities(self) -> Any:
            return answer

    with pytest.raises(PluginUnavailable, match="at least one format"):
        checked_capabilities(make_hooks(Vague(), "acme", ENDPOINT), "acme")


@pytest.mark.parametrize(
    "fields",
    [
        {"formats": ["xml"]},
        {"formats": None},
        {"max_options": "20"},
        {"max_options": 0},
        {"yes_no": "maybe"},
        {"empty_state": "null"},
        {"labels": {"max_length": 3}},
        {"notes": "one long sentence"},
        {"reply_path": "result"},
    ],
)
def test_capabilities_of_the_wrong_kind_are_refused_before_anything_is_asked(fields: Any) -> None:
    class Wrong(Complete):
        @hookimpl
        def capabilities(self) -> Capabilities:
            return Capabilities(**{"formats": frozenset({Format.SYSTEMONE}), **fields})

    with pytest.raises(PluginUnavailable, match="'capabilities' raised"):
        checked_capabilities(make_hooks(Wrong(), "acme", ENDPOINT), "acme")


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_is_specified_typed_and_documented(hook: str) -> None:
    specification = getattr(ProviderSpec, hook)
    signature = inspect.signature(specification)
    assert inspect.getdoc(specification)
    assert signature.return_annotation is not inspect.Signature.empty
    own = [parameter for name, parameter in signature.parameters.items() if name != "self"]
    assert all(parameter.annotation is not inspect.Parameter.empty for parameter in own)
    assert set(HOOKS) == {name for name in vars(ProviderSpec) if not name.startswith("_")}
