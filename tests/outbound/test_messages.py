"""What an upstream said, found in every known shape."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_core.outbound.messages import upstream_code, upstream_message, upstream_param

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
    upstream_param(body)


@pytest.mark.parametrize(
    ("body", "param"),
    [
        (
            {"error": {"message": "bad", "param": "input[0].content", "code": "x"}},
            "input[0].content",
        ),
        ({"error": {"message": "empty", "field": "questions"}}, "questions"),
        ({"object": "error", "message": "flat", "param": "model"}, "model"),
        ({"detail": {"message": "no", "field": "state"}}, "state"),
        ({"error": {"param": 3, "field": None}}, None),
        ({"error": "text"}, None),
        ([1], None),
    ],
)
def test_the_field_that_is_named_is_found(body, param) -> None:
    assert upstream_param(json.dumps(body).encode()) == param
