"""Starting what is measured, on a core of its own, and reading what it cost."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import attrs

GATEWAY_CORE: Final = "0"
LOAD_CORE: Final = "1"
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_READY_S: Final = 120


@attrs.frozen
class Cost:
    """What a process tree has used: CPU seconds, and resident memory in bytes."""

    cpu_s: float
    memory: int


def need(program: str) -> str:
    """Return a program's path; say what to install when it is not there."""
    found = shutil.which(program) or shutil.which(program, path="/usr/sbin")
    if found is None:
        sys.exit(f"make bench needs {program}: apt-get install nginx-light wrk")
    return found


def free_port() -> int:
    """Return a loopback port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def running(
    command: Sequence[str], port: int, core: str, environment: Mapping[str, str] | None = None
) -> Iterator[int]:
    """Run ``command`` on ``core`` until it listens on ``port``; yield its process id."""
    pinned = [need("taskset"), "-c", core, *command]
    log = Path(f"/tmp/s1gw-bench-{port}.log").open("wb")  # noqa: S108 - a log to look at
    merged = {**os.environ, **(environment or {})}
    process = subprocess.Popen(pinned, stdout=log, stderr=log, env=merged, start_new_session=True)
    try:
        _wait_for(port, process, log.name)
        yield process.pid
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
        log.close()


def _wait_for(port: int, process: "subprocess.Popen[bytes]", log: str) -> None:
    limit = time.monotonic() + _READY_S
    while time.monotonic() < limit:
        if process.poll() is not None:
            sys.exit(f"{process.args!r} ended at once; its log is {log}")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    sys.exit(f"nothing listens on {port} after {_READY_S} s; the log is {log}")


def cost(pid: int) -> Cost:
    """Return what ``pid`` and all its descendants have used so far."""
    tree = [pid, *_descendants(pid)]
    return Cost(sum(map(_cpu_s, tree)), sum(map(_memory, tree)))


def _descendants(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [found for child in map(int, children) for found in (child, *_descendants(child))]


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _memory(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0
