"""The published schemas: valid, equal to the code, and as strict as the checks."""

import sys
import unicodedata
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gateway_core.schema import (
    CAPABILITIES,
    HEALTH,
    PUBLISHED,
    REQUEST,
    RESPONSE,
    is_blank,
    text_of,
)

FOLDER = Path(__file__).parents[2] / "schema"


@pytest.mark.parametrize("schema", [REQUEST, RESPONSE, HEALTH, CAPABILITIES])
def test_every_schema_is_a_valid_schema(schema: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_published_file_is_what_the_code_says(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == text_of(PUBLISHED[name])


def test_blank_is_what_the_patterns_of_json_schema_call_white_space() -> None:
    """ECMA-262, sections 12.2 and 12.3: these, and the category of space separators."""
    spaces = {
        text
        for text in map(chr, range(sys.maxunicode + 1))
        if text in "\t\n\v\f\r\u2028\u2029\ufeff" or unicodedata.category(text) == "Zs"
    }
    assert {text for text in map(chr, range(sys.maxunicode + 1)) if is_blank(text)} == spaces
    assert is_blank("".join(spaces))
    assert not is_blank(" x ")


def test_nothing_else_is_published() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {*PUBLISHED, "config.json"}


@pytest.mark.parametrize("schema", [REQUEST, RESPONSE])
def test_every_field_is_described(schema: dict[str, Any]) -> None:
    undescribed = {
        name for name, field in schema["properties"].items() if "description" not in field
    }
    assert undescribed <= {"schema_version", "request_id"}


BAD_REPLIES: list[dict[str, Any]] = [
    {"status": "decided", "decision": None},
    {"status": "decided", "reason": "refused"},
    {"status": "decided", "error": {"code": "provider_error", "message": "x"}},
    {"status": "abstained"},
    {"status": "abstained", "decision": None, "reason": None},
    {"status": "error", "decision": None},
    {"status": "error", "decision": None, "error": {"code": "other", "message": "x"}},
    {"confidence": 1.1},
    {"reason": "bored"},
    {"schema_version": "2"},
]


@pytest.mark.parametrize("change", BAD_REPLIES, ids=str)
def test_a_reply_that_contradicts_itself_does_not_fit(change: dict[str, Any]) -> None:
    good: dict[str, Any] = dict.fromkeys(RESPONSE["properties"]) | {
        "status": "decided",
        "decision": "yes",
        "provider": "acme",
        "calibrated": False,
        "latency_ms": 1,
        "attempts": [],
        "schema_version": "1",
        "request_id": "r",
        "warnings": [],
    }
    jsonschema.validate(good, RESPONSE)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(good | change, RESPONSE)
