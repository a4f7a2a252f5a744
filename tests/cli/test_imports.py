"""What a start imports, kept from growing unseen: every module costs the user time and memory.

How many modules belong to the standard library is a matter of Python's version; the others are
counted. What `serve --mcp` imports is counted with its server's tests.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from gateway_core.testing.process import GatewayProcess

IMPORTED = re.compile(r"^import time: +\d+ \| +\d+ \| +(\S+)$", re.MULTILINE)
PROFILED = {"PYTHONPROFILEIMPORTTIME": "1"}
"""Has the interpreter name each module on stderr as it is imported."""


def imported(stderr: str) -> set[str]:
    """Return the modules that are of no standard library, nor brought by the environment."""
    names = IMPORTED.findall(stderr)
    known = sys.stdlib_module_names
    return {name for name in names if name[0] != "_" and name.partition(".")[0] not in known}


@pytest.mark.parametrize(
    ("arguments", "most"), [(["--help"], 22), (["plugins", "list"], 67)], ids=["help", "plugins"]
)
def test_a_light_command_imports_no_more_than_it_did(arguments: list[str], most: int) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "gateway_core.cli", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    found = imported(done.stderr)
    assert len(found) <= most, sorted(found)


def test_a_server_over_http_imports_no_more_than_it_did(tmp_path: Path) -> None:
    with GatewayProcess(tmp_path, env=PROFILED) as gateway:
        gateway.key(org="acme")
        found = imported(gateway.log)
    assert "gateway_core.relay.relay" in found
    unneeded = {"mcp", "httpx", "h11", "jsonschema", "redis", "numpy", "starlette", "pydantic"}
    assert found & unneeded == set()
    assert len(found) <= 345, sorted(found)


def test_the_server_runs_on_uvloop(tmp_path: Path) -> None:
    with GatewayProcess(tmp_path, env=PROFILED) as gateway:
        gateway.key(org="acme")
        assert "uvloop.loop" in imported(gateway.log)
