"""``S1GW_STRICT_PLUGINS`` is one rule, whichever process is started."""

import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from gateway_core.testing.process import GatewayProcess

BROKEN = """
[decide]
chain = ["local"]
middleware = ["broken"]
"""
UNUSED = """
[decide]
chain = ["local"]
[orgs.acme.providers.unused]
dialect = "broken"
"""
CONFIGURATIONS = {"middleware": BROKEN, "a provider that nothing asks": UNUSED}
COMMANDS = {
    "mcp": ("serve", "--mcp"),
    "http with keys": ("serve", "--http", "--port", "0"),
    "http without keys": ("serve", "--http", "--port", "0", "--auth", "disabled"),
    "command": ("capabilities",),
}


@pytest.fixture
def packages(tmp_path: Path) -> str:
    """A folder with a distribution whose provider and middleware cannot be imported."""
    info = tmp_path / "packages" / "broken-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    groups = ("gateway_core.providers.v1", "gateway_core.middleware.v1")
    lines = (f"[{group}]\nbroken = broken_plugin:Plugin\n" for group in groups)
    (info / "entry_points.txt").write_text("".join(lines))
    (info.parent / "broken_plugin.py").write_text("import there_is_no_such_module\n")
    return str(info.parent)


def run(folder: Path, packages: str, config: str, *command: str, strict: str) -> tuple[int, str]:
    """Run ``s1gw`` to its end; return its exit code and what it wrote to stderr."""
    path = folder / "config.toml"
    path.write_text(config)
    own = {"S1GW_CONFIG": str(path), "S1GW_STATE_DIR": str(folder), "PYTHONPATH": packages}
    done = subprocess.run(
        [sys.executable, "-m", "gateway_core.cli", *command],
        env={**os.environ, **own, "S1GW_STRICT_PLUGINS": strict},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        timeout=90,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("config", CONFIGURATIONS.values(), ids=CONFIGURATIONS)
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_strict_mode_ends_every_process_for_a_plugin_that_breaks_on_import(
    tmp_path: Path, packages: str, command: tuple[str, ...], config: str
) -> None:
    code, told = run(tmp_path, packages, config, *command, strict="true")
    assert code in (1, 3)
    assert "no module named 'there_is_no_such_module'" in told.lower()
    assert "Traceback" not in told


@pytest.mark.parametrize("command", [COMMANDS["mcp"], COMMANDS["command"]], ids=["mcp", "command"])
def test_a_switch_that_says_no_is_off(
    tmp_path: Path, packages: str, command: tuple[str, ...]
) -> None:
    assert run(tmp_path, packages, BROKEN, *command, strict="0")[0] == 0


@pytest.mark.parametrize(("auth", "status"), [("keys", 401), ("disabled", 200)])
def test_a_switch_that_says_no_is_off_over_http(
    tmp_path: Path, packages: str, auth: str, status: int
) -> None:
    env = {"PYTHONPATH": packages, "S1GW_STRICT_PLUGINS": "false"}
    with GatewayProcess(tmp_path, BROKEN, "--auth", auth, env=env) as gateway:
        assert httpx.get(f"{gateway.url}/v1/decisions/models", timeout=60).status_code == status
