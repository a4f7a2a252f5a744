"""The process: what is on the wire, many calls at once, and every way to end."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gateway_core.servers.mcp.in_flight import MOST
from gateway_core.testing import Gate, Raw, Reply, ScriptedUpstream

Start = Callable[..., Any]
COMMAND = (sys.executable, "-m", "gateway_core.cli", "serve", "--mcp")
ASK = {"question": "Is this urgent?"}
NOUL = {"model": "m", "answers": {"decision": {"type": "noul", "noul": 0.9}}}
NOISY = """
import os, sys
print("noise from print")
os.write(1, b"noise from a write\\n")
os.system("echo noise from a child")
from gateway_core import *

class Provider:
    def __init__(self, context):
        sys.__stdout__.write("noise that nobody flushes")

    @hookimpl
    def capabilities(self):
        return Capabilities(formats=frozenset({Format.SYSTEMONE}), keyless=True)

    @hookimpl
    def build_url(self, operation):
        return "https://up.example/v1/systemone"

    @hookimpl
    async def decide(self):
        print("noise while deciding")
        return DecisionReply(body=b'{"answers":{"decision":{"type":"noul","noul":0.9}}}')
"""


def test_stdout_carries_the_protocol_and_nothing_else_whatever_a_plugin_prints(
    home: Any, start: Start
) -> None:
    home.install("noisy", NOISY)
    home.configure('[decide]\nchain = ["noisy"]\n')
    wire = start()
    wire.shake_hands()
    wire.call("system1_decide", **ASK)
    reply = wire.receive()["result"]["structuredContent"]
    assert (reply["status"], reply["provider"]) == ("decided", "noisy")
    code, rest, errors = wire.finish()
    assert (code, rest) == (0, "")
    for noise in ("print", "a write", "a child", "deciding", "nobody flushes"):
        assert noise in errors


def test_the_end_of_stdin_ends_it_cleanly(start: Start) -> None:
    wire = start()
    wire.shake_hands()
    assert wire.finish() == (0, "", "")


def test_a_client_that_never_speaks_is_no_fault(start: Start) -> None:
    assert start().finish() == (0, "", "")


@pytest.mark.anyio
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it_cleanly_and_cancels_what_is_under_way(
    start: Start, one_provider: ScriptedUpstream, number: signal.Signals
) -> None:
    one_provider.answer(Reply(body=NOUL, gate=Gate()))
    wire = start()
    wire.shake_hands()
    wire.call("system1_decide", **ASK)
    await one_provider.received()
    wire.process.send_signal(number)
    await one_provider.disconnected()
    assert wire.process.wait(timeout=30) == 0
    code, rest, errors = wire.finish()
    assert code == 0
    assert all("error" in json.loads(line) for line in rest.splitlines())
    assert "Traceback" not in errors


@pytest.mark.anyio
async def test_a_cancelled_request_cancels_the_upstream_call(
    start: Start, one_provider: ScriptedUpstream
) -> None:
    one_provider.queue(Reply(body=NOUL, gate=Gate()))
    one_provider.answer(Reply(body=NOUL))
    wire = start()
    wire.shake_hands()
    identity = wire.call("system1_decide", **ASK)
    await one_provider.received()
    wire.notify("notifications/cancelled", {"requestId": identity})
    await one_provider.disconnected()
    wire.call("system1_decide", **ASK)
    answered = [wire.receive()]
    if answered[0]["id"] == identity:
        answered.append(wire.receive())
    assert answered[-1]["result"]["structuredContent"]["status"] == "decided"


@pytest.mark.anyio
async def test_many_calls_are_served_at_once(start: Start, one_provider: ScriptedUpstream) -> None:
    gate = Gate()
    one_provider.answer(Reply(body=NOUL, gate=gate))
    wire = start()
    wire.shake_hands()
    asked = {wire.call("system1_decide", **ASK, request_id=f"r-{n}"): f"r-{n}" for n in range(32)}
    await one_provider.received(32)
    wire.call("system1_capabilities")
    assert "chain" in wire.receive()["result"]["structuredContent"]
    gate.open()
    for _ in range(32):
        message = wire.receive()
        reply = message["result"]["structuredContent"]
        assert (reply["status"], reply["request_id"]) == ("decided", asked.pop(message["id"]))
    assert asked == {}


def test_a_reply_comes_within_the_deadline(home: Any, start: Start, upstream: Any) -> None:
    upstream.answer(Raw(hold=True))
    home.configure(
        '[decide]\nchain = ["up"]\ntimeout_s = 30\ndeadline_s = 0.5\n[providers.up]\n'
        f'api_format = "systemone"\nbase_url = "{upstream.url}"\n'
    )
    wire = start()
    wire.shake_hands()
    wire.call("system1_decide", **ASK)
    reply = wire.receive()["result"]["structuredContent"]
    assert reply["error"]["code"] == "provider_timeout"
    assert 400 < reply["latency_ms"] < 20_000


def test_a_broken_configuration_is_reported_and_stops_nothing(home: Any, start: Start) -> None:
    home.configure('[decide]\nchain = ["ghost"]\ntimeout = 3\n[providers.x]\nmodles = ["m"]\n')
    wire = start()
    wire.shake_hands()
    wire.call("system1_health")
    health = wire.receive()["result"]["structuredContent"]
    text = json.dumps(health["config_errors"])
    assert health["status"] == "down"
    assert all(word in text for word in ("ghost", "timeout", "modles"))
    wire.call("system1_capabilities")
    assert wire.receive()["result"]["structuredContent"]["config_errors"]
    wire.call("system1_decide", **ASK)
    found = wire.receive()["result"]
    assert found["isError"]
    assert found["structuredContent"]["error"]["code"] == "config_error"


def test_a_running_server_sees_at_once_that_it_is_paused(
    home: Any, start: Start, one_provider: ScriptedUpstream
) -> None:
    wire = start()
    wire.shake_hands()
    home.pause()
    wire.call("system1_decide", **ASK)
    reply = wire.receive()["result"]["structuredContent"]
    assert (reply["status"], reply["reason"]) == ("abstained", "paused")
    assert "paused" in reply["rationale"]
    wire.call("system1_health")
    assert wire.receive()["result"]["structuredContent"]["status"] == "paused"


def test_an_automatic_chain_that_leaves_the_machine_is_announced_once(
    home: Any, start: Start
) -> None:
    home.more["TYPESAFE_API_KEY"] = "tsk-secret"
    wire = start()
    wire.shake_hands()
    for _ in range(2):
        wire.call("system1_capabilities")
        assert "typesafe" in wire.receive()["result"]["structuredContent"]["chain"]
    _, _, errors = wire.finish()
    assert errors.count("api.typesafe.ai") == 1
    assert "tsk-secret" not in errors


def test_every_line_on_stderr_carries_the_requests_id(
    start: Start, one_provider: ScriptedUpstream
) -> None:
    wire = start()
    wire.shake_hands()
    wire.call("system1_decide", **ASK, request_id="mine-1")
    wire.receive()
    _, _, errors = wire.finish()
    lines = [line for line in errors.splitlines() if "decided" in line]
    assert lines
    assert all("mine-1" in line for line in errors.splitlines())
    assert "urgent" not in errors


def test_faults_end_it_at_once_where_the_operator_wants_that(home: Any, start: Start) -> None:
    home.more["S1GW_STRICT_PLUGINS"] = "1"
    path = home.configure("[decide]\ntimeout = 3\n")
    wire = start(sys.executable, "-m", "gateway_core.cli", "--config", str(path), "serve", "--mcp")
    assert wire.process.wait(timeout=60) == 1
    _, rest, errors = wire.finish()
    assert rest == ""
    assert "decide.timeout" in errors
    assert "Traceback" not in errors


def test_a_client_that_reads_no_more_ends_it_without_complaint(
    start: Start, one_provider: ScriptedUpstream
) -> None:
    wire = start()
    wire.shake_hands()
    wire.process.stdout.close()
    wire.call("system1_decide", **ASK)
    assert wire.process.wait(timeout=60) == 0
    assert b"Traceback" not in wire.process.stderr.read()


SLOW = """
import os
open(os.environ["SLOW_BEGUN"], "w").close()
open(os.environ["SLOW_MAY_END"]).close()
class Provider: ...
"""


def test_a_plugin_that_is_slow_to_import_holds_nobody_else_up(home: Any, start: Start) -> None:
    begun, may_end = home.folder / "begun", home.folder / "may-end"
    for path in (begun, may_end):
        os.mkfifo(path)
    home.more |= {"SLOW_BEGUN": str(begun), "SLOW_MAY_END": str(may_end)}
    home.install("slow", SLOW)
    home.configure('[decide]\nchain = ["slow"]\n')
    wire = start()
    wire.shake_hands()
    decided = wire.call("system1_decide", **ASK)
    with begun.open():
        pinged = wire.send("ping")
    assert wire.receive() == {"jsonrpc": "2.0", "id": pinged, "result": {}}
    with may_end.open("w"):
        pass
    answered = wire.receive()
    assert answered["id"] == decided
    assert answered["result"]["structuredContent"]["error"]["code"] == "config_error"


def test_calls_that_were_read_are_answered_before_the_end(
    start: Start, one_provider: ScriptedUpstream
) -> None:
    wire = start()
    wire.shake_hands()
    asked = {wire.call("system1_decide", **ASK) for _ in range(40)}
    code, rest, errors = wire.finish()
    replies = [json.loads(line) for line in rest.splitlines()]
    assert code == 0
    assert {reply["id"] for reply in replies} == asked
    assert {reply["result"]["structuredContent"]["status"] for reply in replies} == {"decided"}
    assert "Traceback" not in errors


def test_a_file_can_be_the_input(home: Any, one_provider: ScriptedUpstream, tmp_path: Path) -> None:
    client = {"name": "test", "version": "1"}
    asked = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
    messages = [
        {"id": 1, "method": "initialize", "params": asked},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "system1_decide", "arguments": ASK}},
    ]
    lines = [json.dumps({"jsonrpc": "2.0", **message}) for message in messages]
    (tmp_path / "input").write_text("\n".join(lines))
    with (tmp_path / "input").open("rb") as file:
        done = subprocess.run(
            COMMAND, env=home.environ, stdin=file, capture_output=True, timeout=60, check=True
        )
    last = json.loads(done.stdout.splitlines()[-1])
    assert (last["id"], last["result"]["structuredContent"]["status"]) == (2, "decided")


@pytest.mark.anyio
async def test_calls_under_way_are_bounded_and_the_others_come_after(
    start: Start, one_provider: ScriptedUpstream
) -> None:
    gate = Gate()
    one_provider.answer(Reply(body=NOUL, gate=gate))
    wire = start()
    wire.shake_hands()
    asked = {wire.call("system1_decide", **ASK) for _ in range(MOST + 50)}
    await one_provider.received(MOST)
    wire.call("system1_capabilities")
    gate.open()
    await one_provider.received(MOST + 50)
    found = [wire.receive() for _ in range(MOST + 51)]
    assert asked < {message["id"] for message in found}


def test_a_client_that_never_reads_is_held_back_and_outlived_by_no_server(start: Start) -> None:
    wire = start()
    wire.shake_hands()
    descriptor = wire.process.stdin.fileno()
    os.set_blocking(descriptor, False)
    message = b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}\n' * 100
    sent = 0
    while select.select([], [descriptor], [], 3)[1]:
        sent += os.write(descriptor, message)
    # The pipe is full: what it took would make replies of far more than this machine has.
    assert sent < 4_000_000
    assert _resident(wire.process.pid) < 400_000_000
    wire.process.send_signal(signal.SIGTERM)
    assert wire.process.wait(timeout=30) == 0


def _resident(process: int) -> int:
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.anyio
async def test_a_cancelled_call_leaves_a_line(start: Start, one_provider: ScriptedUpstream) -> None:
    one_provider.answer(Reply(body=NOUL, gate=Gate()))
    wire = start()
    wire.shake_hands()
    identity = wire.call("system1_decide", **ASK, request_id="mine-1")
    await one_provider.received()
    wire.notify("notifications/cancelled", {"requestId": identity})
    await one_provider.disconnected()
    code, rest, errors = wire.finish()
    assert (code, rest) == (0, "")
    assert "[mine-1] s1gw.decide: cancelled after" in errors


def test_a_gateway_that_could_not_be_opened_is_opened_by_the_next_call(
    home: Any, start: Start, one_provider: ScriptedUpstream
) -> None:
    """Its first try fails for want of a descriptor, as in a machine that is short of them."""
    code = (
        "import asyncio, errno, os\n"
        "from gateway_core.config import load\n"
        "usual, left = load.load_config, [1]\n"
        "def scarce(*args):\n"
        "    if left.pop(): left.append(0); raise OSError(errno.EMFILE, 'too many open files')\n"
        "    left.append(0); return usual(*args)\n"
        "load.load_config = scarce\n"
        "from gateway_core.servers.mcp import serve; serve()"
    )
    wire = start(sys.executable, "-c", code)
    wire.shake_hands()
    found = []
    while not found or "error" in found[-1]:
        wire.call("system1_decide", **ASK)
        found.append(wire.receive())
        assert len(found) < 4
    assert found[-1]["result"]["structuredContent"]["status"] == "decided"
    assert "the gateway could not be opened: OSError" in wire.finish()[2]
