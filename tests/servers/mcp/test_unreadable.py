"""Messages that cannot go on as they are: each has its reply, and a line on stderr."""

import json
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest

from gateway_core.schema import RESPONSE
from gateway_core.testing import ScriptedUpstream

Start = Callable[..., Any]
CALL = '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"%s","arguments":%s}}'
DEEP = '{"a":' * 150 + "1" + "}" * 150
FAR_TOO_DEEP = "[" * 100_000 + "]" * 100_000

# The fault, and what the contract's reply says of it.
ARGUMENTS = {
    "half an emoji": ('{"question":"cut \\ud83d"}', "question: holds half"),
    "half an emoji among the options": (
        '{"question":"?","options":["a","\\uDE00"]}',
        "options[1]: holds half",
    ),
    "half an emoji in the context": ('{"question":"?","context":{"a":"\\ud83d"}}', "context"),
    "half an emoji in a name": ('{"question":"?","\\ud83d":1}', "unknown field"),
    "a key twice": ('{"question":"a","question":"b"}', "'question' occurs twice"),
    "a key twice inside": ('{"question":"a","context":{"b":1,"b":2}}', "'b' occurs twice"),
    "NaN": ('{"question":"a","min_confidence":NaN}', "NaN is not JSON"),
    "Infinity": ('{"question":"a","context":{"b":-Infinity}}', "-Infinity is not JSON"),
    "a number of many digits": ('{"question":%s}' % ("1" * 5000), "too many digits"),
    "deep": (f'{{"question":"a","context":{DEEP}}}', "nested more than"),
}


@pytest.fixture
def wire(start: Start, one_provider: ScriptedUpstream) -> Any:
    found = start()
    found.shake_hands()
    return found


def still_served(wire: Any) -> None:
    identity = wire.call("system1_decide", question="Still there?")
    message = wire.receive()
    assert message["id"] == identity
    assert message["result"]["structuredContent"]["status"] == "decided"


@pytest.mark.parametrize(("arguments", "told"), ARGUMENTS.values(), ids=ARGUMENTS.keys())
def test_arguments_that_cannot_be_read_are_an_invalid_request(
    wire: Any, one_provider: ScriptedUpstream, arguments: str, told: str
) -> None:
    wire.write((CALL % ("system1_decide", arguments)).encode() + b"\n")
    message = wire.receive()
    reply = message["result"]["structuredContent"]
    jsonschema.validate(reply, RESPONSE)
    assert message["id"] == 7
    assert message["result"]["isError"]
    assert reply["error"]["code"] == "invalid_request"
    assert told in reply["error"]["message"]
    assert one_provider.requests == ()
    still_served(wire)
    assert f"[{reply['request_id']}] s1gw.decide: invalid request" in wire.finish()[2]


def test_the_calls_own_id_is_on_its_refusal(wire: Any) -> None:
    arguments = '{"question":"a","question":"b","request_id":"mine"}'
    wire.write((CALL % ("system1_decide", arguments)).encode() + b"\n")
    assert wire.receive()["result"]["structuredContent"]["request_id"] == "mine"


