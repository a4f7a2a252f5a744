"""The vendor's own client, ``typesafe-sdk``, pointed at the gateway."""

import asyncio
from collections.abc import Iterator

import pytest
import typesafe_sdk as sdk

from gateway_core.testing import Reply, ScriptedUpstream
from gateway_core.testing.process import GatewayProcess

STATE = {"text": "never-log-this"}
QUESTIONS = {
    "billing": sdk.Noul(instructions="About billing?"),
    "tone": sdk.Choice(instructions="Tone?", criteria={"angry": None, "calm": "polite"}),
    "urgency": sdk.Score(instructions="Urgent?", criteria=["low", "mid", "high"]),
}
ONCE = sdk.RetryPolicy(max_retries=0)
CONFIG = """
[http]
max_body_bytes = 5000
[log]
format = "json"
[orgs.acme.providers.typesafe]
api_format = "systemone"
base_url = "http://203.0.113.20"
api_key = { env = "ORG_KEY" }
models = ["jev-latest", "no-such-model"]
"""


@pytest.fixture(params=[None, False], ids=["zstd", "plain"])
def client(
    gateway: GatewayProcess, key: str, request: pytest.FixtureRequest
) -> Iterator[sdk.TypeSafeClient]:
    found = sdk.TypeSafeClient(
        api_key=key, base_url=gateway.url, compression=request.param, retry=ONCE, timeout=30
    )
    with found:
        yield found


def test_questions_are_answered(client: sdk.TypeSafeClient) -> None:
    found = client.system_one(STATE, QUESTIONS, model="typesafe/jev-latest")
    assert found.model == "laya-english"
    assert found.answers["billing"].noul == 0.5
    assert found.answers["tone"].probabilities == {"angry": 0.5, "calm": 0.5}
    assert found.answers["urgency"].legend == {0: "low", 1: "mid", 2: "high"}


def test_a_large_body_comes_compressed_and_goes_on_plain(
    client: sdk.TypeSafeClient, proxy: ScriptedUpstream, request: pytest.FixtureRequest
) -> None:
    state = {"text": "never-log-this " * 200}
    assert client.system_one(state, QUESTIONS, model="jev-latest").answers
    sent = proxy.requests[-1]
    assert "content-encoding" not in sent.headers
    assert sent.json()["state"] == state
    assert sent.headers["authorization"] == "Bearer never-log-this-key"


@pytest.mark.anyio
async def test_concurrent_questions_are_answered(gateway: GatewayProcess, key: str) -> None:
    client = sdk.AsyncTypeSafeClient(api_key=key, base_url=gateway.url, retry=ONCE, timeout=30)
    async with client:
        calls = [client.system_one(STATE, QUESTIONS, model="jev-latest") for _ in range(20)]
        assert all(found.answers for found in await asyncio.gather(*calls))


def test_a_key_that_is_none_is_an_authentication_error(gateway: GatewayProcess) -> None:
    client = sdk.TypeSafeClient(api_key="never-log-this", base_url=gateway.url, retry=ONCE)
    with client, pytest.raises(sdk.TypeSafeAuthenticationError, match="API key"):
        client.system_one(STATE, QUESTIONS, model="jev-latest")


def test_a_model_of_nobody_is_a_permission_error(client: sdk.TypeSafeClient) -> None:
    with pytest.raises(sdk.TypeSafePermissionDeniedError, match="no enabled provider"):
        client.system_one(STATE, QUESTIONS, model="typesafe/other")


def test_a_body_over_the_limit_is_an_api_error(client: sdk.TypeSafeClient) -> None:
    with pytest.raises(sdk.TypeSafeAPIError, match="larger") as caught:
        client.system_one({"text": "never-log-this" * 3000}, QUESTIONS, model="jev-latest")
    assert caught.value.status == 413


def test_what_the_upstream_cannot_process_is_unprocessable(client: sdk.TypeSafeClient) -> None:
    with pytest.raises(sdk.TypeSafeUnprocessableEntityError):
        client.system_one(STATE, QUESTIONS, model="no-such-model")


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (404, sdk.TypeSafeNotFoundError),
        (429, sdk.TypeSafeRateLimitError),
        (503, sdk.TypeSafeInternalServerError),
        (500, sdk.TypeSafeInternalServerError),
    ],
)
def test_the_upstreams_trouble_has_the_clients_classes(
    client: sdk.TypeSafeClient,
    proxy: ScriptedUpstream,
    status: int,
    error: type[sdk.TypeSafeAPIError],
) -> None:
    proxy.queue(Reply(status=status, headers={"retry-after": "9"}))
    with pytest.raises(error) as caught:
        client.system_one(STATE, QUESTIONS, model="jev-latest")
    if isinstance(caught.value, sdk.TypeSafeRateLimitError):
        assert caught.value.retry_after_ms == 9000


def test_the_client_retries_as_the_upstream_asks(
    gateway: GatewayProcess, key: str, proxy: ScriptedUpstream
) -> None:
    asked = len(proxy.requests)
    proxy.queue(Reply(status=503, headers={"retry-after-ms": "5"}))
    with sdk.TypeSafeClient(api_key=key, base_url=gateway.url, timeout=30) as client:
        assert client.system_one(STATE, QUESTIONS, model="jev-latest").answers
    assert len(proxy.requests) - asked == 2


def test_the_models_are_listed_and_can_be_asked_as_they_are_named(
    client: sdk.TypeSafeClient,
) -> None:
    listed = client.models.list().models
    assert [model.name for model in listed] == ["typesafe/jev-latest", "typesafe/no-such-model"]
    assert client.system_one(STATE, QUESTIONS, model=listed[0].name).answers


@pytest.mark.parametrize(("model", "status"), [("absent", 403), (" ", 400)])
def test_a_refusal_of_the_gateways_own_has_an_id(
    client: sdk.TypeSafeClient, gateway: GatewayProcess, model: str, status: int
) -> None:
    with pytest.raises(sdk.TypeSafeAPIError) as caught:
        client.system_one(STATE, QUESTIONS, model=model)
    assert caught.value.status == status
    assert caught.value.request_id
    gateway.wait_for(f'"request_id":"{caught.value.request_id}"')
