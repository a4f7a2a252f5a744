"""A home of its own, a scripted upstream, and the real process, for each test."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest
from mcp import Client, StdioServerParameters

from gateway_core.testing import Reply, ScriptedUpstream

COMMAND = (sys.executable, "-m", "gateway_core.cli", "serve", "--mcp")


@attrs.define
class Home:
    """A folder that stands for a user's home, and the environment that leads there."""

    folder: Path
    more: dict[str, str] = attrs.field(factory=dict)

    @property
    def environ(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "XDG_CONFIG_HOME": str(self.folder / "config"),
            "S1GW_STATE_DIR": str(self.folder / "state"),
            **self.more,
        }

    def configure(self, text: str) -> Path:
        path = self.folder / "config" / "s1gw" / "config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def pause(self) -> None:
        switched = subprocess.run(
            [sys.executable, "-m", "gateway_core.cli", "toggle", "off"],
            env=self.environ,
            check=True,
            capture_output=True,
        )
        assert switched.returncode == 0

    def install(self, dialect: str, source: str, **claims: str) -> None:
        """Put a distribution with one provider, ``dialect``, where Python finds it."""
        packages = self.folder / "packages"
        module = dialect.replace("-", "_")
        info = packages / f"{module}-1.0.dist-info"
        info.mkdir(parents=True)
        (packages / f"{module}.py").write_text(source, encoding="utf-8")
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {dialect}\nVersion: 1.0\n")
        groups = {"gateway_core.providers.v1": {dialect: f"{module}:Provider"}}
        if claims:
            groups["gateway_core.claims.v1"] = dict.fromkeys(
                (f"{kind}.{value}" for kind, value in claims.items()), f"{module}:Provider"
            )
        lines = [
            line
            for group, entries in groups.items()
            for line in (f"[{group}]", *(f"{name} = {value}" for name, value in entries.items()))
        ]
        (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
        self.more["PYTHONPATH"] = str(packages)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def upstream() -> Iterator[ScriptedUpstream]:
    with ScriptedUpstream() as server:
        server.answer(Reply(body=noul(0.95)))
        yield server


@pytest.fixture
def one_provider(home: Home, upstream: ScriptedUpstream) -> ScriptedUpstream:
    """Configure the upstream as the only provider of the chain, by the name ``up``."""
    home.configure(
        "[decide]\n"
        'chain = ["up"]\n'
        "[providers.up]\n"
        'api_format = "systemone"\n'
        f'base_url = "{upstream.url}"\n'
        'models = ["m-1"]\n'
    )
    return upstream


def noul(probability: float) -> dict[str, Any]:
    answer = {"type": "noul", "noul": probability}
    return {"model": "m-1.2", "answers": {"decision": answer}, "usage": {"input_tokens": 3}}


@pytest.fixture(params=["legacy", "auto"])
def mode(request: pytest.FixtureRequest) -> str:
    """Both eras of the protocol: with the handshake, and 2026-07-28 found by discovery."""
    era: str = request.param
    return era


@pytest.fixture
def connect(home: Home) -> Callable[[str], Client]:
    """Make a real client of the real process, to be entered."""

    def make(mode: str) -> Client:
        command, *arguments = COMMAND
        parameters = StdioServerParameters(command=command, args=arguments, env=home.environ)
        return Client(parameters, mode=mode, read_timeout_seconds=30)

    return make


@attrs.define(eq=False)
class Wire:
    """The real process, spoken to line by line."""

    process: subprocess.Popen[bytes]
    _identity: int = 0

    def send(self, method: str, params: Mapping[str, Any] | None = None) -> int:
        """Send a request and return its id."""
        self._identity += 1
        self._write({"id": self._identity, "method": method, "params": dict(params or {})})
        return self._identity

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        self._write({"method": method, "params": dict(params or {})})

    def call(self, name: str, **arguments: Any) -> int:
        return self.send("tools/call", {"name": name, "arguments": arguments})

    def shake_hands(self) -> dict[str, Any]:
        client = {"name": "test", "version": "1"}
        asked = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
        self.send("initialize", asked)
        found = self.receive()
        self.notify("notifications/initialized")
        return found

    def receive(self) -> dict[str, Any]:
        """Wait for one line; it must be JSON."""
        assert self.process.stdout is not None
        message: dict[str, Any] = json.loads(self.process.stdout.readline())
        return message

    def write(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def finish(self) -> tuple[int, str, str]:
        """Close stdin; return the exit code, what else came on stdout, and stderr."""
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out.decode(), err.decode()

    def _write(self, message: dict[str, Any]) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


@pytest.fixture
def start(home: Home) -> Iterator[Callable[[], Wire]]:
    """Start the real process; it is killed if the test leaves it running."""
    started: list[subprocess.Popen[bytes]] = []

    def run(*command: str) -> Wire:
        process = subprocess.Popen(
            command or COMMAND,
            env=home.environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        started.append(process)
        return Wire(process)

    yield run
    for process in started:
        with process:
            process.kill()
