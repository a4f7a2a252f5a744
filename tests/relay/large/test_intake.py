"""Large bodies are decoded and checked by another process, with the same result as small ones."""

import asyncio
import gzip
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from backports import zstd

from gateway_core.door.access import AccessEntry
from gateway_core.door.bodies import BodyLimit
from gateway_core.errors import RelayRefused
from gateway_core.relay.body import DecisionBody
from gateway_core.relay.large.checking import Checkers
from gateway_core.relay.large.intake import Intake

pytestmark = pytest.mark.anyio
MEBIBYTE = 1024 * 1024
LIMIT = 32 * MEBIBYTE
JSON = {b"content-type": b"application/json"}


class Body:
    """A body in pieces."""

    def __init__(self, content: bytes, size: int = 65_536) -> None:
        self._pieces = [content[at : at + size] for at in range(0, len(content), size)]

    def take(self) -> bytes | None:
        return None

    async def more(self) -> Sequence[bytes]:
        await asyncio.sleep(0)
        return [self._pieces.pop(0)] if self._pieces else []


def large(**members: Any) -> bytes:
    body = {"state": "é" * MEBIBYTE, "model": "m", "questions": {"q": {}}, **members}
    return json.dumps(body, ensure_ascii=False).encode()


@pytest.fixture
async def intake() -> AsyncIterator[Intake]:
    found = Intake(4 * LIMIT, Checkers(1))
    yield found
    assert found.held == 0
    await found.aclose()


async def read(intake: Intake, content: bytes, headers: dict[bytes, bytes] = JSON) -> DecisionBody:
    async with intake.decision(
        "acme", headers, Body(content), BodyLimit(LIMIT), AccessEntry()
    ) as found:
        assert intake.held >= len(found.content)
        return found


async def refused(intake: Intake, content: bytes, headers: dict[bytes, bytes] = JSON) -> str:
    with pytest.raises(RelayRefused) as caught:
        await read(intake, content, headers)
    return f"{caught.value.reason}: {caught.value}"


@pytest.mark.parametrize("encoding", ["", "gzip", "zstd"])
async def test_a_large_body_goes_on_as_it_is_but_for_its_model(
    intake: Intake, encoding: str
) -> None:
    content = large(model="mé\ud800".encode("utf-8", "ignore").decode())
    pack = {"": bytes, "gzip": gzip.compress, "zstd": zstd.compress}[encoding]
    headers = JSON | ({b"content-encoding": encoding.encode()} if encoding else {})
    body = await read(intake, pack(content), headers)
    assert (body.model, body.format, body.content) == ("mé", "systemone", content)
    assert body.naming("other") == content.replace('"mé"'.encode(), b'"other"')


async def test_a_large_form_goes_on_as_it_is_but_for_its_model(intake: Intake) -> None:
    head = b'--b\r\ncontent-disposition: form-data; name="request"\r\n\r\n'
    content = head + large() + b"\r\n--b--\r\n"
    body = await read(intake, content, {b"content-type": b"multipart/form-data; boundary=b"})
    assert body.multipart
    assert body.naming("other") == content.replace(b'"m"', b'"other"')


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (large()[:-1], "invalid_request: the body is not valid JSON"),
        (b"[" * MEBIBYTE, "invalid_request"),
        (b"\xff" * MEBIBYTE, "invalid_request"),
        (large(model=" "), "invalid_request: model must be a non-blank string"),
        (large(questions=1), "invalid_request: questions must be"),
        (b'{"a":1,' * MEBIBYTE, "invalid_request"),
        (zstd.compress(bytes(10 * LIMIT)), "invalid_request"),
    ],
)
async def test_a_large_body_is_refused_like_a_small_one(
    intake: Intake, content: bytes, said: str
) -> None:
    assert (await refused(intake, content)).startswith(said)


async def test_a_bomb_is_refused(intake: Intake) -> None:
    headers = JSON | {b"content-encoding": b"zstd"}
    said = await refused(intake, zstd.compress(bytes(10 * LIMIT)), headers)
    assert said.startswith("request_too_large")


async def test_a_body_for_which_there_is_no_room_is_refused() -> None:
    intake = Intake(MEBIBYTE, Checkers(1))
    assert (await refused(intake, large())).startswith("provider_overloaded")
    packed = gzip.compress(large())
    said = await refused(intake, packed, JSON | {b"content-encoding": b"gzip"})
    assert said.startswith("provider_overloaded")
    assert intake.held == 0
    await intake.aclose()


async def test_a_client_that_leaves_holds_nothing(intake: Intake) -> None:
    for steps in range(0, 60, 7):
        task = asyncio.create_task(read(intake, large()))
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        assert intake.held == 0
    assert (await read(intake, large())).model == "m"


@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells who was started")
async def test_a_process_that_ends_is_started_anew(intake: Intake) -> None:
    others = set(_children())
    await read(intake, large())
    (child,) = set(_children()) - others
    os.kill(child, signal.SIGKILL)
    while child in _children() and _state(child) != "Z":
        pass
    assert (await read(intake, large())).model == "m"
    assert len(set(_children()) - others - {child}) == 1


def _children() -> list[int]:
    own = os.getpid()
    tasks = Path(f"/proc/{own}/task").iterdir()
    return [int(word) for task in tasks for word in (task / "children").read_text().split()]


def _state(process: int) -> str:
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]


@pytest.mark.parametrize("content", [large(), large(a=list(range(500_000)))])
async def test_the_event_loop_goes_on_while_a_large_body_is_checked(
    intake: Intake, content: bytes
) -> None:
    content = content.ljust(8 * MEBIBYTE)
    task, turns = asyncio.create_task(read(intake, content)), 0
    while not task.done():
        await asyncio.sleep(0)
        turns += 1
    await asyncio.wait([task])
    assert turns > 200
