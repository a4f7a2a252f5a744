"""The provider against an upstream that behaves as OpenAI's SDK and documentation say."""

from typing import Any

import pytest
from s1gw_openai_decisions import OpenAIDecisionsProvider

from gateway_core import Format
from gateway_core.errors import (
    KeyRejected,
    ModelNotFound,
    Overloaded,
    ProviderError,
    RateLimited,
    UpstreamRejected,
)
from gateway_core.testing import Reply, Subject, bench
from gateway_core.types import Operation
from gateway_core.wire import Question, why_not_askable

OPENAI = {"provider_class": OpenAIDecisionsProvider, "dialect": "openai-decisions"}
SUBJECT = Subject(**OPENAI)


def _error(message: str, code: str | None = None) -> dict[str, Any]:
    return {
        "error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    }


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        ("https://api.openai.com", "https://api.openai.com/v1/decisions"),
        ("https://api.openai.com/v1", "https://api.openai.com/v1/decisions"),
        ("https://gw.example/openai", "https://gw.example/openai/v1/decisions"),
        ("https://r.openai.azure.com", "https://r.openai.azure.com/openai/v1/decisions"),
        ("https://r.openai.azure.com/", "https://r.openai.azure.com/openai/v1/decisions"),
        ("https://r.openai.azure.com/openai", "https://r.openai.azure.com/openai/v1/decisions"),
        ("https://r.openai.azure.com/openai/v1/", "https://r.openai.azure.com/openai/v1/decisions"),
        ("https://R.OpenAI.Azure.com.", "https://R.OpenAI.Azure.com./openai/v1/decisions"),
        ("https://r.services.ai.azure.com", "https://r.services.ai.azure.com/openai/v1/decisions"),
    ],
)
def test_the_route_follows_from_the_base_url(base: str, expected: str) -> None:
    assert SUBJECT.build(base_url=base).url(Operation.DECIDE) == expected


def test_no_limit_is_hard_coded() -> None:
    capabilities = SUBJECT.build().capabilities
    assert capabilities.formats == {Format.OPENAI}
    assert capabilities.max_questions is None
    assert (
        why_not_askable(Question(text="?", options=tuple(map(str, range(256)))), capabilities)
        is None
    )


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("settings", "header"),
    [({}, "authorization"), ({"azure": True}, "api-key"), ({"azure": False}, "authorization")],
)
async def test_azure_takes_the_key_in_a_header_of_its_own(
    settings: dict[str, Any], header: str
) -> None:
    async with bench(Subject(**OPENAI, settings=settings)) as on:
        await on.ask()
        await on.provider.probe(20)
        for sent in on.upstream.requests:
            assert {"authorization", "api-key"} & sent.headers.keys() == {header}


def test_an_azure_host_is_told_by_its_name() -> None:
    from s1gw_openai_decisions.azure import is_azure

    assert is_azure("https://r.openai.azure.com/openai/v1")
    assert is_azure("https://r.cognitiveservices.azure.com")
    assert not is_azure("https://api.openai.com")
    assert not is_azure("https://openai.azure.com.evil.example")
    assert not is_azure("https://[")
    assert not is_azure(None)


@pytest.mark.anyio
async def test_a_question_is_a_predicate_or_a_choice_in_a_list() -> None:
    async with bench(SUBJECT) as on:
        yes = await on.answer(Question(text="Urgent?"))
        team = await on.answer(Question(text="Which?", options=("a", "b")))
        predicate, choice = (sent.json()["questions"] for sent in on.upstream.requests)
    assert predicate == [{"type": "predicate", "name": "decision", "instructions": "Urgent?"}]
    assert choice[0]["choices"] == [{"value": "a"}, {"value": "b"}]
    assert (yes.decision, team.decision) == ("yes", "b")


@pytest.mark.anyio
async def test_a_refusal_is_an_answer_and_no_failure() -> None:
    refused = {"model": "gpt-6-luna", "answers": [{"type": "refusal", "name": "decision"}]}
    async with bench(SUBJECT) as on:
        on.upstream.answer(Reply(body=refused, headers={"x-request-id": "req_1"}))
        answer = await on.answer(Question(text="Urgent?"))
    assert answer.refused
    assert answer.decision is None


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, _error("too many questions"), UpstreamRejected),
        (401, _error("Incorrect API key", "invalid_api_key"), KeyRejected),
        (403, _error("Not allowed"), KeyRejected),
        (404, _error("no such model", "model_not_found"), ModelNotFound),
        (409, _error("conflict"), ProviderError),
        (422, _error("bad input"), UpstreamRejected),
        (429, _error("slow down", "rate_limit_exceeded"), RateLimited),
        (500, _error("oops"), ProviderError),
        (503, _error("busy"), Overloaded),
    ],
)
async def test_its_errors_become_their_kinds(
    status: int, body: dict[str, Any], kind: type[ProviderError]
) -> None:
    headers = {"retry-after-ms": "250", "x-should-retry": "true", "x-request-id": "req_2"}
    async with bench(SUBJECT) as on:
        on.upstream.answer(Reply(status=status, body=body, headers=headers))
        with pytest.raises(ProviderError) as caught:
            await on.ask()
    assert type(caught.value) is kind
    assert caught.value.upstream_message == body["error"]["message"]
    assert headers.items() <= caught.value.headers.items()


@pytest.mark.anyio
async def test_the_listing_shows_the_models_that_are_known_to_decide() -> None:
    names = ("gpt-6-luna", "gpt-6-luna-2026-09-14", "gpt-6", "my-deployment", "gpt-6-luna-2026")
    settings = {"decision_models": ["my-deployment"]}
    provider = Subject(**OPENAI, models=names, settings=settings).build()
    models = await provider.models()
    assert [model.id for model in models] == list(names)
    assert [model.listed for model in models] == [True, True, False, True, False]


@pytest.mark.anyio
@pytest.mark.parametrize(("status", "ok"), [(200, True), (401, False), (404, False)])
async def test_the_probe_lists_the_models(status: int, ok: bool) -> None:
    async with bench(SUBJECT) as on:
        on.upstream.answer(Reply(status=status, body={"object": "list", "data": []}))
        assert (await on.provider.probe(20)).ok is ok
        (sent,) = on.upstream.requests
    assert (sent.method, sent.path) == ("GET", "/team/a/v1/models")
