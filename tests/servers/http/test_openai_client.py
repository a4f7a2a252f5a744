"""The ``openai`` client's decisions, pointed at the gateway."""

import threading
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from gateway_core.testing import Gate, Reply, ScriptedUpstream
from gateway_core.testing.process import GatewayProcess

QUESTIONS = [
    {"type": "predicate", "name": "billing", "instructions": "About billing?"},
    {"type": "choice", "instructions": "Tone?", "choices": [{"value": "angry"}, {"value": True}]},
]
ANSWER = {
    "model": "gpt-6-luna-2026-09-14",
    "answers": [
        {"type": "predicate", "name": "billing", "probability": 0.92},
        {
            "type": "choice",
            "name": None,
            "choice": True,
            "confidence": 0.8,
            "probabilities": [
                {"value": "angry", "probability": 0.1},
                {"value": True, "probability": 0.9},
            ],
        },
    ],
    "usage": {
        "input_tokens": 12,
        "input_tokens_details": {"cache_write_tokens": 0, "cached_tokens": 0},
        "output_tokens": 0,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 12,
    },
}
CONFIG = """
[orgs.acme.limits]
concurrency = 1
[orgs.acme.providers.openai]
api_format = "openai"
base_url = "http://203.0.113.21/v1"
api_key = { env = "ORG_KEY" }
models = ["gpt-6-luna"]
"""


@pytest.fixture(scope="module")
def proxy() -> Iterator[ScriptedUpstream]:
    with ScriptedUpstream() as found:
        found.answer(Reply(body=ANSWER, headers={"x-request-id": "req-upstream"}))
        yield found


def connect(gateway: GatewayProcess, key: str, retries: int = 0) -> openai.OpenAI:
    return openai.OpenAI(api_key=key, base_url=f"{gateway.url}/v1", max_retries=retries, timeout=30)


@pytest.fixture
def client(gateway: GatewayProcess, key: str) -> Iterator[openai.OpenAI]:
    with connect(gateway, key) as found:
        yield found


def ask(client: openai.OpenAI, model: str = "openai/gpt-6-luna") -> Any:
    return client.decisions.create(model=model, input="never-log-this", questions=QUESTIONS)


def test_questions_are_answered(client: openai.OpenAI, proxy: ScriptedUpstream) -> None:
    found = ask(client)
    assert found.model == ANSWER["model"]
    assert found.answers[0].probability == 0.92
    assert found.answers[1].choice is True
    assert found.usage.total_tokens == 12
    assert proxy.requests[-1].json()["model"] == "gpt-6-luna"
    assert proxy.requests[-1].path == "http://203.0.113.21/v1/decisions"
    assert proxy.requests[-1].headers["authorization"] == "Bearer never-log-this-key"


def test_the_request_has_an_id(client: openai.OpenAI, gateway: GatewayProcess) -> None:
    found = ask(client)
    assert found._request_id
    gateway.wait_for(rf"{found._request_id}.* status=200")


@pytest.mark.anyio
async def test_the_asynchronous_client_is_answered(gateway: GatewayProcess, key: str) -> None:
    client = openai.AsyncOpenAI(api_key=key, base_url=f"{gateway.url}/v1", timeout=30)
    async with client:
        found = await client.decisions.create(
            model="gpt-6-luna", input="never-log-this", questions=QUESTIONS
        )
    assert found.answers[0].probability == 0.92


def test_a_key_that_is_none_is_an_authentication_error(gateway: GatewayProcess) -> None:
    with (
        connect(gateway, "never-log-this") as client,
        pytest.raises(openai.AuthenticationError) as caught,
    ):
        ask(client)
    assert caught.value.code == "invalid_api_key"
    assert caught.value.request_id


def test_a_model_of_nobody_is_a_permission_error(client: openai.OpenAI) -> None:
    with pytest.raises(openai.PermissionDeniedError) as caught:
        ask(client, "other")
    assert caught.value.code == "decision_provider_not_configured"


def test_a_chat_request_is_told_where_to_go(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="POST /v1/decisions"):
        client.chat.completions.create(
            model="gpt-6-luna", messages=[{"role": "user", "content": "never-log-this"}]
        )


@pytest.mark.parametrize(
    ("status", "error", "code"),
    [
        (400, openai.BadRequestError, "upstream_rejected"),
        (404, openai.NotFoundError, "model_not_found"),
        (413, openai.APIStatusError, "request_too_large"),
        (422, openai.UnprocessableEntityError, "upstream_rejected"),
        (429, openai.RateLimitError, "rate_limit_exceeded"),
        (503, openai.InternalServerError, "provider_overloaded"),
    ],
)
def test_the_upstreams_trouble_has_the_clients_classes(
    client: openai.OpenAI,
    proxy: ScriptedUpstream,
    status: int,
    error: type[openai.APIStatusError],
    code: str,
) -> None:
    proxy.queue(Reply(status=status, body={"error": {"message": "told"}}))
    with pytest.raises(error) as caught:
        ask(client)
    assert (caught.value.status_code, caught.value.code) == (status, code)


def test_the_client_is_told_not_to_retry(
    gateway: GatewayProcess, key: str, proxy: ScriptedUpstream
) -> None:
    asked = len(proxy.requests)
    proxy.queue(Reply(status=503, headers={"x-should-retry": "false"}))
    with connect(gateway, key, retries=2) as client, pytest.raises(openai.InternalServerError):
        ask(client)
    assert len(proxy.requests) - asked == 1


def test_the_client_comes_back_when_the_gateway_says(
    gateway: GatewayProcess, key: str, proxy: ScriptedUpstream
) -> None:
    gate = Gate()
    proxy.queue(Reply(body=ANSWER, gate=gate))
    asked = len(proxy.requests)
    with connect(gateway, key) as first, connect(gateway, key, retries=2) as second:
        holding = threading.Thread(target=ask, args=(first,))
        holding.start()
        proxy.wait_received(asked + 1)
        with pytest.raises(openai.RateLimitError) as caught:
            ask(connect(gateway, key))
        assert caught.value.response.headers["retry-after"] == "1"
        # Let the only place go as soon as the second client has been told to come back.
        told = gateway.log.count("rate_limit_exceeded")
        retrying = threading.Thread(target=ask, args=(second,))
        retrying.start()
        gateway.wait_for(rf"(?s)(rate_limit_exceeded.*){{{told + 1}}}")
        gate.open()
        holding.join(30)
        retrying.join(30)
    assert len(proxy.requests) - asked == 2


def test_the_models_are_listed(gateway: GatewayProcess) -> None:
    listed = list(connect(gateway, gateway.key(org="acme")).models.list())
    assert [(model.id, model.owned_by) for model in listed] == [("openai/gpt-6-luna", "openai")]
