"""Load by `wrk`, and its figures."""

import math
import re
import subprocess
from pathlib import Path
from typing import Final

import attrs

from benchmarks.processes import LOAD_CORE, need

_UNITS: Final = {"us": 1e-3, "ms": 1.0, "s": 1e3}
_SCRIPT: Final = """\
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Authorization"] = "Bearer {key}"
local file = io.open("{body}", "rb")
wrk.body = file:read("*all")
file:close()
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


def script(folder: Path, body: bytes, key: str) -> Path:
    """Write the body and the script that posts it; return the script's path."""
    content = folder / f"body-{len(body)}.json"
    content.write_bytes(body)
    path = folder / f"post-{len(body)}-{len(key)}.lua"
    path.write_text(_SCRIPT.format(body=content, key=key))
    return path


def run(url: str, lua: Path, connections: int, seconds: int) -> Load:
    """Post for ``seconds`` over ``connections`` and return what was measured."""
    command = ["taskset", "-c", LOAD_CORE, need("wrk"), "-t1", f"-c{connections}"]
    command += [f"-d{seconds}", "--latency", "--timeout", "30", "-s", str(lua), url]
    return _parse(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def _parse(shown: str) -> Load:
    rate = float(_one(r"Requests/sec:\s+([\d.]+)", shown))
    failed = sum(int(count) for count in re.findall(r"Non-2xx or 3xx responses: (\d+)", shown))
    for group in re.findall(r"Socket errors: (.*)", shown):
        failed += sum(int(count) for count in re.findall(r"\d+", group))
    return Load(
        rate=rate,
        p50=_percentile(50, shown),
        p90=_percentile(90, shown),
        p99=_percentile(99, shown),
        failed=failed,
        requests=int(_one(r"(\d+) requests in", shown)),
    )


def _percentile(which: int, shown: str) -> float:
    found = re.findall(rf"^\s+{which}%\s+([\d.]+)(us|ms|s)$", shown, re.MULTILINE)
    # A target that answers nothing in time has no latency to report.
    return float(found[0][0]) * _UNITS[found[0][1]] if found else math.nan


def _one(pattern: str, shown: str) -> str:
    return str(re.findall(pattern, shown)[0])
