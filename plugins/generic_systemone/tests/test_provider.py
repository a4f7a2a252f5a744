"""The provider against upstreams that behave as the known servers do."""

from typing import Any

import pytest
from s1gw_generic_systemone import GenericSystemOneProvider

from gateway_core.errors import (
    DestinationUnusable,
    KeyRejected,
    MalformedResponse,
    ModelNotFound,
    Overloaded,
    ProviderError,
    RateLimited,
    UpstreamRejected,
)
from gateway_core.testing import Received, Reply, Subject, bench, standard_answer
from gateway_core.types import Operation
from gateway_core.wire import Question

pytestmark = pytest.mark.anyio
TEAMS = Question(text="Which?", options=("sales", "billing"))
CHOICE = {"type": "choice", "choice": "sales", "probabilities": {"sales": 0.9, "billing": 0.1}}


def _subject(models: tuple[str, ...] = ("m",), **settings: object) -> Subject:
    return Subject(
        provider_class=GenericSystemOneProvider,
        dialect="generic-systemone",
        models=models,
        settings=settings,
    )


async def test_without_a_base_url_it_is_unusable() -> None:
    with pytest.raises(DestinationUnusable, match="no base URL"):
        _subject().build(base_url="").url(Operation.DECIDE)


async def test_without_a_key_it_sends_no_credential() -> None:
    async with bench(_subject(), key=None) as on:
        assert (await on.answer(TEAMS)).decision == "billing"
        assert "authorization" not in on.upstream.requests[0].headers


@pytest.mark.parametrize(
    ("settings", "header", "begins"),
    [
        ({}, "authorization", "Bearer s1gw"),
        ({"server": "azure-foundry"}, "api-key", "s1gw"),
        ({"auth_header": "x-api-key", "auth_scheme": ""}, "x-api-key", "s1gw"),
        ({"auth_scheme": "Basic"}, "authorization", "Basic s1gw"),
    ],
)
async def test_the_key_travels_as_the_server_wants_it(
    settings: dict[str, Any], header: str, begins: str
) -> None:
    async with bench(_subject(**settings)) as on:
        await on.ask()
        assert on.upstream.requests[0].headers[header].startswith(begins)


@pytest.mark.parametrize(
    "reply",
    [
        {"answers": {"decision": CHOICE}},
        {"answers": {"decision": CHOICE}, "usage": {}, "model": None},
        {"answers": {"decision": CHOICE}, "usage": {"input_tokens": 7}},
        {"answers": {"decision": {**CHOICE, "confidence": None, "x_label_mass": 0.9}}, "usage": 3},
        {"id": "gen-1", "provider": "x", "answers": {"decision": CHOICE}, "usage": {"cost": 1e-5}},
    ],
)
async def test_missing_and_unknown_fields_are_tolerated(reply: dict[str, Any]) -> None:
    async with bench(_subject()) as on:
        on.upstream.answer(Reply(body=reply))
        answer = await on.answer(TEAMS)
    assert (answer.decision, answer.provider_confidence) == ("sales", None)


async def test_a_wrapped_reply_is_unwrapped_for_a_decision_and_kept_for_the_relay() -> None:
    wrapped = {"result": {"answers": {"decision": CHOICE}}, "success": True, "errors": []}
    async with bench(_subject(("clef",), server="cloudflare-clef")) as on:
        on.upstream.answer(Reply(body=wrapped))
        assert (await on.answer(TEAMS)).decision == "sales"
        assert (await on.ask()).json_object() == wrapped
        assert on.upstream.requests[0].path == "/team/a/ai/run/@cf/cloudflare/clef"


async def test_a_server_that_names_the_model_in_its_url_is_asked_for_each_at_its_own() -> None:
    async with bench(_subject(("clef", "@cf/clef flash?"), server="cloudflare-clef")) as on:
        for model in ("clef", "@cf/clef flash?", "clef"):
            await on.ask(model=model)
        root = "/team/a/ai/run/@cf/cloudflare"
        asked = [received.path for received in on.upstream.requests]
        assert asked == [f"{root}/clef", f"{root}/@cf/clef%20flash%3F", f"{root}/clef"]


async def test_a_server_whose_url_names_the_model_needs_one() -> None:
    with pytest.raises(DestinationUnusable, match="configure models"):
        _subject((), server="databricks").build().url(Operation.DECIDE)


@pytest.mark.parametrize(
    ("server", "body", "advice"),
    [
        ("cloudflare-clef", {"success": False, "errors": [{"code": 3040, "message": "x"}]}, "true"),
        (
            "cloudflare-clef",
            {"success": False, "errors": [{"code": 4006, "message": "x"}]},
            "false",
        ),
        (
            "cloudflare-clef",
            {"success": False, "errors": [{"code": 3036, "message": "x"}]},
            "false",
        ),
        ("cloudflare-clef", {"success": False, "errors": [{"code": 1, "message": "x"}]}, None),
        ("avrik", {"error": {"code": "rate_limit_minute", "message": "x"}}, "true"),
        ("avrik", {"error": {"code": "rate_limit_day", "message": "x"}}, "false"),
        ("ollama", {"error": "x"}, None),
    ],
)
async def test_a_429_that_waiting_does_not_help_says_so(
    server: str, body: dict[str, Any], advice: str | None
) -> None:
    async with bench(_subject(server=server)) as on:
        on.upstream.answer(Reply(status=429, body=body, headers={"Retry-After": "9"}))
        with pytest.raises(RateLimited) as caught:
            await on.ask()
    assert caught.value.headers.get("x-should-retry") == advice
    assert ("quota is used up" in str(caught.value)) is (advice == "false")
    assert caught.value.retry_after == "9"
    assert caught.value.upstream_message == "x"


