"""The lines of the access log, and a reader of them that does not keep up."""

import asyncio
import fcntl
import json
import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from gateway_core.causes import Cause
from gateway_core.door.access import AccessEntry
from gateway_core.http1.messages import HttpReply
from gateway_core.servers.http import access_log
from gateway_core.servers.http.access_log import AccessLog, as_json, as_text, write_lines

pytestmark = pytest.mark.anyio


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe()
    yield reading, writing
    os.close(reading)
    os.close(writing)


async def read(descriptor: int, size: int = 1_000_000) -> bytes:
    return await asyncio.to_thread(os.read, descriptor, size)


async def test_a_line_comes_without_anything_further(pipe: tuple[int, int]) -> None:
    log = AccessLog(as_json, pipe[1])
    log.add(AccessEntry(request_id="one", status=200))
    found = json.loads(await read(pipe[0]))
    assert (found["request_id"], found["status"], found["level"]) == ("one", 200, "info")
    await log.close()


async def test_closing_writes_what_is_left(pipe: tuple[int, int]) -> None:
    log = AccessLog(as_json, pipe[1])
    for number in range(100):
        log.add(AccessEntry(request_id=str(number)))
    closing = asyncio.create_task(log.close())
    found = b""
    while found.count(b"\n") < 100:
        found += await read(pipe[0])
    await closing
    assert [json.loads(line)["request_id"] for line in found.splitlines()] == [
        str(number) for number in range(100)
    ]


async def test_a_reader_that_is_stuck_holds_nobody_up_and_memory_down(
    pipe: tuple[int, int], caplog: pytest.LogCaptureFixture
) -> None:
    log = AccessLog(as_json, pipe[1])
    # More than a pipe takes: the thread that writes is stuck from here on.
    for _ in range(1000):
        log.add(AccessEntry())
    first = await read(pipe[0], 1)
    for _ in range(access_log.MAX_PENDING + 10):
        log.add(AccessEntry())
    closing = asyncio.create_task(log.close())
    total = 1000 + access_log.MAX_PENDING
    lines = first.count(b"\n")
    while lines < total:
        lines += (await read(pipe[0])).count(b"\n")
    await closing
    assert lines == total
    assert "10 lines of the access log were dropped" in caplog.text


async def test_a_reader_that_left_is_no_fault() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    log = AccessLog(as_json, writing)
    log.add(AccessEntry())
    await log.close()
    os.close(writing)


async def test_a_descriptor_that_would_block_is_waited_for(pipe: tuple[int, int]) -> None:
    os.set_blocking(pipe[1], False)
    log = AccessLog(as_json, pipe[1])
    for _ in range(1000):
        log.add(AccessEntry())
    found, closing = b"", None
    while found.count(b"\n") < 1000:
        found += await read(pipe[0])
        closing = closing or asyncio.create_task(log.close())
    await closing
    assert found.count(b"\n") == 1000


FULL = AccessEntry(
    time="2026-01-02T03:04:05.678+00:00",
    request_id="one",
    method="POST",
    route="/v1/systemone",
    status=200,
    key="0123456789ab",
    org="acme",
    dialect="typesafe",
    provider="mine",
    model="mine/jev",
    sent_model="jev",
    upstream_status=200,
    bytes_in=10,
    bytes_out=20,
    latency_ms=1.25,
    upstream_ms=1.125,
    input_tokens=3,
)


def test_json_has_its_keys_in_their_order() -> None:
    assert as_json([FULL, FULL]) == 2 * (
        b'{"time":"2026-01-02T03:04:05.678+00:00","level":"info","request_id":"one",'
        b'"logger":"s1gw.access","method":"POST","route":"/v1/systemone","status":200,"code":null,'
        b'"key":"0123456789ab","org":"acme","dialect":"typesafe","provider":"mine",'
        b'"model":"mine/jev","sent_model":"jev","upstream_status":200,"cause":null,"bytes_in":10,'
        b'"bytes_out":20,"latency_ms":1.25,"upstream_ms":1.125,"input_tokens":3,'
        b'"output_tokens":null}\n'
    )


def test_text_has_the_same_without_what_is_not_known() -> None:
    assert as_text([FULL, FULL]) == 2 * (
        b"2026-01-02T03:04:05.678+00:00 info [one] s1gw.access: method=POST route=/v1/systemone"
        b" status=200 key=0123456789ab org=acme dialect=typesafe provider=mine model=mine/jev"
        b" sent_model=jev upstream_status=200 bytes_in=10 bytes_out=20 latency_ms=1.25"
        b" upstream_ms=1.125 input_tokens=3\n"
    )


