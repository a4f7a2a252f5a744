"""The provider against an upstream that behaves as Perplexity's documentation says."""

from typing import Any

import pytest
from s1gw_perplexity import PerplexityProvider

from gateway_core.errors import (
    KeyRejected,
    ModelNotFound,
    ProviderError,
    ProviderTimeout,
    RateLimited,
    RequestTooLarge,
    UpstreamRejected,
)
from gateway_core.testing import Reply, Subject, bench
from gateway_core.types import Operation
from gateway_core.wire import Question

SUBJECT = Subject(provider_class=PerplexityProvider, dialect="perplexity")
HTML = {"content-type": "text/html"}


def _error(message: str, code: int) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "code": code}}


@pytest.mark.parametrize("base", ["https://api.perplexity.ai", "https://api.perplexity.ai/v1/"])
def test_its_route_is_called_decisions(base: str) -> None:
    provider = SUBJECT.build(base_url=base)
    assert provider.url(Operation.DECIDE) == "https://api.perplexity.ai/v1/decisions"


def test_it_declares_perplexitys_documented_limits() -> None:
    capabilities = SUBJECT.build().capabilities
    assert (capabilities.max_options, capabilities.max_questions) == (255, 128)
    assert capabilities.request_id_header == "x-request-id"
    assert not capabilities.keyless


@pytest.mark.anyio
async def test_a_question_has_no_field_that_perplexity_does_not_know() -> None:
    question = Question(text="Which?", options=("a", "b"), context={"ticket": "Twice!"})
    async with bench(SUBJECT) as on:
        await on.answer(question)
        (sent,) = on.upstream.requests
    assert sent.path == "/team/a/v1/decisions"
    assert sent.json() == {
        "model": "kit-model",
        "state": {"ticket": "Twice!"},
        "questions": {
            "decision": {
                "type": "choice",
                "instructions": "Which?",
                "criteria": {"a": None, "b": None},
            }
        },
    }


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("reply", "kind", "message"),
    [
        (
            Reply(status=400, body=_error("maximum context length", 400)),
            UpstreamRejected,
            "maximum context length",
        ),
        (Reply(status=401, body=_error("Invalid API key", 401)), KeyRejected, "Invalid API key"),
        (Reply(status=404, headers=HTML), ModelNotFound, None),
        (Reply(status=405, headers=HTML), ProviderError, None),
        (Reply(status=413, body=_error("too large", 413)), RequestTooLarge, "too large"),
        (Reply(status=429, body={}, headers={"Retry-After": "1"}), RateLimited, None),
        (
            Reply(status=504, body="<html>Gateway Time-out</html>", headers=HTML),
            ProviderTimeout,
            None,
        ),
    ],
)
async def test_its_errors_become_their_kinds(
    reply: Reply, kind: type[ProviderError], message: str | None
) -> None:
    async with bench(SUBJECT) as on:
        on.upstream.answer(reply)
        with pytest.raises(ProviderError) as caught:
            await on.ask()
    assert type(caught.value) is kind
    assert caught.value.status == reply.status
    assert caught.value.upstream_message == message
    assert caught.value.retry_after == reply.headers.get("Retry-After")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("status", "ok"), [(405, True), (200, False), (401, False), (404, False), (500, False)]
)
async def test_the_probe_fetches_the_route_and_wants_405(status: int, ok: bool) -> None:
    async with bench(SUBJECT) as on:
        on.upstream.answer(Reply(status=status))
        result = await on.provider.probe(20)
        (sent,) = on.upstream.requests
    assert result.ok is ok
    assert (sent.method, sent.path, sent.body) == ("GET", "/team/a/v1/decisions", b"")


@pytest.mark.anyio
async def test_the_probe_without_a_key_sends_nothing() -> None:
    async with bench(SUBJECT, key=None) as on:
        assert not (await on.provider.probe(20)).ok
        assert not on.upstream.requests
