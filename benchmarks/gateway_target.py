"""s1gw as a target: one organization with a key, limits, policy and the access log on."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from benchmarks.gateway import ADDRESS
from benchmarks.processes import GATEWAY_CORE, free_port, running
from benchmarks.targets import MODEL, PATH, Target, port_of

CONFIG: Final = """\
[log]
format = "json"

[orgs.acme.limits]
rpm = 1000000000
concurrency = 100000

[orgs.acme.providers.typesafe]
api_format = "systemone"
base_url = "http://{address}:{upstream}"
api_key = {{ env = "BENCHMARK_KEY" }}
models = ["{model}"]
"""


@contextlib.contextmanager
def s1gw(
    folder: Path, provider: Target, workers: int = 1, config: str | None = None
) -> Iterator[Target]:
    """Run the gateway and create the key that the load is sent with."""
    port = free_port()
    path = folder / f"s1gw-{port}.toml"
    values = {"address": ADDRESS, "upstream": port_of(provider), "model": MODEL}
    path.write_text((config or CONFIG).format(**values))
    state = folder / f"state-{port}"
    environment = {
        "S1GW_CONFIG": str(path),
        "S1GW_STATE_DIR": str(state),
        "BENCHMARK_KEY": "benchmark-provider-key",
    }
    key = _key(environment)
    command = [sys.executable, "-m", "benchmarks.gateway", str(path), str(port), str(workers)]
    with running(command, port, GATEWAY_CORE, environment) as pid:
        yield Target("s1gw", f"http://127.0.0.1:{port}{PATH}", pid, key)


def _key(environment: dict[str, str]) -> str:
    command = [sys.executable, "-m", "gateway_core.cli", "keys", "create", "--org", "acme"]
    command += ["--rpm", "1000000000", "--concurrency", "100000", "--json"]
    merged = {**os.environ, **environment}
    shown = subprocess.run(command, env=merged, capture_output=True, text=True, check=True)
    return str(json.loads(shown.stdout)["key"])
