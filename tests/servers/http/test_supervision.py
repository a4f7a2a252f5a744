"""The supervisor: workers serve what was checked, and their ends are lines in the log."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from gateway_core.servers.http.supervisor import LONGEST_PAUSE_S, pause_s
from gateway_core.testing import Reply, ScriptedUpstream
from gateway_core.testing.process import GatewayProcess

Starter = Callable[..., GatewayProcess]
PATIENCE_S = 60
ANSWER = {"model": "m", "answers": {}, "usage": {}}
BODY = {"model": "m", "state": "never-log-this", "questions": {"q": {"type": "noul"}}}


def config(upstream: ScriptedUpstream) -> str:
    return f"""
    [http]
    workers = 2
    [providers.fake]
    api_format = "systemone"
    base_url = "{upstream.url}"
    models = ["m"]
    api_key = {{ file = "secret" }}
    """


def workers(gateway: GatewayProcess) -> set[int]:
    """The ids of the processes that serve."""
    children = Path(f"/proc/{gateway.pid}/task/{gateway.pid}/children").read_text().split()
    return {int(child) for child in children if serves(child)}


def serves(pid: str) -> bool:
    try:
        return b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False


def statuses(gateway: GatewayProcess, number: int) -> set[int]:
    return {
        httpx.post(f"{gateway.url}/v1/systemone", json=BODY, timeout=PATIENCE_S).status_code
        for _ in range(number)
    }


def started(start: Starter, upstream: ScriptedUpstream, tmp_path: Path) -> GatewayProcess:
    upstream.answer(Reply(body=ANSWER))
    home = tmp_path / "gateway-0"
    (tmp_path / "secret").write_text("never-log-this-key")
    text = config(upstream).replace('"secret"', f'"{tmp_path}/secret"')
    gateway = start(text, "--auth", "disabled")
    assert (home / "config.toml").exists()
    return gateway


def test_a_worker_that_is_started_again_serves_what_was_checked(
    start: Starter, upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    gateway = started(start, upstream, tmp_path)
    assert statuses(gateway, 4) == {200}
    (tmp_path / "gateway-0" / "config.toml").write_text("[http\n")
    (tmp_path / "secret").write_text("half a")
    for victim in sorted(workers(gateway)):
        os.kill(victim, signal.SIGKILL)
        gateway.wait_for(rf"worker {victim} was killed by SIGKILL; another is started")
    assert statuses(gateway, 20) == {200}
    keys = {received.headers["authorization"] for received in upstream.requests}
    assert keys == {"Bearer never-log-this-key"}


def test_a_worker_that_ends_by_itself_is_replaced_with_its_status_in_the_log(
    start: Starter, upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    gateway = started(start, upstream, tmp_path)
    assert statuses(gateway, 4) == {200}
    victim = max(workers(gateway))
    gateway.wait_for(rf"worker {victim} takes requests")
    os.kill(victim, signal.SIGTERM)
    gateway.wait_for(rf"worker {victim}: stopped")
    gateway.wait_for(rf"worker {victim} ended with status 0; another is started now")
    assert statuses(gateway, 4) == {200}


def test_workers_that_cannot_start_end_the_gateway_before_it_listens(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[plugins]\ndisabled = ["nobody-knows-this"]\n')
    inherited = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    done = subprocess.run(
        [
            *(sys.executable, "-m", "gateway_core.cli", "--config", str(config), "serve", "--http"),
            *("--port", "0", "--auth", "disabled", "--workers", "2"),
        ],
        env={**inherited, "S1GW_STATE_DIR": str(tmp_path), "S1GW_STRICT_PLUGINS": "1"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 3
    assert "nobody-knows-this" in done.stderr
    assert "listening on" not in done.stderr


def test_pauses_grow_in_a_crash_loop_and_are_bounded() -> None:
    pauses = [pause_s(failures) for failures in range(1, 40)]
    assert pauses[:5] == [0.0, 0.5, 1.0, 2.0, 4.0]
    assert pauses == sorted(pauses)
    assert pauses[-1] == LONGEST_PAUSE_S


def test_a_crash_loop_says_how_long_it_waits(
    start: Starter, upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    gateway = started(start, upstream, tmp_path)
    seen: set[int] = set()
    while not re.search(r"another is started in 0\.5 s", gateway.log):
        for victim in workers(gateway) - seen:
            seen.add(victim)
            os.kill(victim, signal.SIGKILL)
    assert statuses(gateway, 4) == {200}


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT])
def test_a_worker_leaves_the_supervisors_signals_to_it(
    start: Starter, upstream: ScriptedUpstream, tmp_path: Path, number: signal.Signals
) -> None:
    gateway = started(start, upstream, tmp_path)
    assert statuses(gateway, 4) == {200}
    before = workers(gateway)
    for worker in before:
        os.kill(worker, number)
    assert statuses(gateway, 4) == {200}
    assert workers(gateway) == before
