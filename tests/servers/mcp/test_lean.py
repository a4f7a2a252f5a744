"""The lean import: what it leaves out, and that nothing else is different."""

import json
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import pytest

from gateway_core.servers.mcp.lean import TRIED
from gateway_core.testing import ScriptedUpstream

USUALLY = "import mcp.server.lowlevel, mcp.server.stdio\n"
SERVE = "from gateway_core.servers.mcp import serve; serve()"
LEFT_OUT = (
    "cryptography",
    "gateway_core.gateway",
    "gateway_core.outbound",
    "httpx",
    "httpx2",
    "jsonschema",
    "mcp.client",
    "mcp.server.mcpserver",
    "msgspec",
    "pluggy",
    "starlette",
    "uvicorn",
)


def run(code: str) -> str:
    """Run ``code`` in a new interpreter and return what it prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_known_layout_is_imported_leanly() -> None:
    code = "from gateway_core.servers.mcp.lean import *; print(import_for_stdio())"
    assert run(code) == "True"


def test_what_stdio_does_not_need_is_not_imported_before_the_handshake() -> None:
    code = (
        "import sys\n"
        "from gateway_core.servers.mcp import stdio\n"
        "stdio.import_for_stdio()\n"
        "import gateway_core.servers.mcp.server\n"
        "print(*sys.modules)"
    )
    loaded = run(code).split()
    assert [name for name in LEFT_OUT if name in loaded] == []
    assert len(loaded) < 395


def test_what_was_left_out_can_be_imported_afterwards() -> None:
    code = (
        "from gateway_core.servers.mcp.lean import import_for_stdio\n"
        "assert import_for_stdio()\n"
        "from pydantic import TypeAdapter\n"
        "assert TypeAdapter(int | str).validate_python('x') == 'x'\n"
        "import mcp, mcp.server, mcp.types\n"
        "from mcp import Client, MCPError\n"
        "from mcp.server import MCPServer\n"
        "from mcp.server.lowlevel.server import Server\n"
        "from mcp.server.streamable_http_manager import StreamableHTTPSessionManager\n"
        "from starlette.applications import Starlette\n"
        "assert mcp.server.Server is Server\n"
        "assert mcp.server.streamable_http_manager.StreamableHTTPSessionManager\n"
        "print(Starlette.__name__, MCPServer.__name__)"
    )
    assert run(code) == "Starlette MCPServer"


def test_the_installed_release_is_one_that_was_tried() -> None:
    """Where this fails: run these tests, and if the others pass add the release to ``TRIED``."""
    assert version("mcp") in TRIED


FAULTS = {
    "a release that nobody tried": "lean.TRIED = frozenset({'2.2.9'})",
    "a package without metadata": "lean.version = lambda _: (_ for _ in ()).throw("
    "lean.PackageNotFoundError)",
    "a name that is used while it is imported": "lean._HTTP_ONLY += ('mcp.shared.dispatcher',)",
    "a module that is no package": "lean._LAZY += ('mcp.shared.exceptions',)",
    "a module that is gone": "lean._WANTED += ('mcp.server.gone',)",
    "a failure of any other kind": "lean.import_module = lambda _: 1 / 0",
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_whatever_does_not_fit_leads_to_the_usual_import(fault: str) -> None:
    code = (
        "import sys, unittest.mock\n"
        "from gateway_core.servers.mcp import lean\n"
        f"{fault}\n"
        "assert not lean.import_for_stdio()\n"
        "import gateway_core.servers.mcp.server as server, gateway_core.servers.mcp.connection\n"
        "import mcp, starlette.routing\n"
        "assert mcp.Client and server.build_server(unittest.mock.Mock())\n"
        "from pydantic import BaseModel, TypeAdapter\n"
        "left = [n for n, m in sys.modules.items() if type(m).__name__ == '_Placeholder']\n"
        "print(left, BaseModel.model_config, TypeAdapter.__name__)"
    )
    assert run(code) == "[] {} TypeAdapter"


@pytest.mark.parametrize("missing", ["mcp.shared.message", "mcp_types", "mcp.server"])
def test_another_layout_is_imported_as_usual(missing: str) -> None:
    """The first search for one module fails, as if it had moved; the second finds it."""
    code = (
        "import sys\n"
        "class Moved:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {missing!r}:\n"
        "            sys.meta_path.remove(self)\n"
        "            raise ImportError(name)\n"
        "from gateway_core.servers.mcp.lean import import_for_stdio\n"
        "sys.meta_path.insert(0, Moved())\n"
        "assert not import_for_stdio()\n"
        "from gateway_core.servers.mcp.server import Server\n"
        "import mcp.server.stdio, starlette.routing, mcp\n"
        "assert mcp.Client and mcp.server.Server is Server\n"
        "from pydantic import BaseModel, TypeAdapter\n"
        "print(BaseModel.model_config, TypeAdapter.__name__)"
    )
    assert run(code) == "{} TypeAdapter"


CONVERSATION: list[tuple[str, dict[str, Any]]] = [
    ("ping", {}),
    ("tools/list", {}),
    ("tools/call", {"name": "system1_decide", "arguments": {"question": "?", "request_id": "r"}}),
    ("tools/call", {"name": "system1_decide", "arguments": {}}),
    ("tools/call", {"name": "system1_decide", "arguments": [1]}),
    ("tools/call", {"name": "none", "arguments": None}),
    ("tools/call", {}),
    ("resources/list", {}),
    ("prompts/get", {"name": "x"}),
    ("logging/setLevel", {"level": "debug"}),
    ("completion/complete", {}),
    ("server/discover", {}),
    ("no/such/method", {"a": [1, {"b": None}]}),
    ("initialize", {}),
]


def conversation(wire: Any) -> list[dict[str, Any]]:
    found = [wire.shake_hands()]
    for method, params in CONVERSATION:
        wire.send(method, params)
        found.append(wire.receive())
    return [_without_times(message) for message in found]


def _without_times(message: dict[str, Any]) -> dict[str, Any]:
    """Drop what differs from run to run: times, ids that were made up, and the same as text."""

    def kept(value: Any) -> Any:
        if isinstance(value, list):
            return [kept(item) for item in value]
        if not isinstance(value, dict):
            return value
        changing = ("latency_ms", "text") + (
            () if value.get("request_id") == "r" else ("request_id",)
        )
        return {name: kept(item) for name, item in value.items() if name not in changing}

    found: dict[str, Any] = kept(message)
    return found


def test_both_ways_of_importing_behave_the_same(
    start: Callable[..., Any], one_provider: ScriptedUpstream
) -> None:
    lean, usual = conversation(start()), conversation(start(sys.executable, "-c", USUALLY + SERVE))
    assert json.dumps(lean, indent=1) == json.dumps(usual, indent=1)
    assert "result" in lean[3]
