"""The server as a process: what it refuses to start with, how it ends, and its log."""

import asyncio
import json
import re
import signal
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
import trustme

from gateway_core.testing import Gate, Reply, ScriptedUpstream
from gateway_core.testing.process import GatewayProcess

Starter = Callable[..., GatewayProcess]
BODY = {"model": "m", "state": "never-log-this", "questions": {"q": {"type": "noul"}}}
ANSWER = {"model": "m", "answers": {}, "usage": {"input_tokens": 12, "output_tokens": 3}}


@pytest.fixture
def upstream() -> Iterator[ScriptedUpstream]:
    with ScriptedUpstream() as found:
        found.answer(Reply(body=ANSWER))
        yield found


def config(upstream: ScriptedUpstream, *lines: str) -> str:
    provider = f"""
[providers.fake]
api_format = "systemone"
base_url = "{upstream.url}"
models = ["m"]
"""
    return "\n".join(lines) + provider


def ask(gateway: GatewayProcess, **options: Any) -> httpx.Response:
    return httpx.post(f"{gateway.url}/v1/systemone", json=BODY, timeout=60, **options)


class Call(threading.Thread):
    """One call in a thread of its own."""

    def __init__(self, gateway: GatewayProcess) -> None:
        super().__init__()
        self.gateway = gateway
        self.start()

    def run(self) -> None:
        self.found = ask(self.gateway)

    def result(self) -> httpx.Response:
        self.join(60)
        return self.found


def wait_until_nothing_is_taken(gateway: GatewayProcess) -> None:
    while True:
        try:
            httpx.get(f"{gateway.url}/healthz", timeout=60)
        except httpx.TransportError:
            return


@pytest.fixture
def secured(
    start: Starter, upstream: ScriptedUpstream, tmp_path: Path
) -> tuple[GatewayProcess, ssl.SSLContext]:
    """A gateway that serves TLS, and what trusts it."""
    authority = trustme.CA()
    issued = authority.issue_cert("127.0.0.1")
    chain, key = tmp_path / "chain.pem", tmp_path / "key.pem"
    chain.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
    issued.private_key_pem.write_to_path(str(key))
    files = ("--tls-certificate", str(chain), "--tls-key", str(key))
    trust = ssl.create_default_context()
    authority.configure_trust(trust)
    return start(config(upstream), "--auth", "disabled", *files), trust


def test_it_serves_tls(secured: tuple[GatewayProcess, ssl.SSLContext]) -> None:
    gateway, trust = secured
    assert gateway.url.startswith("https://")
    assert ask(gateway, verify=trust).json() == ANSWER


def test_a_refusal_is_read_over_tls_as_well(secured: tuple[GatewayProcess, ssl.SSLContext]) -> None:
    gateway, trust = secured
    plain = socket.create_connection(("127.0.0.1", gateway.port), 60)
    with trust.wrap_socket(plain, server_hostname="127.0.0.1") as client:
        client.sendall(b"GET /healthz HTTP/1.1\r\na: " + b"x" * 3_000_000)
        assert client.recv(12) == b"HTTP/1.1 431"


@pytest.mark.parametrize("workers", ["1", "2"])
def test_what_is_under_way_is_finished_and_nothing_more_is_taken(
    start: Starter, upstream: ScriptedUpstream, workers: str
) -> None:
    gate = Gate()
    upstream.answer(Reply(body=ANSWER, gate=gate))
    gateway = start(config(upstream), "--auth", "disabled", "--workers", workers)
    calls = [Call(gateway) for _ in range(4)]
    upstream.wait_received(4)
    gateway.send_signal(signal.SIGTERM)
    wait_until_nothing_is_taken(gateway)
    gate.open()
    found = [call.result() for call in calls]
    assert [(reply.status_code, reply.headers["connection"]) for reply in found] == [
        (200, "close")
    ] * 4
    assert gateway.wait() == 0
    assert gateway.log.count("status=200") >= 4


def test_draining_is_bounded(start: Starter, upstream: ScriptedUpstream) -> None:
    upstream.answer(Reply(body=ANSWER, gate=Gate()))
    gateway = start(config(upstream, "[http]", "drain_s = 0.1"), "--auth", "disabled")
    call = Call(gateway)
    upstream.wait_received()
    assert gateway.stop() == 0
    assert call.result().status_code == 503
    assert call.result().headers["retry-after"] == "1"
    assert "status=503" in gateway.log


@pytest.mark.anyio
@pytest.mark.parametrize("size", [10, 1_000_000], ids=["small", "large"])
async def test_a_client_that_leaves_takes_its_upstream_call_along(
    start: Starter, upstream: ScriptedUpstream, size: int
) -> None:
    upstream.answer(Reply(body=ANSWER, gate=Gate()))
    gateway = await asyncio.to_thread(start, config(upstream), "--auth", "disabled")
    body = json.dumps({**BODY, "more": "x" * size}).encode()
    _, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
    head = f"POST /v1/systemone HTTP/1.1\r\nhost: localhost\r\ncontent-length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    await upstream.received()
    writer.close()
    await upstream.disconnected()
    await asyncio.to_thread(gateway.wait_for, "status=499 .*provider=fake")


