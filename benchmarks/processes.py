"""Starting what is measured, on cores of its own, and reading what it cost."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

import attrs

CORES: Final = os.cpu_count() or 1
GATEWAY_CORE: Final = "0"
TWO_CORES: Final = "0,1"
LOAD_CORES: Final = f"2-{CORES - 1}" if CORES > 2 else "1"
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_READY_S: Final = 120
_PACKAGES: Final = {"nginx": "nginx-light", "wrk": "wrk", "taskset": "util-linux"}


@attrs.frozen
class Cost:
    """What a process tree has used: CPU seconds, and resident memory in bytes."""

    cpu_s: float
    memory: int


def need(*programs: str) -> str:
    """Return the path of the last of ``programs``; say what to install when one is missing."""
    places = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/sbin"))
    missing = [name for name in programs if shutil.which(name, path=places) is None]
    if missing:
        packages = " ".join(_PACKAGES.get(name, name) for name in missing)
        sys.exit(f"the bench needs {', '.join(missing)}: apt-get install {packages}")
    return str(shutil.which(programs[-1], path=places))


def free_port() -> int:
    """Return a loopback port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def running(
    command: Sequence[str], port: int, cores: str, environment: Mapping[str, str] | None = None
) -> Iterator[int]:
    """Run ``command`` on ``cores`` until it listens on ``port``; yield its process id."""
    pinned = [need("taskset"), "-c", cores, *command]
    merged = {**os.environ, **(environment or {})}
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            pinned, stdout=log, stderr=log, env=merged, start_new_session=True
        )
        try:
            _wait_for(port, process, log)
            yield process.pid
        finally:
            _end(process)


def _wait_for(port: int, process: "subprocess.Popen[bytes]", log: IO[bytes]) -> None:
    limit = time.monotonic() + _READY_S
    while time.monotonic() < limit and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    log.seek(0)
    told = log.read()[-4000:].decode("utf-8", "replace")
    sys.exit(f"{process.args!r} does not listen on {port}; it said:\n{told}")


def _end(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(timeout=20)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


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
