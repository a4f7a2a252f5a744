"""The rules of a request, each with what breaks it; nothing invalid reaches a provider."""

import math
import re
from collections.abc import Callable
from typing import Any

import pytest

from gateway_core.decide import Decider

pytestmark = pytest.mark.anyio
YES = {"answers": {"decision": {"type": "noul", "noul": 0.9}}}
LOOP: dict[str, Any] = {}
LOOP["self"] = LOOP
DEEP: dict[str, Any] = {}
for _ in range(100_000):
    DEEP = {"d": DEEP}

INVALID: list[tuple[str, object, str]] = [
    ("not an object", ["question"], "object"),
    ("null", None, "object"),
    ("no question", {}, "question"),
    ("a blank question", {"question": " \n\t"}, "question"),
    ("an empty question", {"question": ""}, "question"),
    ("a number for a question", {"question": 3}, "question"),
    ("null for a question", {"question": None}, "question"),
    ("a question too long", {"question": "x" * 8001}, "question"),
    ("half a surrogate pair", {"question": "\ud83d?"}, "question"),
    ("null options", {"question": "?", "options": None}, "options"),
    ("options as text", {"question": "?", "options": "ab"}, "options"),
    ("options as a map", {"question": "?", "options": {"a": 1, "b": 2}}, "options"),
    ("no options", {"question": "?", "options": []}, "options"),
    ("one option", {"question": "?", "options": ["a"]}, "options"),
    ("257 options", {"question": "?", "options": [str(n) for n in range(257)]}, "options"),
    ("an option that is a number", {"question": "?", "options": ["a", 1]}, r"options\[1\]"),
    ("a boolean option", {"question": "?", "options": [True, "a"]}, r"options\[0\]"),
    ("a blank option", {"question": "?", "options": ["a", " "]}, r"options\[1\]"),
    ("an option too long", {"question": "?", "options": ["a", "x" * 501]}, r"options\[1\]"),
    ("half a pair in an option", {"question": "?", "options": ["a", "\udc00"]}, r"options\[1\]"),
    ("a repeated option", {"question": "?", "options": ["a", "b", "a"]}, r"options\[2\].*\[0\]"),
    ("null context", {"question": "?", "context": None}, "context"),
    ("text for context", {"question": "?", "context": "x"}, "context"),
    ("a list for context", {"question": "?", "context": []}, "context"),
    ("NaN in the context", {"question": "?", "context": {"a": [math.nan]}}, "context"),
    ("infinity in the context", {"question": "?", "context": {"a": -math.inf}}, "context"),
    ("bytes in the context", {"question": "?", "context": {"a": b"x"}}, "context"),
    ("half a pair in the context", {"question": "?", "context": {"a": "\ud800"}}, "context"),
    ("a context in itself", {"question": "?", "context": LOOP}, "context"),
    ("a context without end", {"question": "?", "context": DEEP}, "context"),
    ("min_confidence as text", {"question": "?", "min_confidence": "0.5"}, "min_confidence"),
    ("min_confidence true", {"question": "?", "min_confidence": True}, "min_confidence"),
    ("min_confidence null", {"question": "?", "min_confidence": None}, "min_confidence"),
    ("min_confidence NaN", {"question": "?", "min_confidence": math.nan}, "min_confidence"),
    ("min_confidence infinite", {"question": "?", "min_confidence": math.inf}, "min_confidence"),
    ("min_confidence above 1", {"question": "?", "min_confidence": 1.01}, "min_confidence"),
    ("min_confidence below 0", {"question": "?", "min_confidence": -0.01}, "min_confidence"),
    ("an empty request_id", {"question": "?", "request_id": ""}, "request_id"),
    ("a request_id too long", {"question": "?", "request_id": "x" * 129}, "request_id"),
    ("a number for a request_id", {"question": "?", "request_id": 7}, "request_id"),
    ("another version", {"question": "?", "schema_version": "2"}, "schema_version"),
    ("a number for a version", {"question": "?", "schema_version": 1}, "schema_version"),
    ("null for a version", {"question": "?", "schema_version": None}, "schema_version"),
    ("an unknown field", {"question": "?", "temperature": 1}, "temperature"),
    ("a misspelt field", {"question": "?", "option": []}, "did you mean 'options'"),
    ("a field that is no text", {"question": "?", 3: 4}, "unknown field '3'"),
]


@pytest.mark.parametrize(
    ("fields", "says"), [pytest.param(*row, id=name) for name, *row in INVALID]
)
async def test_an_invalid_request_names_its_field_and_reaches_nobody(
    make_decider: Callable[..., Decider],
    script: Callable[..., Any],
    notebook: Any,
    fields: object,
    says: str,
) -> None:
    acme = script([YES])
    reply = await make_decider(acme=acme).decide(fields)
    assert reply["status"] == "error"
    assert reply["error"]["code"] == "invalid_request"
    assert re.search(says, reply["error"]["message"])
    assert (acme.asked, reply["attempts"], notebook.records) == ([], [], [])


VALID: list[tuple[str, dict[str, Any]]] = [
    ("the longest question", {"question": "x" * 8000}),
    ("a question with white space", {"question": "  ?\n"}),
    ("any script", {"question": "質問? 🎯"}),
    ("an empty context", {"question": "?", "context": {}}),
    ("a deep context", {"question": "?", "context": {"a": [{"b": [None, True, 1.5, "x"]}]}}),
    ("a threshold of 0", {"question": "?", "min_confidence": 0}),
    ("the longest id", {"question": "?", "request_id": "i" * 128}),
    ("the version", {"question": "?", "schema_version": "1"}),
]


@pytest.mark.parametrize("fields", [pytest.param(row[1], id=row[0]) for row in VALID])
async def test_a_valid_request_is_put_to_the_provider(
    make_decider: Callable[..., Decider], script: Callable[..., Any], fields: dict[str, Any]
) -> None:
    acme = script([YES])
    reply = await make_decider(acme=acme).decide(fields)
    assert (reply["status"], reply["decision"]) == ("decided", "yes")
    assert len(acme.asked) == 1


@pytest.mark.parametrize("count", [2, 256])
async def test_two_to_256_options_are_valid(
    make_decider: Callable[..., Decider], script: Callable[..., Any], count: int
) -> None:
    options = ["x" * 500, *(f"Option {n}" for n in range(count - 1))]
    reply = await make_decider(acme=script([YES])).decide({"question": "?", "options": options})
    assert reply["error"]["code"] != "invalid_request"


async def test_the_request_id_is_echoed_even_when_the_request_is_invalid(
    make_decider: Callable[..., Decider],
) -> None:
    reply = await make_decider().decide({"request_id": "mine"})
    assert reply["request_id"] == "mine"


async def test_a_request_without_an_id_gets_one_of_its_own(
    make_decider: Callable[..., Decider], script: Callable[..., Any]
) -> None:
    decider = make_decider(acme=script([YES]))
    ids = {(await decider.decide({"question": "?"}))["request_id"] for _ in range(3)}
    assert len(ids) == 3