REQUEST = '{"jsonrpc":"2.0","id":7,"method":"ping"%s}'
# What comes in; the code of the error, and the id that it names.
MESSAGES: dict[str, tuple[bytes | str, int, Any]] = {
    "no JSON": ("not json", -32700, None),
    "cut": ('{"jsonrpc": "2.0", "id": 7, "method": ', -32700, None),
    "not UTF-8": (b"\xff\xfe", -32700, None),
    "bytes that are no UTF-8 inside": (
        REQUEST.encode() % b',"params":{"a":"\xff"}',
        -32700,
        7,
    ),
    "UTF-16": ((REQUEST % "").encode("utf-16-be"), -32700, None),
    "a byte order mark": (b"\xef\xbb\xbf" + (REQUEST % "").encode(), -32700, 7),
    "far too deep, id first": (REQUEST % f',"params":{{"a":{FAR_TOO_DEEP}}}', -32700, 7),
    "far too deep, id last": (
        f'{{"method":"ping","params":{{"a":{FAR_TOO_DEEP}}},"jsonrpc":"2.0","id":"x"}}',
        -32700,
        "x",
    ),
    "too deep": (REQUEST % f',"params":{DEEP}', -32700, 7),
    "a key twice": (REQUEST % ',"params":{"a":1,"a":2}', -32700, 7),
    "the id twice": (REQUEST % ',"id":8', -32700, None),
    "half an emoji": (REQUEST % ',"params":{"a":"\\ud83d"}', -32600, 7),
    "half an emoji as the method": (
        '{"jsonrpc":"2.0","id":7,"method":"\\ud83d"}',
        -32600,
        7,
    ),
    "half an emoji as the id": (
        '{"jsonrpc":"2.0","id":"\\ud83d","method":"ping"}',
        -32600,
        "\ud83d",
    ),
    "a list as params": (REQUEST % ',"params":[1]', -32602, 7),
    "a text as params": (REQUEST % ',"params":"a"', -32602, 7),
    "another version": ('{"jsonrpc":"1.0","id":7,"method":"ping"}', -32600, 7),
    "no version": ('{"id":7,"method":"ping"}', -32600, 7),
    "no method": ('{"jsonrpc":"2.0","id":7}', -32600, 7),
    "a number as the method": ('{"jsonrpc":"2.0","id":7,"method":1}', -32600, 7),
    "null as the id": ('{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None),
    "a fraction as the id": ('{"jsonrpc":"2.0","id":7.5,"method":"ping"}', -32600, 7.5),
    "a list as the id": ('{"jsonrpc":"2.0","id":[7],"method":"ping"}', -32600, None),
    "a text": ('"ping"', -32600, None),
    "an empty batch": ("[]", -32600, None),
    "a call whose params are a list": (
        '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[1]}',
        -32602,
        7,
    ),
}


@pytest.mark.parametrize(("sent", "code", "identity"), MESSAGES.values(), ids=MESSAGES.keys())
def test_whatever_is_no_message_is_answered_with_an_error(
    wire: Any, sent: bytes | str, code: int, identity: Any
) -> None:
    wire.write((sent if isinstance(sent, bytes) else sent.encode()) + b"\n")
    message = wire.receive()
    assert (message["error"]["code"], message["id"]) == (code, identity)
    assert len(message["error"]["message"]) < 100
    still_served(wire)
    assert wire.finish()[2].count("a message was refused") == 1


def test_each_request_of_a_batch_is_answered(wire: Any) -> None:
    wire.write(f"[{REQUEST % ''},{(REQUEST % '').replace('7', '8')},1]\n".encode())
    told = [wire.receive() for _ in range(3)]
    assert [message["id"] for message in told] == [None, 7, 8]
    assert {message["error"]["code"] for message in told} == {-32600}
    still_served(wire)


@pytest.mark.parametrize(
    "text",
    [
        '{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":"%s"}}',
        '{"method":"ping","params":{"a":"%s"},"jsonrpc":"2.0","id":7}',
    ],
)
def test_a_line_that_is_too_long_is_answered_without_being_kept(wire: Any, text: str) -> None:
    wire.write((text % ("x" * 5_000_000)).encode() + b"\n")
    message = wire.receive()
    assert (message["error"]["code"], message["id"]) == (-32600, 7)
    assert "4,194,304" in message["error"]["message"]
    still_served(wire)


def test_blank_lines_and_other_ends_of_lines_are_no_fault(wire: Any) -> None:
    wire.write(b"\n \r\n" + (REQUEST % "").encode() + b"\r\n")
    assert wire.receive()["id"] == 7
    assert wire.finish()[2] == ""


def test_what_was_sent_is_not_in_the_log(wire: Any) -> None:
    wire.write(b'{"jsonrpc":"2.0","never-log-this":1,"never-log-this":2}\nnever-log-this\n')
    for _ in range(2):
        wire.receive()
    assert "never-log-this" not in wire.finish()[2]


def test_a_message_before_the_handshake_is_answered_too(start: Start) -> None:
    wire = start()
    wire.write(b"not json\n")
    assert wire.receive()["error"]["code"] == -32700
    wire.send("ping")
    assert "result" in wire.receive()


def test_the_last_line_needs_no_end(wire: Any) -> None:
    wire.write((REQUEST % "").encode())
    code, rest, _ = wire.finish()
    assert (code, json.loads(rest)["id"]) == (0, 7)
