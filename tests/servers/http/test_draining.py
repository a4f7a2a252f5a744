"""The end of a gateway is announced, each step is a line, and no request that was sent is lost."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from benchmarks.restarts import FACES, config, restarted
from gateway_core.testing import Gate, Reply, ScriptedUpstream
from gateway_core.testing.process import GatewayProcess

Starter = Callable[..., GatewayProcess]
ANSWER = {"model": "m", "answers": {}, "usage": {}}
BODY = b'{"model": "m", "state": "never-log-this", "questions": {"q": {"type": "noul"}}}'
HEAD = b"POST /v1/systemone HTTP/1.1\r\nhost: localhost\r\ncontent-length: %d\r\n\r\n" % len(BODY)
PATIENCE_S = 60
CLIENTS = 32


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("delay", ["drain_delay_s = 0", "drain_delay_s = 0.3"])
def test_a_restart_loses_no_request_of_clients_that_keep_their_connections(
    start: Starter, upstream: ScriptedUpstream, face: str, workers: str, delay: str
) -> None:
    upstream.answer(Reply(body=ANSWER))
    gateway = start(config(upstream.url, delay), "--auth", "disabled", "--workers", workers)
    found = asyncio.run(restarted(gateway, face, CLIENTS))
    assert gateway.wait() == 0
    assert (found.lost, set(found.statuses)) == (0, {200})


def connect(gateway: GatewayProcess) -> socket.socket:
    return socket.create_connection(("127.0.0.1", gateway.port), PATIENCE_S)


def read_reply(client: socket.socket) -> bytes:
    found = b""
    while piece := client.recv(65536):
        found += piece
    return found


@pytest.mark.parametrize("workers", ["1", "2"])
def test_it_is_not_ready_before_it_takes_no_more(start: Starter, workers: str) -> None:
    text = "[http]\ndrain_delay_s = 1.5\n"
    gateway = start(text, "--auth", "disabled", "--workers", workers)
    with httpx.Client(base_url=gateway.url, timeout=PATIENCE_S) as kept:
        assert kept.get("/readyz").status_code == 200
        gateway.send_signal(signal.SIGTERM)
        gateway.wait_for("requests are taken for another 1.5 s")
        before = httpx.get(f"{gateway.url}/healthz", timeout=PATIENCE_S)
        found = httpx.get(f"{gateway.url}/readyz", timeout=PATIENCE_S)
    assert (before.status_code, before.headers["connection"]) == (200, "close")
    assert found.status_code == 503
    assert found.json()["error"]["code"] == "not_ready"
    assert gateway.wait() == 0


def test_each_step_of_the_end_is_a_line(start: Starter, upstream: ScriptedUpstream) -> None:
    gate = Gate()
    upstream.answer(Reply(body=ANSWER, gate=gate))
    gateway = start(config(upstream.url, "drain_delay_s = 0.1"), "--auth", "disabled")
    with closing(connect(gateway)) as client:
        client.sendall(HEAD + BODY)
        upstream.wait_received()
        gateway.send_signal(signal.SIGTERM)
        gateway.wait_for("draining 1 request, for 30 s at most")
        gate.open()
        assert read_reply(client).startswith(b"HTTP/1.1 200")
    assert gateway.wait() == 0
    steps = ["not ready any more", "draining 1 request", "stopped"]
    places = [gateway.log.index(step) for step in steps]
    assert places == sorted(places)


def test_a_head_that_comes_in_two_pieces_is_answered_at_the_end(
    start: Starter, upstream: ScriptedUpstream
) -> None:
    upstream.answer(Reply(body=ANSWER))
    gateway = start(config(upstream.url, "drain_delay_s = 0.2"), "--auth", "disabled")
    with closing(connect(gateway)) as client, closing(connect(gateway)) as probe:
        client.sendall(HEAD[:20])
        # What is answered after it shows that the first piece was read.
        probe.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        read_reply(probe)
        gateway.send_signal(signal.SIGTERM)
        gateway.wait_for("draining 0 requests")
        client.sendall(HEAD[20:] + BODY)
        reply = read_reply(client)
    assert reply.startswith(b"HTTP/1.1 200")
    assert b"\r\nconnection: close\r\n" in reply
    assert gateway.wait() == 0


def test_requests_in_a_row_are_all_answered_and_the_last_reply_ends_it(
    start: Starter, upstream: ScriptedUpstream
) -> None:
    gate = Gate()
    upstream.answer(Reply(body=ANSWER, gate=gate))
    gateway = start(config(upstream.url), "--auth", "disabled")
    with closing(connect(gateway)) as client:
        client.sendall((HEAD + BODY) * 3)
        upstream.wait_received()
        gateway.send_signal(signal.SIGTERM)
        gateway.wait_for("draining 1 request")
        gate.open()
        found = read_reply(client)
    assert found.count(b"HTTP/1.1 200") == 3
    assert found.count(b"\r\nconnection: close\r\n") == 1
    assert b"connection: close" in found.rpartition(b"HTTP/1.1 200")[2]
    assert gateway.wait() == 0


def test_a_client_that_has_long_been_silent_does_not_hold_up_the_end(start: Starter) -> None:
    gateway = start("", "--auth", "disabled")
    with closing(connect(gateway)) as client:
        client.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
        client.recv(65536)
        assert gateway.stop() == 0
        assert client.recv(1) == b""


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_second_interrupt_ends_it_now(
    start: Starter, upstream: ScriptedUpstream, workers: str
) -> None:
    upstream.answer(Reply(body=ANSWER, gate=Gate()))
    gateway = start(config(upstream.url), "--auth", "disabled", "--workers", workers)
    with closing(connect(gateway)) as client:
        client.sendall(HEAD + BODY)
        upstream.wait_received()
        gateway.send_signal(signal.SIGINT)
        gateway.wait_for("draining 1 request,")
        gateway.send_signal(signal.SIGINT)
        assert gateway.wait() == 130
    assert "ending now" in gateway.log


def test_ctrl_c_while_workers_start_shows_no_traceback(tmp_path: Path) -> None:
    """The terminal sends it to the whole group, workers that have just begun to import included."""
    inherited = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "gateway_core.cli", "serve", "--http", "--port", "0"),
            *("--auth", "disabled", "--workers", "3"),
        ],
        env={**inherited, "S1GW_STATE_DIR": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    log = next(line for line in process.stderr if "listening on" in line)
    os.killpg(process.pid, signal.SIGINT)
    log += process.stderr.read()
    assert process.wait(PATIENCE_S) == 0
    process.stderr.close()
    assert "Traceback" not in log
    assert "KeyboardInterrupt" not in log