def test_a_client_that_leaves_amid_its_body_is_noted(start: Starter) -> None:
    gateway = start("", "--auth", "disabled")
    with closing(socket.create_connection(("127.0.0.1", gateway.port))) as client:
        client.sendall(
            b"POST /v1/systemone HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\nab"
        )
    gateway.wait_for("status=499")


def test_each_request_is_one_line_of_json(start: Starter, upstream: ScriptedUpstream) -> None:
    text = config(upstream, "[log]", 'format = "json"')
    gateway = start(text, "--auth", "disabled")
    reply = ask(gateway, headers={"x-request-id": "my-id", "authorization": "never-log-this"})
    gateway.stop()
    line = next(json.loads(line) for line in gateway.log.splitlines() if "my-id" in line)
    times = {name: line.pop(name) for name in ("time", "latency_ms", "upstream_ms")}
    assert 0 < times["upstream_ms"] <= times["latency_ms"]
    assert all(round(times[name], 3) == times[name] for name in ("latency_ms", "upstream_ms"))
    assert line == {
        "level": "info",
        "request_id": "my-id",
        "logger": "s1gw.access",
        "method": "POST",
        "route": "/v1/systemone",
        "status": 200,
        "code": None,
        "key": None,
        "org": None,
        "dialect": "generic-systemone",
        "provider": "fake",
        "model": "m",
        "sent_model": "m",
        "upstream_status": 200,
        "cause": None,
        "bytes_in": int(reply.request.headers["content-length"]),
        "bytes_out": len(reply.content),
        "input_tokens": 12,
        "output_tokens": 3,
    }


def test_no_line_is_lost_when_it_ends(start: Starter, upstream: ScriptedUpstream) -> None:
    text = config(upstream, "[log]", "probes = true")
    gateway = start(text, "--auth", "disabled", "--workers", "2")
    with httpx.Client(base_url=gateway.url, timeout=60) as client:
        ids = [f"call-{number}-" for number in range(300)]
        for own_id in ids:
            client.get("/healthz", headers={"x-request-id": own_id})
    gateway.stop()
    assert all(own_id in gateway.log for own_id in ids)
    assert all(line.startswith("20") for line in gateway.log.splitlines())


def test_no_level_logs_a_body_or_a_key(start: Starter, upstream: ScriptedUpstream) -> None:
    text = config(upstream, "[log]", 'level = "debug"')
    gateway = start(text, "--auth", "disabled")
    ask(gateway, headers={"authorization": "Bearer never-log-this"})
    gateway.stop()
    assert "s1gw.access" in gateway.log


def test_workers_share_the_port(start: Starter) -> None:
    gateway = start("", "--auth", "disabled", "--workers", "2")
    assert all(httpx.get(f"{gateway.url}/healthz", timeout=60).is_success for _ in range(20))


def test_an_idle_gateway_is_small(start: Starter) -> None:
    gateway = start("", "--auth", "disabled")
    httpx.get(f"{gateway.url}/readyz", timeout=60)
    memory = Path(f"/proc/{gateway.pid}/status").read_text()
    resident_kb = int(re.search(r"VmRSS:\s+(\d+) kB", memory)[1])
    assert resident_kb <= 80 * 1024


def test_workers_end_with_a_supervisor_that_is_killed(
    start: Starter, upstream: ScriptedUpstream
) -> None:
    gate = Gate()
    upstream.answer(Reply(body=ANSWER, gate=gate))
    gateway = start(config(upstream), "--auth", "disabled", "--workers", "2")
    call = Call(gateway)
    upstream.wait_received()
    gateway.send_signal(signal.SIGKILL)
    wait_until_nothing_is_taken(gateway)
    gate.open()
    assert call.result().status_code == 200
    assert gateway.wait() == -signal.SIGKILL


def test_a_store_that_is_down_can_be_a_reason_to_refuse(start: Starter) -> None:
    limited = """
    [http]
    limits_store = { env = "STORE" }
    limits_store_down = "refuse"
    [orgs.acme.limits]
    rpm = 5
    """
    gateway = start(limited, env={"STORE": "redis://:never-log-this@127.0.0.1:9/0"})
    key = {"x-api-key": gateway.key(org="acme")}
    found = httpx.get(f"{gateway.url}/v1/decisions/models", headers=key, timeout=60)
    assert (found.status_code, found.json()["error"]["code"]) == (503, "limits_unavailable")
    assert int(found.headers["retry-after"]) > 0
    gateway.wait_for("the limits store is down")
