"""Faults of our own: told to nobody but the log, and there without their text."""

import logging
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from pathlib import Path
from subprocess import run
from typing import Any

import attrs
import httpx
import pytest

from gateway_core.config.load import load_config
from gateway_core.door.door import Door
from gateway_core.door.limits.counting import Bounds
from gateway_core.relay.relay import Relay
from gateway_core.servers.http.access_log import AccessLog
from gateway_core.servers.http.app import Application
from gateway_core.servers.http.reply import json_reply, write_reply
from gateway_core.servers.http.services import Services, open_services


class BrokenLimiter:
    """Limits with a fault that nobody expected."""

    def admit(self, bounds: Bounds) -> Any:
        raise LookupError("never-log-this")

    async def aclose(self) -> None:
        pass


@asynccontextmanager
async def broken(config: Path) -> AsyncIterator[Services]:
    async with open_services(load_config(config, {})) as services:
        door = Door(services.registry.loaded.config, None, BrokenLimiter())
        relay = Relay(services.registry, door)
        yield attrs.evolve(services, door=door, relay=relay)


def test_a_fault_of_ours_is_told_without_its_text(
    serve_here: Callable[..., AbstractContextManager[int]],
    caplog: pytest.LogCaptureFixture,
    tmp_path: Path,
) -> None:
    caplog.set_level(logging.INFO)
    config = tmp_path / "config.toml"
    config.write_text('[http]\nauth = "disabled"\n')
    with serve_here(Application(lambda: broken(config), AccessLog(None))) as port:
        url = f"http://127.0.0.1:{port}/v1/systemone"
        found = [httpx.post(url, content=b"never-log-this", timeout=60) for _ in range(2)]
    for reply in found:
        assert (reply.status_code, reply.json()["error"]["code"]) == (500, "internal_error")
        assert reply.headers["x-request-id"]
        assert "never-log-this" not in reply.text
    assert "LookupError at test_faults.py:" in caplog.text
    assert "never-log-this" not in caplog.text


def test_a_key_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "keys.json").write_text("never-log-this")
    command = [sys.executable, "-m", "gateway_core.cli", "serve", "--http", "--port", "0"]
    env = {"S1GW_STATE_DIR": str(tmp_path), "HOME": str(tmp_path)}
    done = run(command, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0
    assert "the key file cannot be read" in done.stderr
    assert "Traceback" not in done.stderr
    assert "never-log-this" not in done.stderr


class Wire:
    """What is written."""

    def __init__(self) -> None:
        self.data = b""

    def write(self, data: bytes) -> None:
        self.data += data

    def writelines(self, pieces: tuple[bytes, ...]) -> None:
        self.data += b"".join(pieces)


@pytest.mark.parametrize("evil", [b"a\r\nset-cookie: b", b"a\nb", b"a\rb", b"a\0b"])
def test_a_header_that_would_end_its_line_is_left_out(evil: bytes) -> None:
    reply, wire = json_reply(200, {}), Wire()
    reply.headers.extend([(b"evil", evil), (b"good", b"yes")])
    write_reply(reply, wire)
    head, _, body = wire.data.partition(b"\r\n\r\n")
    assert head.split(b"\r\n")[1:] == [
        b"connection: close",
        b"content-type: application/json",
        b"good: yes",
        b"content-length: 2",
    ]
    assert body == b"{}"
