"""Of an upstream's message callers see the schema words that they need, and nothing they sent."""

import asyncio
import json
import re
import time
from base64 import b64encode, urlsafe_b64encode
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway_core import Secret
from gateway_core.outbound.redaction import GENERAL, Sent, redact
from gateway_core.outbound.redaction.search import PIECE_BYTES

pytestmark = pytest.mark.anyio
CARD = 4111111111111111
KEY = Secret("sk-acme-0123456789abcdef")
SENT: dict[str, Any] = {
    "model": "jev-latest-english",
    "state": {
        "card": CARD,
        "phone": "+49 (0) 171-555 0199",
        "note": "The customer was charged twice",
        "mail": "jane.doe@example.com",
        "customer_identifier": "x",
        "accounts": [5, 4222222222222222],
        "path": "C:\\new\\table\\file",
        "remark": "日本語のとても長い文章がここにあります",
        "street": "Große Straße 17, Überlingen",
        "link": "path=a%20secret%20folder%2Fname",
    },
    "questions": {
        "urgency_level": {
            "type": "score",
            "instructions": "How urgent is it really?",
            "criteria": ["not at all urgent", "within a few days", "at once"],
        },
        "ticket 1234567 kind": {"type": "choice", "criteria": {"complaint about a bill": None}},
    },
}


async def shown(message: str | None, sent: Any = SENT, **more: Any) -> str:
    body = sent if isinstance(sent, bytes) else json.dumps(sent).encode()
    return await redact(message, Sent(body=body, secrets=[KEY], **more))


@pytest.mark.parametrize(
    "message",
    [
        "body.questions.urgency_level.score.criteria: List should have at most 10 items",
        "instructions must be a string",
        "unknown model jev-latest-english",
        "label 'not at all urgent' is bad; 'complaint about a bill' too",
        "question ticket 1234567 kind: field required",
        "Urgency_Level has 12 levels, at most 10",
        "state.customer_identifier: field required",
        "at most 262144 tokens, got 300001; see https://docs.typesafe.ai/errors#422.",
        "at 12:30:45, version 1.14.0",
        "the card is not a string",
        "Frage urgency_level: höchstens 10 Stufen",
    ],
)
async def test_what_the_caller_needs_stays(message: str) -> None:
    assert await shown(message) == message


@pytest.mark.parametrize(
    ("message", "left"),
    [
        (f"state.card: {CARD} is not allowed", "state.card: […] is not allowed"),
        (f"state.card: '{CARD}' is bad", "state.card: '[…]' is bad"),
        ("the card 4111 1111-1111.1111 is bad", "the card […] is bad"),
        ("the account 4,222,222,222,222,222 is closed", "the account […] is closed"),
        ("the card begins with 411111", "the card begins with […]"),
        ("call 491715550199 now", "call […] now"),
        ("got: The customer was charged twice!", "got: […]!"),
        ("got: THE CUSTOMER WAS CHARGED", "got: […]"),
        ("got: the\ncustomer\twas charged", "got: […]"),
        ("got: tomer was char and more", "got: […] and more"),
        ("got: The%20customer%20was+charged", "got: […]"),
        ("got: %54%68%65%20customer was", "got: […]"),
        (r"got: \u0054he cust\u006fmer was", "got: […]"),
        (r"got: \\u0054he cust\\u006fmer was", "got: […]"),
        ("got: jane.doe&#64;example.com", "got: […]"),
        ("got: jane.doe&#x40;example.com", "got: […]"),
        (r"got: C:\\new\\table\\file today", "got: […] today"),
        (r"got: C:\new\table\file today", "got: […] today"),
        ("got: 日本語のとても長い文章が today", "got: […] today"),
        (
            "got: " + ascii("日本語のとても長い文章が")[1:-1] + " x",
            "got: […] x",
        ),
        ("got: GROSSE STRASSE 17", "got: […]"),
        ("got: GroÃe", "got: GroÃe"),
        ("got: a secret folder/name", "got: […]"),
        ("got: How urgent is it really", "got: […]"),
        ("the\u200bcust\u200bomer was\u202e charged", "the[…]"),
        (
            f"the key {KEY.reveal()} may not be used",
            "the key […] may not be used",
        ),
        ("the key SK-ACME-01234567 is old", "the key […] is old"),
        ("the key of acme-01234 is old", "the key of […] is old"),
        ("asked http://10.1.2.3:8000/v1/x twice", "asked […] twice"),
        ("asked http://engine/v1 twice", "asked […] twice"),
        ("asked https://user:pw@docs.example.com/ twice", "asked […] twice"),
        ("asked postgres://db.example.com/x twice", "asked […] twice"),
        ("no route to 10.1.2.3:8000 or fd00::12 today", "no route to […] or […] today"),
        ("no route to [2001:db8::1]:443 today", "no route to […] today"),
        ("no route to db-7.prod.svc.cluster.local:5432 today", "no route to […] today"),
        ("no route to engine-3:8000 or localhost today", "no route to […] or […] today"),
        ("no route to decider.acme.example:9000 today", "no route to […] today"),
        ("see https://decider.acme.example/status today", "see […] today"),
        ("asked http%3A%2F%2F10.1.2.3%2Fx twice", "asked […] twice"),
        (r"asked http:\/\/engine\/v1 twice", "asked […] twice"),
        (r"no route to 10\u002e1\u002e2\u002e3 today", "no route to […] today"),
        (
            "got Basic " + b64encode(f"me:{KEY.reveal()}".encode()).decode() + " twice",
            "got Basic […] twice",
        ),
        (
            "got " + urlsafe_b64encode(KEY.reveal().encode()).decode()[:19] + " twice",
            "got […] twice",
        ),
        (f"got {KEY.reveal().encode().hex()} twice", "got […] twice"),
    ],
)
async def test_content_goes_and_the_rest_of_the_sentence_stays(message: str, left: str) -> None:
    found = await shown(message, hosts=frozenset({"decider.acme.example"}))
    assert found == (left if left != "[…]" else GENERAL)