@pytest.mark.parametrize(
    ("error", "kind", "status"),
    [
        ({"code": "bad_request", "message": "m"}, UpstreamRejected, 400),
        ({"code": "invalid_request"}, UpstreamRejected, 400),
        ({"code": "loading", "message": "m"}, Overloaded, 503),
        ({"code": "strange"}, ProviderError, 502),
        ("text", MalformedResponse, None),
    ],
)
async def test_an_error_inside_a_200_is_an_error(
    error: object, kind: type[ProviderError], status: int | None
) -> None:
    async with bench(_subject(server="agentcore")) as on:
        on.upstream.answer(Reply(body={"error": error}))
        with pytest.raises(ProviderError) as caught:
            await on.ask()
        on.upstream.answer(standard_answer)
        await on.ask()
    assert type(caught.value) is kind
    assert caught.value.status == status


@pytest.mark.parametrize(
    ("status", "body", "kind", "message"),
    [
        (400, {"object": "error", "message": "m", "type": "t", "code": 400}, UpstreamRejected, "m"),
        (401, {"error": "Unauthorized"}, KeyRejected, "Unauthorized"),
        (
            404,
            {"error": {"message": "m", "type": "NotFoundError", "code": 404}},
            ModelNotFound,
            "m",
        ),
        (
            422,
            {"success": False, "errors": [{"code": 5012, "message": "m"}]},
            UpstreamRejected,
            "m",
        ),
        (422, {"error": {"code": "c", "message": "m", "field": "f"}}, UpstreamRejected, "m"),
        (501, {"error": {"message": "m", "type": "NotImplementedError"}}, ProviderError, "m"),
        (524, "<html></html>", ProviderError, None),
        (529, {"message": "m", "error_type": "e"}, Overloaded, "m"),
    ],
)
async def test_the_servers_errors_become_their_kinds(
    status: int, body: object, kind: type[ProviderError], message: str | None
) -> None:
    async with bench(_subject()) as on:
        on.upstream.answer(Reply(status=status, body=body))
        with pytest.raises(ProviderError) as caught:
            await on.ask()
    assert type(caught.value) is kind
    assert caught.value.upstream_message == message


OPENAI_LIST = Reply(body={"object": "list", "data": [{"id": "m"}]})
TYPESAFE_LIST = Reply(body={"models": [{"name": "m"}, {"name": "n"}]})


@pytest.mark.parametrize(
    ("settings", "answer", "ok", "detail"),
    [
        ({}, OPENAI_LIST, True, "up, with 1 models"),
        ({}, TYPESAFE_LIST, True, "up, with 2 models"),
        ({"server": "avrik"}, TYPESAFE_LIST, True, "up, with 2 models"),
        ({"listing": "typesafe"}, OPENAI_LIST, True, "up, with 1 models"),
        ({}, Reply(body={"data": [{"id": "x"}]}), True, "lacks 'm'"),
        ({}, Reply(status=404), True, "no list of models"),
        ({}, Reply(status=405), True, "no list of models"),
        ({}, Reply(status=401, body={}), False, "credential"),
        ({}, Reply(status=503, body={}), False, "overloaded"),
        ({}, Reply(body="<html></html>"), False, "not JSON"),
        ({}, Reply(body={"hello": 1}), False, "no list of models"),
        ({"server": "strands"}, Reply(body={"model": "x"}), True, "health route answers"),
        ({"server": "strands"}, Reply(status=500), False, "failed"),
    ],
)
async def test_the_probe_looks_for_the_models(
    settings: dict[str, Any], answer: Reply, ok: bool, detail: str
) -> None:
    async with bench(_subject(**settings)) as on:
        on.upstream.answer(answer)
        result = await on.provider.probe(20)
        (sent,) = on.upstream.requests
    assert result.ok is ok
    assert detail in result.detail
    assert sent.method == "GET"


@pytest.mark.parametrize("server", ["fireworks", "cloudflare-clef", "agentcore"])
async def test_a_server_with_nothing_free_to_ask_is_not_asked(server: str) -> None:
    async with bench(_subject(server=server)) as on:
        result = await on.provider.probe(20)
        assert not on.upstream.requests
    assert result.ok
    assert "not probed" in result.detail


async def test_openrouter_is_asked_for_its_decision_models() -> None:
    async with bench(_subject(server="openrouter")) as on:
        on.upstream.answer(OPENAI_LIST)
        await on.provider.probe(20)
        assert on.upstream.requests[0].path == "/team/a/v1/models?output_modalities=decisions"


async def test_the_body_reaches_the_server_as_it_is() -> None:
    def answer(received: Received) -> Reply:
        return Reply(body=received.body)

    async with bench(_subject()) as on:
        on.upstream.answer(answer)
        assert (await on.ask(b'{"n": 1E400}')).body == b'{"n": 1E400}'


def test_a_base_url_that_is_none_is_told_when_it_is_used() -> None:
    with pytest.raises(DestinationUnusable, match="not a URL"):
        _subject().build(base_url="http://[::1").url(Operation.DECIDE)
