"""Checks of a provider that is configured with two models."""

from contextlib import suppress
from urllib.parse import urlsplit

import attrs

from gateway_core.errors import ModelNotFound
from gateway_core.testing.checks.check import Needs, check, require
from gateway_core.testing.checks.subject import Bench, Subject, bench
from gateway_core.types import Operation
from gateway_core.wire import Question, encode


def _models(subject: Subject) -> tuple[str, str]:
    return subject.models[0], f"{subject.models[0]}-two"


@check(
    "The URL for a model is the same whether it is configured alone or with others.",
    why="An upstream that names the model in the URL would answer with another model.",
    needs=Needs.ADDRESS,
)
def urls_follow_the_model(subject: Subject) -> None:
    """``build_url`` takes the model, if the upstream's URL depends on it."""
    both = attrs.evolve(subject, models=_models(subject)).build()
    for model in _models(subject):
        alone = attrs.evolve(subject, models=(model,)).build().url(Operation.DECIDE)
        together = both.url(Operation.DECIDE, model)
        require(together == alone, f"for {model} it named {together}, and alone {alone}")


@check(
    "A request for one of two models goes to the URL of that model, whichever was asked before.",
    why="Who gets another model's answer than the one asked for cannot know it.",
    needs=Needs.UPSTREAM,
)
async def each_model_is_asked_at_its_url(subject: Subject) -> None:
    """A model that the provider does not know may be refused, but not swapped."""
    async with bench(attrs.evolve(subject, models=_models(subject))) as on:
        first, second = _models(subject)
        for model in (first, second, first):
            before = len(on.upstream.requests)
            with suppress(ModelNotFound):
                await on.ask(_body(on, model), model=model)
            path = urlsplit(on.provider.url(Operation.DECIDE, model)).path
            asked = [sent.path.partition("?")[0] for sent in on.upstream.requests[before:]]
            require(not asked or asked == [path], f"for {model} it asked {', '.join(asked)}")


def _body(on: Bench, model: str) -> bytes:
    question = Question(text="Which team?", options=("sales", "billing"))
    return encode(question, model, on.provider.capabilities)
