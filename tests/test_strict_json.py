"""The one reader of JSON: what it takes, and what it refuses and how it says so."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_core.errors import InvalidJson, MalformedResponse
from gateway_core.strict_json import MAX_DEPTH, read_json
from gateway_core.types import json_object


def nested(depth: int, opening: str = "[", closing: str = "]") -> bytes:
    return (opening * depth + closing * depth).encode()


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_whatever_is_json_in_utf8_is_read(value: Any) -> None:
    ascii_only = json.dumps(value, allow_nan=False)
    assert read_json(ascii_only) == read_json(ascii_only.encode()) == value
    if "\\ud" not in ascii_only.lower():
        assert read_json(json.dumps(value, ensure_ascii=False).encode()) == value


REFUSED = {
    "nothing": (b"", "the text is empty"),
    "white space": (b" \n", "the text is empty"),
    "no JSON": (b"{", "the text is not JSON"),
    "two values": (b"{}{}", "the text is not JSON"),
    "a control character": (b'"\n"', "the text is not JSON"),
    "a comment": (b"{} // c", "the text is not JSON"),
    "not UTF-8": (b'"\xff"', "the text is not UTF-8"),
    "a surrogate's bytes": (b'"\xed\xa0\xbd"', "the text is not UTF-8"),
    "a byte order mark": (b"\xef\xbb\xbf{}", "the text must not begin with a byte order mark"),
    "a byte order mark in characters": ("\ufeff{}", "must not begin with a byte order mark"),
    "UTF-16": ("{}".encode("utf-16"), "the text is not UTF-8"),
    "UTF-16, little end first": ("{}".encode("utf-16-le"), "the text is not UTF-8"),
    "UTF-16, big end first": ("{}".encode("utf-16-be"), "the text is not UTF-8"),
    "UTF-32": ("{}".encode("utf-32-be"), "the text is not UTF-8"),
    "a key twice": (b'{"a": 1, "b": 2, "a": 1}', "'a' occurs twice in one object"),
    "a key twice in another spelling": (b'{"b": 1, "\\u0062": 2}', "'b' occurs twice"),
    "a key twice deep inside": (b'[{"x": [{"a": 1, "a": 2}]}]', "'a' occurs twice"),
    "NaN": (b'{"a": NaN}', "NaN is not JSON"),
    "Infinity": (b"[Infinity]", "Infinity is not JSON"),
    "-Infinity": (b"[-Infinity]", "-Infinity is not JSON"),
    "a number of many digits": (b"1" * 5000, "the text holds a number of too many digits"),
    "arrays, too deep": (nested(MAX_DEPTH + 1), "nested more than 128 deep"),
    "objects, too deep": (nested(MAX_DEPTH, '{"a":[', "]}"), "nested more than 128 deep"),
    "far too deep": (nested(100_000), "nested more than 128 deep"),
    "far too deep and cut": (b"[" * 100_000, "nested more than 128 deep"),
}


@pytest.mark.parametrize(("text", "told"), REFUSED.values(), ids=REFUSED.keys())
def test_what_two_readers_might_see_differently_is_refused(text: bytes | str, told: str) -> None:
    with pytest.raises(InvalidJson) as caught:
        read_json(text)
    assert told in str(caught.value)


def test_the_deepest_that_is_taken_and_as_much_side_by_side() -> None:
    assert read_json(nested(MAX_DEPTH))
    assert read_json(b"[" + b",".join([nested(MAX_DEPTH - 1)] * 10) + b"]")
    assert read_json(json.dumps("[" * 1000)) == "[" * 1000
    assert read_json(nested(MAX_DEPTH + 2), max_depth=MAX_DEPTH + 2)


def test_the_error_names_the_repeated_key_and_the_text() -> None:
    with pytest.raises(InvalidJson) as caught:
        read_json(b'{"question": 1, "question": 2}')
    assert caught.value.field == "question"
    with pytest.raises(InvalidJson, match=r"^the body is not JSON$"):
        read_json(b"never-show-this", "the body")


@pytest.mark.parametrize("text", [text for text, _ in REFUSED.values() if isinstance(text, bytes)])
def test_a_reply_is_read_by_the_same_rules_and_never_quoted(text: bytes) -> None:
    with pytest.raises(MalformedResponse) as caught:
        json_object(text.replace(b'"a"', b'"never-show-this"'))
    assert "never-show-this" not in str(caught.value)
