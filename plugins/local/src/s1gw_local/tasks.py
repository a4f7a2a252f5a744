"""The labelled examples that ship with the plugin: one file a task, tuning and test apart."""

import json
from importlib.resources import files
from typing import Any, Final

import attrs

from s1gw_local.body import read_body
from s1gw_local.question import Question

DATA: Final = files("s1gw_local") / "data"


@attrs.frozen(kw_only=True)
class Example:
    """One text with its right answer.

    Attributes:
        language: an ISO 639-1 code.
        question: the task's question with this text as its subject.
        gold: the index of the right option among ``question.keys``.
    """

    language: str
    question: Question
    gold: int


@attrs.frozen(kw_only=True)
class Task:
    """One question and the texts it is asked about."""

    name: str
    type: str
    examples: tuple[Example, ...]


@attrs.frozen(kw_only=True)
class YesNoExample:
    """A yes/no question about a text, which this engine does not answer, and why not."""

    instructions: str
    state: str
    answer: bool


def tasks(split: str, type_: str) -> list[Task]:
    """Read the tasks of one question type from ``tune`` or ``test``, by name."""
    found = []
    for file in sorted((DATA / split).iterdir(), key=lambda file: file.name):
        document = json.loads(file.read_text(encoding="utf-8"))
        if isinstance(document, dict) and document["type"] == type_:
            found.append(_task(file.name.removesuffix(".json"), document))
    return found


def _task(name: str, document: dict[str, Any]) -> Task:
    examples = [
        _example(language, text, gold, document)
        for language, by_gold in document["examples"].items()
        for gold, texts in by_gold.items()
        for text in texts
    ]
    return Task(name=name, type=document["type"], examples=tuple(examples))


def _example(language: str, text: str, gold: str, document: dict[str, Any]) -> Example:
    asked = {key: document[key] for key in ("type", "instructions", "criteria")}
    body = {"model": "local", "state": text, "questions": {"decision": asked}}
    (question,) = read_body(json.dumps(body).encode()).questions
    return Example(language=language, question=question, gold=question.keys.index(gold))


def yes_no_examples() -> list[YesNoExample]:
    """Read the yes/no questions."""
    rows = json.loads((DATA / "test" / "yesno.json").read_text(encoding="utf-8"))
    return [YesNoExample(**row) for row in rows]
