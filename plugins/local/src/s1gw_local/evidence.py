"""Every figure that the README gives: ``python -m s1gw_local.evidence`` prints them.

The tables are computed from the examples that ship with the plugin, through the same code that
answers requests. The test sets were written for this plugin as well, but nothing was chosen or
fitted on them.
"""

import asyncio
import math
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from typing import Final

import attrs

from s1gw_local.body import Body
from s1gw_local.decider import Decider
from s1gw_local.engine import Engine
from s1gw_local.metrics import Row, auroc, brier, ece, hits, nll, wilson
from s1gw_local.native import raw_vector
from s1gw_local.tasks import Example, Task, tasks, yes_no_examples

_vector: Final = lru_cache(maxsize=512)(raw_vector)
HEADER: Final = (
    "| examples | texts | options | right | 95% interval | guessing "
    "| plain cosine | NLL | NLL guessing | Brier | ECE |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|\n"
)


@attrs.frozen(kw_only=True)
class Measured:
    """One example with what the engine made of it.

    Attributes:
        example: the example.
        row: its probabilities and the index of the right option.
        plain: whether the model's own cosine similarity picks the right option.
    """

    example: Example
    row: Row
    plain: bool


async def measure(task: Task) -> list[Measured]:
    """Put every example of a task to the engine."""
    decider = Decider(engine=Engine(cache_size=512))
    return [await _measured(decider, example) for example in task.examples]


async def _measured(decider: Decider, example: Example) -> Measured:
    found = await decider.answers(Body(model="local", questions=(example.question,)))
    probabilities = tuple(found.by_id[example.question.id]["probabilities"].values())
    state = raw_vector(example.question.subject)
    cosines = [float(_vector(text) @ state) for text in example.question.texts]
    return Measured(
        example=example,
        row=(probabilities, example.gold),
        plain=cosines.index(max(cosines)) == example.gold,
    )


def line(name: str, found: Sequence[Measured]) -> str:
    """Return one row of the table: the figures of some examples."""
    rows = [one.row for one in found]
    count, sizes = len(rows), [len(p) for p, _ in rows]
    low, high = wilson(hits(rows), count)
    options = str(sizes[0]) if len(set(sizes)) == 1 else f"{min(sizes)} to {max(sizes)}"
    guess, guess_nll = (math.fsum(map(f, sizes)) / count for f in (lambda n: 1 / n, math.log))
    plain = sum(one.plain for one in found) / count
    return (
        f"| {name} | {count} | {options} | {hits(rows) / count:.0%} | {low:.0%} to {high:.0%} "
        f"| {guess:.0%} | {plain:.0%} | {nll(rows):.2f} | {guess_nll:.2f} "
        f"| {brier(rows):.2f} | {ece(rows):.2f} |\n"
    )


def table(split: str, type_: str) -> str:
    """Return the table of one split and question type: a row a task and language, and all."""
    return HEADER + "".join(_lines(split, type_))


def _lines(split: str, type_: str) -> Iterator[str]:
    everything: list[Measured] = []
    for task in tasks(split, type_):
        found = asyncio.run(measure(task))
        everything += found
        for language, group in groupby(found, key=attrgetter("example.language")):
            yield line(f"{task.name} ({language})", list(group))
    yield line("**all**", everything)


def yes_no() -> str:
    """Return how well two readings of similarity tell yes from no: 0.5 is a coin's AUROC."""
    found = yes_no_examples()
    truths = [one.answer for one in found]
    vectors = [(raw_vector(one.state), one.instructions) for one in found]
    near = [float(state @ raw_vector(question)) for state, question in vectors]
    sided = [
        float(state @ (raw_vector(f"Yes. {question}") - raw_vector(f"No. {question}")))
        for state, question in vectors
    ]
    return (
        f"| reading of {len(found)} yes/no questions | AUROC |\n|---|---|\n"
        f"| text close to the question | {auroc(near, truths):.2f} |\n"
        f"| text closer to yes than to no | {auroc(sided, truths):.2f} |\n"
    )


def evidence() -> str:
    """Return the whole section of the README."""
    return "\n".join(
        (
            "Choices, test set:\n",
            table("test", "choice"),
            "Scores, test set:\n",
            table("test", "score"),
            "Yes/no, test set:\n",
            yes_no(),
            "Choices, tuning set (fitted on these, so too good to be true):\n",
            table("tune", "choice"),
            "Scores, tuning set (likewise):\n",
            table("tune", "score"),
        )
    )


if __name__ == "__main__":
    sys.stdout.write(evidence())