@pytest.mark.parametrize(
    "message", [None, "", " \x00 ", "[]", "The customer was charged twice", KEY.reveal(), "…!?"]
)
async def test_with_nothing_readable_left_there_is_a_general_sentence(message: str | None) -> None:
    assert await shown(message) == GENERAL


@pytest.mark.parametrize(
    ("message", "left"),
    [
        ("a\tb\nc\r\nd\x00ef\x1b[31mg\u202eh", "a b c def[31mgh"),
        ("lone\ud800 surrogate", "lone surrogate"),
        ("ab\u2028cd\u0085ef", "ab cd ef"),
        ("x" * 600, "x" * 500),
    ],
)
async def test_it_is_printable_and_short(message: str, left: str) -> None:
    assert await shown(message) == left


async def test_eleven_characters_and_five_digits_are_no_content() -> None:
    sent = {"state": "abcdefghijkl 98765432", "questions": {}}
    assert await shown("got abcdefghijk!", sent) == "got abcdefghijk!"
    assert await shown("got abcdefghijkl!", sent) == "got […]!"
    assert await shown("got 98765!", sent) == "got 98765!"
    assert await shown("got 987654!", sent) == "got […]!"


async def test_words_of_openai_requests_stay_and_its_content_goes() -> None:
    sent = {
        "model": "gpt-6-luna-2026",
        "input": [{"role": "user", "content": [{"type": "input_text", "text": "my long text"}]}],
        "questions": [
            {
                "type": "choice",
                "name": "department_of_ticket",
                "choices": [{"value": "billing and refunds", "description": "all about money"}],
            }
        ],
        "safety_identifier": "user-0815-4711-12",
    }
    kept = (
        "gpt-6-luna-2026: department_of_ticket: 'billing and refunds' is taken; safety_identifier"
    )
    assert await shown(kept, sent) == kept
    assert await shown("bad: my long text", sent) == "bad: […]"
    assert await shown("bad: all about money", sent) == "bad: […]"
    assert await shown("bad: user-0815-4711-12", sent) == "bad: […]"


async def test_a_key_of_the_state_that_is_no_name_is_content() -> None:
    sent = {"state": {"jane.doe@example.com": 1, "customer 4711081": 2}, "questions": {}}
    assert await shown("bad: jane.doe@example.com", sent) == "bad: […]"
    assert await shown("bad: customer 4711081", sent) == "bad: […]"


@pytest.mark.parametrize("body", [b"", b"not json", b"[" * 100_000], ids=range(3))
async def test_a_body_that_is_no_request_hides_nothing_of_a_message(body: bytes) -> None:
    assert await shown("a short message", body) == "a short message"


@pytest.mark.parametrize("before", [0, 1, 5, 200, 511, 512, 513, 600])
async def test_content_is_found_wherever_it_stands_in_a_large_body(before: int) -> None:
    body = b'{"state":"' + b"-" * (PIECE_BYTES - before) + b"caf\\u00e9 am See, 10 Uhr" + b'"}'
    assert await shown("got: café am See, 10", body) == "got: […]"


async def test_a_slash_after_an_escaped_backslash_is_no_escape() -> None:
    body = {"state": {"path": "C:\\/files of the customer"}, "questions": {}}
    assert await shown("got: files of the customer", body) == "got: […]"


async def test_a_body_of_backslashes_is_read_in_step() -> None:
    body = b'{"state":"' + b"\\\\" * PIECE_BYTES + b'\\d: all of it is said","questions":{}}'
    assert await shown("got: all of it is said", body) == "got: […]"


async def test_a_body_of_32_mib_takes_time_in_proportion_and_lets_others_run() -> None:
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    body = json.dumps({"state": "some word " * 800_000, "questions": {}}).encode()
    running = asyncio.create_task(others())
    started = time.perf_counter()
    await shown("questions.q: field required 123456", body[: 2**20])
    small = time.perf_counter() - started
    started, turns = time.perf_counter(), 0
    await shown("questions.q: field required 123456", body)
    running.cancel()
    assert time.perf_counter() - started < 60 * small
    assert turns >= len(body) // PIECE_BYTES


TEXTS = st.text(min_size=12, max_size=60)


@settings(max_examples=150, deadline=None)
@given(own=TEXTS, before=st.text(max_size=30), after=st.text(max_size=30), form=st.integers(0, 4))
async def test_no_long_string_of_the_body_ever_comes_back(
    own: str, before: str, after: str, form: int
) -> None:
    own = own.encode("utf-8", "replace").decode()
    ways = [str, str.upper, lambda t: json.dumps(t)[1:-1], quote, repr]
    echoed = ways[form](own)
    found = await shown(f"{before} {echoed} {after}", {"state": [own], "questions": {}})
    visible = "".join(" ".join(own.split()).split())
    assert found.isprintable()
    assert len(found) <= 500
    plain = re.sub(r"[^a-z]", "", own.casefold()) if own.isascii() else ""
    if len(plain) == len(visible) >= 12 and " " not in own:
        assert plain not in found.casefold()
