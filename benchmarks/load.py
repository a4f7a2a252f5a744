"""Load by `wrk`, and its figures."""

import math
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import attrs

from benchmarks.processes import LOAD_CORES, cost, need
from benchmarks.targets import Target

_UNITS: Final = {"us": 1e-3, "ms": 1.0, "s": 1e3}
_SCRIPT: Final = """\
local keys = {{}}
for key in io.lines("{keys}") do keys[#keys + 1] = key end
local file = io.open("{body}", "rb")
wrk.body = file:read("*all")
file:close()
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Authorization"] = "Bearer " .. keys[1]
if #keys > 1 then
  local ready, turn = {{}}, 0
  init = function()
    for index, key in ipairs(keys) do
      wrk.headers["Authorization"] = "Bearer " .. key
      ready[index] = wrk.format()
    end
  end
  request = function()
    turn = turn % #ready + 1
    return ready[turn]
  end
end
"""


@attrs.frozen
class Load:
    """One run: requests a second, latencies in milliseconds, failures, requests in all."""

    rate: float
    p50: float
    p90: float
    p99: float
    failed: int
    requests: int


@attrs.frozen
class Measured:
    """One run and what it cost the target, with all its processes.

    Attributes:
        load: what ``wrk`` saw.
        cpu_us: CPU microseconds a request.
        memory: resident bytes after the run.
    """

    load: Load
    cpu_us: float
    memory: int


def script(folder: Path, body: bytes, keys: Sequence[str]) -> Path:
    """Write what posts ``body`` with ``keys`` in turn; return the script's path."""
    name = f"{len(body)}-{len(keys)}-{abs(hash(keys[0]))}"
    content, listed = folder / f"body-{name}.json", folder / f"keys-{name}.txt"
    content.write_bytes(body)
    listed.write_text("".join(f"{key}\n" for key in keys))
    path = folder / f"post-{name}.lua"
    path.write_text(_SCRIPT.format(body=content, keys=listed))
    return path


def measure(target: Target, lua: Path, connections: int, seconds: int) -> Measured:
    """Post to ``target`` for ``seconds`` over ``connections``."""
    before = cost(target.pid)
    load = run(target.url, lua, connections, seconds)
    after = cost(target.pid)
    cpu_us = (after.cpu_s - before.cpu_s) * 1e6 / max(1, load.requests)
    return Measured(load, cpu_us, after.memory)


def run(url: str, lua: Path, connections: int, seconds: int) -> Load:
    """Post to ``url`` for ``seconds`` over ``connections`` and return what was seen."""
    command = [need("taskset"), "-c", LOAD_CORES, need("wrk"), "-t1", f"-c{connections}"]
    command += [f"-d{seconds}", "--latency", "--timeout", "30", "-s", str(lua), url]
    return parse(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def parse(shown: str) -> Load:
    """Return the figures in what `wrk --latency` prints."""
    failed = sum(int(count) for count in re.findall(r"Non-2xx or 3xx responses: (\d+)", shown))
    for group in re.findall(r"Socket errors: (.*)", shown):
        failed += sum(int(count) for count in re.findall(r"\d+", group))
    return Load(
        rate=float(re.findall(r"Requests/sec:\s+([\d.]+)", shown)[0]),
        p50=_percentile(50, shown),
        p90=_percentile(90, shown),
        p99=_percentile(99, shown),
        failed=failed,
        requests=int(re.findall(r"(\d+) requests in", shown)[0]),
    )


def _percentile(which: int, shown: str) -> float:
    found = re.findall(rf"^\s+{which}%\s+([\d.]+)(us|ms|s)$", shown, re.MULTILINE)
    # A target that answers nothing in time has no latency to report.
    return float(found[0][0]) * _UNITS[found[0][1]] if found else math.nan
