"""Memory that a request has used is there for the next one."""

import subprocess
import sys

import pytest

LOOP = """
from resource import RUSAGE_SELF, getrusage
{first}
def faults():
    before = getrusage(RUSAGE_SELF).ru_minflt
    for _ in range(20):
        bodies = [bytes(100_000) for _ in range(16)]
        del bodies
    return getrusage(RUSAGE_SELF).ru_minflt - before
faults()
print(faults())
"""
KEEP = "from gateway_core.servers.http.allocator import keep_freed_memory as keep; keep()"


def faults(first: str) -> int:
    command = [sys.executable, "-c", LOOP.format(first=first)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return int(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc is told")
def test_the_pages_of_bodies_are_not_faulted_in_again() -> None:
    assert faults("") > 2_000
    assert faults(KEEP) < 500


KEPT = """
from pathlib import Path
{first}
def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
before = resident()
bodies, pins = [], []
for _ in range(20):
    bodies.append(b"x" * 10_000_000)
    pins.append(b"x" * 5_000)
bodies.clear()
print(resident() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc is told")
def test_the_memory_of_large_bodies_is_given_back() -> None:
    command = [sys.executable, "-c", KEPT.format(first=KEEP)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert int(done.stdout) < 40_000_000
