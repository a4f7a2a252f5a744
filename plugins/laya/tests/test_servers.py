"""The provider against the two real Laya servers."""

import pytest

from gateway_core import DecisionRequest, Format
from gateway_core.errors import KeyRejected, RateLimited, RequestTooLarge, UpstreamRejected
from gateway_core.provider import Provider
from gateway_core.wire import Answer, Question, encode, read

QUESTION = Question(text="Which team?", options=("billing", "sales"), context={"ticket": "Twice!"})
pytestmark = pytest.mark.anyio


async def _ask(provider: Provider, question: Question = QUESTION) -> Answer:
    body = encode(question, provider.model, provider.capabilities)
    request = DecisionRequest(format=Format.SYSTEMONE, body=body, model=provider.model)
    return read((await provider.ask(request, 20)).body, question, provider.capabilities)


@pytest.mark.parametrize(
    "question", [QUESTION, Question(text="Urgent?"), Question(text="x" * 8000)]
)
async def test_a_question_is_answered_by_laya_serve(
    laya_serve, connect, question: Question
) -> None:
    async with connect(laya_serve()) as provider:
        answer = await _ask(provider, question)
    assert answer.decision in question.outcomes
    assert answer.probabilities == dict.fromkeys(question.outcomes, 0.5)
    assert answer.model == "laya-english"


async def test_laya_serve_with_a_key_answers_those_who_have_it(laya_serve, connect) -> None:
    base_url = laya_serve(LAYA_SERVE_API_KEY="sekret-1")
    async with connect(base_url, key="sekret-1") as provider:
        assert (await _ask(provider)).decision == "billing"
    for wrong in (None, "sekret-2"):
        async with connect(base_url, key=wrong) as provider:
            with pytest.raises(KeyRejected) as caught:
                await _ask(provider)
        assert caught.value.status == 401
        assert caught.value.upstream_message == "Missing or invalid API key."


async def test_laya_serve_refuses_a_model_it_does_not_know(laya_serve, connect) -> None:
    async with connect(laya_serve(), model="gpt") as provider:
        with pytest.raises(UpstreamRejected) as caught:
            await _ask(provider)
    assert caught.value.status == 422
    assert "unknown model" in str(caught.value.upstream_message)


async def test_laya_serve_takes_a_model_that_it_was_given(laya_serve, connect) -> None:
    async with connect(laya_serve(LAYA_SERVE_EXTRA_MODELS="mine"), model="mine") as provider:
        assert (await _ask(provider)).decision == "billing"


async def test_laya_serve_limits_the_rate(laya_serve, connect) -> None:
    async with connect(laya_serve(LAYA_SERVE_RATE_LIMIT_PER_MINUTE="1")) as provider:
        await _ask(provider)
        with pytest.raises(RateLimited) as caught:
            await _ask(provider)
    assert caught.value.retry_after == "60"


async def test_the_probe_knows_laya_serve(laya_serve, connect) -> None:
    async with connect(laya_serve()) as provider:
        result = await provider.probe(20)
    assert (result.ok, result.detail) == (True, "laya-serve, which takes 7 model names")


async def test_a_question_is_answered_by_layas_own_server(laya_engine, connect) -> None:
    async with connect(laya_engine()) as provider:
        answer = await _ask(provider)
    assert answer.decision == "billing"
    assert answer.probabilities == pytest.approx({"billing": 0.9, "sales": 0.1})
    assert answer.provider_confidence == 0.53
    assert not answer.truncated


async def test_the_engine_is_asked_yes_or_no_as_a_neutral_choice(laya_engine, connect) -> None:
    async with connect(laya_engine()) as provider:
        answer = await _ask(provider, Question(text="Is it urgent?"))
    assert answer.decision == "yes"
    assert answer.probabilities == pytest.approx({"yes": 0.9, "no": 0.1})


async def test_what_the_engine_cut_is_reported(laya_engine, connect) -> None:
    long = Question(text="Which team?", options=("a", "b"), context={"ticket": "x" * 200})
    async with connect(laya_engine()) as provider:
        assert (await _ask(provider, long)).truncated


async def test_the_engine_with_a_key_answers_those_who_have_it(laya_engine, connect) -> None:
    base_url = laya_engine(LAYA_API_KEY="sekret-1")
    async with connect(base_url, key="sekret-1") as provider:
        assert (await _ask(provider)).decision == "billing"
    async with connect(base_url) as provider:
        with pytest.raises(KeyRejected) as caught:
            await _ask(provider)
    assert caught.value.upstream_message == "invalid or missing bearer token"


async def test_the_engine_refuses_more_than_its_limits(laya_engine, connect) -> None:
    many = Question(text="Which?", options=tuple(f"option {n}" for n in range(101)))
    async with connect(laya_engine(), max_options=255) as provider:
        with pytest.raises(RequestTooLarge) as caught:
            await _ask(provider, many)
    assert "too many choice options" in str(caught.value.upstream_message)


async def test_the_probe_knows_the_engine(laya_engine, connect) -> None:
    base_url = laya_engine()
    async with connect(base_url) as provider:
        result = await provider.probe(20)
    assert result.ok
    assert result.detail.startswith("Laya on ")
    assert result.detail.endswith("loaded: english")


async def test_the_probe_of_a_locked_engine_asks_for_the_key(laya_engine, connect) -> None:
    base_url = laya_engine(LAYA_API_KEY="sekret-1")
    async with connect(base_url) as provider:
        locked = await provider.probe(20)
    async with connect(base_url, key="sekret-1") as provider:
        opened = await provider.probe(20)
    assert (locked.ok, opened.ok) == (False, True)
    assert "set api_key" in locked.detail
