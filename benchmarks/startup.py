"""Start-up, each command beside what it is held against, interleaved."""

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Final

import attrs

from benchmarks import targets
from benchmarks.decide import COMMAND, environment_for
from benchmarks.effort import Effort
from benchmarks.figures import Spread
from benchmarks.gateway_target import Size, wait_until_ready, write_setting
from benchmarks.processes import GATEWAY_CORE, free_port, need, running
from benchmarks.stdio import seconds_to_initialize

_CLI: Final = ("-m", "gateway_core.cli")


@attrs.frozen(kw_only=True)
class Startup:
    """Seconds by what was started.

    Attributes:
        seconds: the spread over all starts.
    """

    seconds: Mapping[str, Spread]

    def ratio(self, name: str, other: str) -> float:
        """Return the median of one over that of another."""
        return self.seconds[name].middle / self.seconds[other].middle


def measure(effort: Effort) -> Startup:
    """Start everything in turn, as often as ``effort`` says."""
    with tempfile.TemporaryDirectory() as name, targets.upstream(1_000) as provider:
        environment = environment_for(Path(name), provider)
        relaying = write_setting(Path(name), provider, Size()).environment
        starts: dict[str, Callable[[], float]] = {
            "python -c pass": lambda: _ended(("-c", "pass"), environment),
            "import click": lambda: _ended(("-c", "import click"), environment),
            "s1gw --help": lambda: _ended((*_CLI, "--help"), environment),
            "s1gw plugins list": lambda: _ended((*_CLI, "plugins", "list"), environment),
            "minimal mcp server": lambda: _initialized(
                (sys.executable, "-m", "benchmarks.minimal_mcp"), environment
            ),
            "s1gw serve --mcp": lambda: _initialized(COMMAND, environment),
            "s1gw serve --http": lambda: _ready(relaying),
        }
        taken: dict[str, list[float]] = {name: [] for name in starts}
        for number in range(effort.starts + 1):
            for what, start in starts.items():
                seconds = start()
                # The first start reads the files from the disk and compiles what is new.
                if number:
                    taken[what].append(seconds)
    return Startup(seconds={name: Spread.of(values) for name, values in taken.items()})


def _ended(arguments: Sequence[str], environment: Mapping[str, str]) -> float:
    command = [need("taskset"), "-c", GATEWAY_CORE, sys.executable, *arguments]
    began = perf_counter()
    subprocess.run(command, env={**environment}, stdout=subprocess.DEVNULL, check=True)
    return perf_counter() - began


def _initialized(command: Sequence[str], environment: Mapping[str, str]) -> float:
    return asyncio.run(seconds_to_initialize(command, environment))


def _ready(environment: Mapping[str, str]) -> float:
    port = free_port()
    command = [sys.executable, *_CLI, "serve", "--http", "--port", str(port)]
    began = perf_counter()
    with running(command, port, GATEWAY_CORE, {**os.environ, **environment}):
        wait_until_ready(port)
        return perf_counter() - began