def test_text_is_one_line_whatever_a_model_is_called() -> None:
    line = as_text([AccessEntry(model="a\nb c")])
    assert line.count(b"\n") == 1
    assert b"model='a\\nb c'" in line


def test_a_line_tells_when_the_request_came() -> None:
    before = datetime.now(UTC) - timedelta(milliseconds=1)
    told = AccessEntry().time
    assert before <= datetime.fromisoformat(told) <= datetime.now(UTC)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", told)


@pytest.mark.parametrize("sizes", [[10] * 2000, [5000, 10, 5000], [4095, 10], [4096, 1, 4097]])
async def test_only_whole_lines_are_written_at_once(
    pipe: tuple[int, int], sizes: list[int]
) -> None:
    lines = b"".join(b"x" * (size - 1) + b"\n" for size in sizes)
    # A packet is what one write took (pipe(2), O_DIRECT), but for lines longer than a packet.
    fcntl.fcntl(pipe[1], fcntl.F_SETFL, os.O_DIRECT)
    writing = asyncio.create_task(asyncio.to_thread(write_lines, lines, pipe[1]))
    found: list[bytes] = []
    while sum(map(len, found)) < len(lines):
        found.append(await read(pipe[0]))
    await writing
    assert b"".join(found) == lines
    assert all(piece.endswith(b"\n") or len(piece) == 4096 for piece in found)
    assert len(found) <= len(sizes) // 2 + 4


def test_a_reply_is_shown_without_its_body() -> None:
    reply = HttpReply(status=200, headers=[(b"a", b"b")], body=b"told in confidence")
    assert repr(reply) == "HttpReply(status=200, headers=[(b'a', b'b')], 18 bytes)"


LEVELS = {
    "well": (200, None, None, "info"),
    "the caller's fault": (400, "invalid_request", None, "info"),
    "refused by the upstream": (422, "upstream_rejected", Cause.STATUS, "info"),
    "over our limit": (429, "rate_limit_exceeded", None, "info"),
    "over the upstream's limit": (429, "rate_limit_exceeded", Cause.STATUS, "warning"),
    "a key that is not accepted": (403, "provider_key_rejected", Cause.STATUS, "warning"),
    "a failing upstream": (502, "upstream_error", Cause.DNS, "warning"),
    "a slow upstream": (504, "gateway_timeout", Cause.READ_TIMEOUT, "warning"),
    "a failing upstream of a question": (502, "malformed_response", None, "warning"),
    "our own fault": (500, "internal_error", None, "error"),
    "no limits": (503, "limits_unavailable", None, "error"),
}


@pytest.mark.parametrize(("status", "code", "cause", "level"), LEVELS.values(), ids=LEVELS.keys())
async def test_the_level_of_a_line_says_whose_fault_it_is(
    pipe: tuple[int, int], status: int, code: str | None, cause: Cause | None, level: str
) -> None:
    log = AccessLog(as_json, pipe[1], least="warning")
    log.add(AccessEntry(status=status, code=code, cause=cause))
    await log.close()
    write_lines(b"{}\n", pipe[1])
    *found, _ = (await read(pipe[0])).splitlines()
    assert [json.loads(line)["level"] for line in found] == [level] * (level != "info")


async def test_probes_have_lines_only_where_asked_for(pipe: tuple[int, int]) -> None:
    for probes in (False, True):
        log = AccessLog(as_json, pipe[1], probes=probes)
        for route in ("/healthz", "/readyz"):
            log.add(AccessEntry(route=route, status=200, request_id=str(probes)))
        log.add(AccessEntry(route="/health", request_id=str(probes)))
        await log.close()
    ids = [json.loads(line)["request_id"] for line in (await read(pipe[0])).splitlines()]
    assert ids == ["False"] + ["True"] * 3


def test_no_line_holds_characters_that_hide_or_end_it() -> None:
    name = "\u202e\u2028\x85\x7f\U000e0041ä"
    line = as_json([AccessEntry(model=name), AccessEntry(model="\x7f")]).decode()
    assert line.count("\n") == 2
    assert line.replace("\n", "").isprintable()
    assert json.loads(line.splitlines()[0])["model"] == name
    assert as_text([AccessEntry(model=name)]).decode()[:-1].isprintable()
