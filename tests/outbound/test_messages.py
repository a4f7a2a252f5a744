"""What an upstream said: found in every known shape, shown only when it is harmless."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_core import Secret
from gateway_core.outbound import sanitize_message
from gateway_core.outbound.messages import GENERAL, upstream_code, upstream_message

FAULT = {"loc": ["body", "questions", "q", 0], "msg": "must be a list", "type": "list_type"}


@pytest.mark.parametrize(
    ("body", "message", "code"),
    [
        ({"detail": [FAULT]}, "body.questions.q.0: must be a list", None),
        (
            {"detail": [FAULT, {"msg": "also"}, "junk"]},
            "body.questions.q.0: must be a list; also",
            None,
        ),
        (
            {"detail": {"error_type": "authentication_error", "message": "no key"}},
            "no key",
            "authentication_error",
        ),
        ({"detail": "busy"}, "busy", None),
        (
            {"error": {"message": "bad", "type": "invalid_request", "code": 400}},
            "bad",
            "invalid_request",
        ),
        (
            {"error": {"message": "bad", "type": "x", "code": "model_not_found"}},
            "bad",
            "model_not_found",
        ),
        ({"error": {"message": "credit", "code": 402, "metadata": {}}}, "credit", "402"),
        ({"error": {"message": "empty", "field": "questions"}}, "empty", None),
        (
            {"success": False, "errors": [{"code": 5012, "message": "inference"}]},
            "inference",
            "5012",
        ),
        (
            {
                "object": "error",
                "message": "flat",
                "type": "BadRequest",
                "param": None,
                "code": 400,
            },
            "flat",
            "BadRequest",
        ),
        ({"error": "Unauthorized"}, "Unauthorized", None),
        ({"message": "verify", "error_type": "verification"}, "verify", "verification"),
        ({"error": {"code": "loading"}}, None, "loading"),
        ({"error": None, "detail": None, "errors": [], "message": 3}, None, None),
        ({"code": True}, None, None),
        ([1], None, None),
        ("text", None, None),
        (None, None, None),
    ],
)
def test_the_message_and_the_code_are_found_in_every_shape(body, message, code) -> None:
    data = json.dumps(body).encode()
    assert upstream_message(data) == message
    assert upstream_code(data) == code


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", None),
        (b"  ", None),
        (b"<html><body>504</body></html>", None),
        (b"upstream connect error", "upstream connect error"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"[" * 100_000, "[" * 200),
        (b"x" * 10_000, "x" * 200),
        (json.dumps({"detail": "y" * 10_000}).encode(), "y" * 2000),
    ],
    ids=range(8),
)
def test_a_body_that_is_no_json_is_its_own_message_unless_it_is_a_page(body, message) -> None:
    assert upstream_message(body) == message


@given(st.binary(max_size=300))
def test_no_body_breaks_the_search(body: bytes) -> None:
    upstream_message(body)
    upstream_code(body)


KEY = Secret("sk-provider-key")
SENT = {
    "model": "jev-latest",
    "state": {"note": "The customer was charged twice", "n": 1, "ok": True, "short": "is a"},
    "questions": {"billing": {"type": "noul", "instructions": "About billing?"}},
}


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("questions.q: field required", "questions.q: field required"),
        ("instructions must be a string", "instructions must be a string"),
        ("this is a fault, true or 1", "this is a fault, true or 1"),
        ("a\tb\nc\r\nd\x00e\x1b[31mf\u202eg", "a b c de[31mfg"),
        ("lone\ud800 surrogate", "lone surrogate"),
        ("x" * 600, "x" * 500),
        ("", GENERAL),
        (None, GENERAL),
        (" \x00 ", GENERAL),
        ("bad key sk-provider-key", GENERAL),
        ("got: The customer was charged twice!", GENERAL),
        ("got: The\ncustomer was charged twice", GENERAL),
        ("unknown model jev-latest", GENERAL),
        ("x" * 490 + "The customer was charged twice", GENERAL),
    ],
)
def test_a_message_is_shown_unless_it_repeats_a_key_or_the_caller(message, shown) -> None:
    body = json.dumps(SENT).encode()
    assert sanitize_message(message, secrets=[KEY], body=body) == shown


def test_a_long_text_is_recognised_by_a_part_of_it() -> None:
    text = " ".join(f"word{number}" for number in range(1000))
    body = json.dumps({"state": text}).encode()
    assert sanitize_message(f"near {text[1003:1060]}", secrets=[], body=body) == GENERAL
    assert sanitize_message("near word0", secrets=[], body=body) == "near word0"


def test_white_space_does_not_make_a_short_value_long() -> None:
    body = json.dumps({"state": "1       "}).encode()
    assert sanitize_message("at least 1 question", secrets=[], body=body) == "at least 1 question"


@pytest.mark.parametrize(
    "body", [b"", b"not json", b"[" * 100_000, b"[" + b" " * 2**20 + b"]"], ids=range(4)
)
def test_without_knowing_what_was_sent_nothing_is_shown(body) -> None:
    assert sanitize_message("a message", secrets=[], body=body) == GENERAL


@given(st.text(min_size=8, max_size=60), st.text(max_size=30), st.text(max_size=30))
def test_no_string_of_the_body_ever_comes_back(own: str, before: str, after: str) -> None:
    body = json.dumps({"state": [own]}).encode()
    shown = sanitize_message(before + own + after, secrets=[], body=body)
    assert shown == GENERAL or own not in shown
    assert shown.isprintable()
    assert len(shown) <= 500
