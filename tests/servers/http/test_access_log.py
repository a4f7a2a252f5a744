"""The lines of the access log, and a reader of them that does not keep up."""

import asyncio
import json
import os
from collections.abc import Iterator

import pytest

from gateway_core.servers.http import access_log
from gateway_core.servers.http.access_log import Access, AccessLog, as_json, as_text

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
    log.add(Access(request_id="one", status=200))
    found = json.loads(await read(pipe[0]))
    assert (found["request_id"], found["status"], found["level"]) == ("one", 200, "info")
    await log.close()


async def test_closing_writes_what_is_left(pipe: tuple[int, int]) -> None:
    log = AccessLog(as_json, pipe[1])
    for number in range(100):
        log.add(Access(request_id=str(number)))
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
        log.add(Access())
    first = await read(pipe[0], 1)
    for _ in range(access_log.MAX_PENDING + 10):
        log.add(Access())
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
    log.add(Access())
    await log.close()
    os.close(writing)


async def test_a_descriptor_that_would_block_is_waited_for(pipe: tuple[int, int]) -> None:
    os.set_blocking(pipe[1], False)
    log = AccessLog(as_json, pipe[1])
    for _ in range(1000):
        log.add(Access())
    found, closing = b"", None
    while found.count(b"\n") < 1000:
        found += await read(pipe[0])
        closing = closing or asyncio.create_task(log.close())
    await closing
    assert found.count(b"\n") == 1000


def test_text_shows_what_is_known_on_one_line() -> None:
    line = as_text(Access(request_id="one", method="POST", status=200, model="a\nb c"))
    assert line.count(b"\n") == 1
    assert b"info [one] s1gw.access: method=POST route=- status=200 model='a\\nb c'" in line


def test_json_has_every_key_whatever_is_known() -> None:
    assert json.loads(as_json(Access())).keys() == json.loads(as_json(Access(org="o"))).keys()


def test_a_model_of_any_length_makes_a_short_line() -> None:
    assert len(as_json(Access(model="m" * 100_000))) < 4096
