"""The provider against an upstream that behaves as TypeSafe's documentation says."""

import json
from pathlib import Path
from typing import Any

import pytest
from s1gw_typesafe import TypeSafeProvider

from gateway_core.errors import (
    KeyMissing,
    KeyRejected,
    ModelNotFound,
    Overloaded,
    PaymentRequired,
    ProviderError,
    ProviderTimeout,
    RateLimited,
    RequestTooLarge,
    UpstreamRejected,
)
from gateway_core.testing import Reply, Subject, bench
from gateway_core.types import Operation
from gateway_core.wire import Question, read, why_not_askable

SUBJECT = Subject(provider_class=TypeSafeProvider, dialect="typesafe", models=("jev-latest",))
RECORDINGS = json.loads(Path(__file__).with_name("recordings.json").read_text())


def _refusal(kind: str, message: str) -> dict[str, Any]:
    return {"detail": {"error_type": kind, "message": message}}


def test_its_home_and_its_urls() -> None:
    provider = SUBJECT.build(base_url=TypeSafeProvider.default_base_url)
    assert provider.url(Operation.DECIDE) == "https://api.typesafe.ai/v1/systemone"
    assert provider.url(Operation.HEALTH) == "https://api.typesafe.ai/v1/models"


def test_it_takes_255_options_and_not_256() -> None:
    capabilities = SUBJECT.build().capabilities
    assert (
        why_not_askable(Question(text="?", options=tuple(map(str, range(255)))), capabilities)
        is None
    )
    assert why_not_askable(Question(text="?", options=tuple(map(str, range(256)))), capabilities)


def test_its_feature_headers_and_its_request_id() -> None:
    capabilities = SUBJECT.build().capabilities
    assert capabilities.feature_headers == {
        "typesafe-danger-zone-images",
        "typesafe-danger-zone-long-context",
    }
    assert capabilities.request_id_header == "x-typesafe-request-id"
    assert not capabilities.keyless


@pytest.mark.anyio
@pytest.mark.parametrize("recording", RECORDINGS)
async def test_recorded_pairs_pass_unchanged(recording: dict[str, Any]) -> None:
    body = json.dumps(recording["request"]).encode()
    async with bench(SUBJECT) as on:
        on.upstream.answer(
            Reply(body=recording["reply"], headers={"x-typesafe-request-id": "req-1"})
        )
        reply = await on.ask(body, headers={"typesafe-danger-zone-images": "true"})
        (sent,) = on.upstream.requests
    assert sent.body == body
    assert sent.headers["typesafe-danger-zone-images"] == "true"
    assert sent.headers["authorization"].startswith("Bearer ")
    assert reply.json_object() == recording["reply"]
    assert reply.headers["x-typesafe-request-id"] == "req-1"


@pytest.mark.anyio
async def test_recorded_answers_are_read_with_their_rounding() -> None:
    noul, choice, _ = RECORDINGS
    capabilities = SUBJECT.build().capabilities
    yes = read(json.dumps(noul["reply"]).encode(), Question(text="Urgent?"), capabilities)
    assert (yes.decision, yes.model) == ("yes", "jev-1.13.0")
    teams = Question(text="Which?", options=("billing", "technical", "sales"))
    choice["reply"]["answers"]["decision"]["probabilities"]["billing"] = 0.87
    read_choice = read(json.dumps(choice["reply"]).encode(), teams, capabilities)
    assert read_choice.decision == "billing"
    assert read_choice.probabilities is not None
    assert sum(read_choice.probabilities.values()) == pytest.approx(1)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("status", "body", "kind", "message"),
    [
        (
            400,
            _refusal("api_usage_error", "Unknown model: nope"),
            UpstreamRejected,
            "Unknown model: nope",
        ),
        (
            401,
            _refusal("authentication_error", "Cannot authenticate."),
            KeyRejected,
            "Cannot authenticate.",
        ),
        (402, _refusal("billing_error", "No credit."), PaymentRequired, "No credit."),
        (
            403,
            _refusal("authentication_error", "Must supply a key!"),
            KeyMissing,
            "Must supply a key!",
        ),
        (403, _refusal("permission_error", "Not for you."), KeyRejected, "Not for you."),
        (403, {"detail": "Forbidden"}, KeyRejected, "Forbidden"),
        (404, {"detail": "Not Found"}, ModelNotFound, "Not Found"),
        (408, _refusal("timeout", "slow"), ProviderTimeout, "slow"),
        (413, _refusal("request_too_large", "large"), RequestTooLarge, "large"),
        (
            422,
            {
                "detail": [
                    {"loc": ["body", "questions"], "msg": "Field required", "type": "missing"}
                ]
            },
            UpstreamRejected,
            "body.questions: Field required",
        ),
        (429, _refusal("rate_limit_error", "slow down"), RateLimited, "slow down"),
        (500, _refusal("internal_error", "oops"), ProviderError, "oops"),
        (503, _refusal("unavailable", "later"), Overloaded, "later"),
        (529, _refusal("overloaded_error", "busy"), Overloaded, "busy"),
    ],
)
async def test_its_errors_become_their_kinds(
    status: int, body: dict[str, Any], kind: type[ProviderError], message: str
) -> None:
    async with bench(SUBJECT) as on:
        on.upstream.answer(Reply(status=status, body=body, headers={"Retry-After": "2"}))
        with pytest.raises(ProviderError) as caught:
            await on.ask()
    assert type(caught.value) is kind
    assert caught.value.status == status
    assert caught.value.upstream_message == message
    assert caught.value.retry_after == "2"


@pytest.mark.anyio
async def test_the_probe_lists_the_models_with_the_key() -> None:
    listing = {"models": [{"name": "jev-latest", "description": "d", "release_date": "2026-09-01"}]}
    async with bench(SUBJECT) as on:
        on.upstream.answer(Reply(body=listing))
        result = await on.provider.probe(20)
        (sent,) = on.upstream.requests
    assert result.ok
    assert (sent.method, sent.path) == ("GET", "/team/a/v1/models")
    assert sent.headers["authorization"].startswith("Bearer ")


@pytest.mark.anyio
@pytest.mark.parametrize("status", [401, 403, 429, 500, 529])
async def test_the_probe_reports_a_refusal(status: int) -> None:
    async with bench(SUBJECT) as on:
        on.upstream.answer(Reply(status=status, body={}))
        result = await on.provider.probe(20)
    assert not result.ok
    assert str(status) in result.detail


@pytest.mark.anyio
async def test_the_probe_without_a_key_asks_for_one_and_sends_nothing() -> None:
    async with bench(SUBJECT, key=None) as on:
        result = await on.provider.probe(20)
        assert not on.upstream.requests
    assert (result.ok, result.detail) == (False, "provider 'subject' has no api_key")
