"""What the provider says about itself, and how it reads what no real server will say here."""

import pytest
from s1gw_laya import LayaProvider

from gateway_core import YesNo
from gateway_core.errors import (
    ConfigError,
    KeyRejected,
    Overloaded,
    ProviderError,
    ProviderTimeout,
    RequestTooLarge,
    UpstreamRejected,
)
from gateway_core.testing import Reply, Subject, bench
from gateway_core.types import Operation
from gateway_core.wire import Question, encode, why_not_askable


def _subject(**settings: object) -> Subject:
    return Subject(provider_class=LayaProvider, dialect="laya", settings=settings)


def test_twenty_options_are_the_limit_unless_set() -> None:
    assert _subject().build().capabilities.max_options == 20
    wider = _subject(max_options=100).build().capabilities
    assert wider.max_options == 100
    question = Question(text="?", options=tuple(map(str, range(21))))
    assert why_not_askable(question, _subject().build().capabilities)
    assert why_not_askable(question, wider) is None


@pytest.mark.parametrize("limit", [1, 256, "20"])
def test_an_impossible_limit_is_a_fault_of_the_configuration(limit: object) -> None:
    with pytest.raises(ConfigError, match=r"providers\.subject\.settings\.max_options"):
        _subject(max_options=limit).build()


def test_yes_or_no_is_put_as_a_choice_between_neutral_labels() -> None:
    capabilities = _subject().build().capabilities
    assert capabilities.yes_no is YesNo.CHOICE
    body = encode(Question(text="Urgent?"), "laya", capabilities).decode()
    assert '"type":"choice"' in body
    assert '"criteria":{"A":' in body


def test_long_questions_travel_in_the_state() -> None:
    capabilities = _subject(instructions_length=10).build().capabilities
    long = encode(Question(text="A question of length"), "laya", capabilities).decode()
    assert '"state":{"question":"A question of length"}' in long
    assert '"instructions":"A question' not in long


def test_it_is_keyless_and_stays_on_the_machine_by_default() -> None:
    capabilities = _subject().build(base_url=LayaProvider.default_base_url).capabilities
    assert capabilities.keyless
    assert not capabilities.remote
    assert _subject().build(base_url="https://laya.example").capabilities.remote


@pytest.mark.parametrize("base", ["http://127.0.0.1:8000", "http://127.0.0.1:8000/v1/"])
def test_both_spellings_of_the_base_url_lead_to_the_same_routes(base: str) -> None:
    provider = _subject().build(base_url=base)
    assert provider.url(Operation.DECIDE) == "http://127.0.0.1:8000/v1/systemone"
    assert provider.url(Operation.HEALTH) == "http://127.0.0.1:8000/health"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("status", "body", "headers", "kind", "message"),
    [
        (400, {"detail": "'state' is required"}, {}, UpstreamRejected, "'state' is required"),
        (401, {"detail": "invalid or missing bearer token"}, {}, KeyRejected, None),
        (408, {"detail": "request body read timed out"}, {}, ProviderTimeout, None),
        (413, {"detail": "too many choice options for 'q' (101 > 100)"}, {}, RequestTooLarge, None),
        (422, {"error": {"message": "bad", "field": "model"}}, {}, UpstreamRejected, "bad"),
        (500, {"detail": "inference failed"}, {}, ProviderError, "inference failed"),
        (503, {"detail": "server busy"}, {"Retry-After": "1"}, Overloaded, "server busy"),
        (529, {"error": {"message": "busy"}}, {"Retry-After": "1"}, Overloaded, "busy"),
    ],
)
async def test_laya_s_errors_become_their_kinds(status, body, headers, kind, message) -> None:
    async with bench(_subject()) as on:
        on.upstream.answer(Reply(status=status, body=body, headers=headers))
        with pytest.raises(kind) as caught:
            await on.ask()
    assert caught.value.status == status
    assert message is None or caught.value.upstream_message == message
    assert caught.value.retry_after == headers.get("Retry-After")


@pytest.mark.anyio
@pytest.mark.parametrize(
    "stranger",
    [
        Reply(body={"status": "healthy", "version": "1"}),
        Reply(body="<html>hello</html>"),
        Reply(body=[]),
        Reply(status=404, body={}),
        Reply(status=500, body={}),
        Reply(status=401, body={}),
        Reply(status=200, body={"status": "ok", "models": [{"name": "jev-latest"}]}),
        Reply(status=200, body={"models": [{"name": "jev-latest"}]}),
    ],
)
async def test_the_probe_does_not_take_a_stranger_for_laya(stranger: Reply) -> None:
    async with bench(_subject()) as on:
        on.upstream.answer(stranger)
        assert not (await on.provider.probe(20)).ok


@pytest.mark.anyio
async def test_a_list_without_laya_is_a_stranger_s() -> None:
    async with bench(_subject()) as on:
        on.upstream.queue(
            Reply(status=404),
            Reply(body={"status": "ok"}),
            Reply(body={"models": [{"name": "gpt"}, "x"]}),
        )
        result = await on.provider.probe(20)
    assert not result.ok
    assert "not as a Laya server" in result.detail
