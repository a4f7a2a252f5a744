"""The README's blocks, run as they are written; only vendors are played by loopback servers."""

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from mcp import Client, StdioServerParameters, stdio_client

from gateway_core.cli.checking import look_through
from gateway_core.config.load import load_config
from gateway_core.testing import Reply, ScriptedUpstream

ROOT: Final = Path(__file__).parents[2]
PAGES: Final = sorted(
    page
    for folder in (".", "docs", "plugins/*", "examples/*", "claude-plugin")
    for page in ROOT.glob(f"{folder}/*.md")
)
README: Final = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS: Final = re.findall(r"^```\w*\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
BEGINNINGS: Final = {
    "targets": "make demo",
    "session": "$ s1gw decide",
    "install": "pip install .",
    "key": "export TYPESAFE_API_KEY",
    "chain": "[decide]",
    "client": "s1gw mcp install",
    "entry": '{"mcpServers"',
    "organization": "[orgs.acme",
    "serving": "s1gw keys create",
    "curl": "curl ",
    "python": "import asyncio",
}
PATIENCE_S: Final = 60
SCORE: Final = {"type": "score", "score": 0.9, "probabilities": {"0": 0.1, "1": 0.9}}
Bash = Callable[..., "subprocess.CompletedProcess[str]"]


def block(name: str) -> str:
    (found,) = (text for text in BLOCKS if text.startswith(BEGINNINGS[name]))
    return str(found)


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An empty home, the installed commands, and no way out but a proxy that is not there."""
    return {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "LANG": "C.UTF-8",
        "HTTPS_PROXY": "http://127.0.0.1:1",
    }


@pytest.fixture
def bash(environ: dict[str, str], tmp_path: Path) -> Bash:
    def run(script: str, folder: Path = tmp_path, **more: str) -> Any:
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-euc", script],
            check=True,
            capture_output=True,
            text=True,
            cwd=folder,
            env={**environ, **more},
            timeout=PATIENCE_S,
        )

    return run


def test_every_block_is_run_by_a_test() -> None:
    unknown = [text for text in BLOCKS if not text.startswith(tuple(BEGINNINGS.values()))]

    assert unknown == []
    assert len(BLOCKS) == len(BEGINNINGS)


def test_the_two_commands_are_targets(bash: Bash) -> None:
    for command in block("targets").splitlines():
        bash(command.replace("make", "make -n"), ROOT)


def test_the_session_is_what_the_command_prints(bash: Bash) -> None:
    command, *shown = block("session").removeprefix("$ ").splitlines()
    said = bash(f"{command} 2>&1").stdout

    took = re.compile(r"in \d+ ms")
    assert took.sub("in … ms", said).splitlines() == [took.sub("in … ms", line) for line in shown]


@pytest.mark.timeout(300)
def test_the_packages_are_where_pip_is_sent(bash: Bash, tmp_path: Path) -> None:
    target = tmp_path / "site"
    # Without an index: what the distributions depend on is not the question here.
    offline = {"PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0"}
    bash(block("install"), ROOT, PIP_TARGET=str(target), PIP_CONFIG_FILE=os.devnull, **offline)

    found = {path.name.partition("-")[0] for path in target.glob("*.dist-info")}
    plugins = {f"s1gw_{path.parent.name}" for path in ROOT.glob("plugins/*/pyproject.toml")}
    assert found == {"s1gw"} | plugins


def test_a_vendors_usual_key_puts_it_first(bash: Bash) -> None:
    said = bash(block("key")).stdout

    assert re.search(r"^typesafe +primary .*TYPESAFE_API_KEY is set$", said, re.MULTILINE)
    assert re.search(r"^local +fallback +up ", said, re.MULTILINE)
    assert "perplexity: PERPLEXITY_API_KEY is not set" in said


@pytest.mark.parametrize("name", ["chain", "organization"])
def test_a_configuration_is_sound(name: str, tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(block(name))
    loaded = load_config(path, {"TYPESAFE_API_KEY": "k", "ACME_TYPESAFE_KEY": "k"})

    assert look_through(loaded).faults == []


def test_a_client_gets_the_entry_and_gives_it_back(bash: Bash, tmp_path: Path) -> None:
    bash(block("client"))
    (written,) = json.loads((tmp_path / ".claude.json").read_text())["mcpServers"].values()
    (shown,) = json.loads(block("entry"))["mcpServers"].values()

    assert written["args"] == shown["args"]
    assert Path(written["command"]).name == shown["command"]
    bash("s1gw mcp uninstall claude-code")
    assert not (tmp_path / ".claude.json").exists()


@pytest.mark.anyio
async def test_the_entry_starts_a_server_with_the_tools_that_are_named(
    environ: dict[str, str],
) -> None:
    (entry,) = json.loads(block("entry"))["mcpServers"].values()
    server = StdioServerParameters(**entry, env=environ)
    async with Client(stdio_client(server)) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]

    assert names == re.findall(r"`(system1_\w+)`", README)


@pytest.fixture
def vendor() -> Iterator[ScriptedUpstream]:
    """A proxy that answers in the vendor's place, as no organization reaches loopback."""
    with ScriptedUpstream() as server:
        server.answer(Reply(body={"model": "jev-1", "answers": {"q1": SCORE}}))
        yield server


def test_an_organization_is_served_with_the_commands_shown(
    bash: Bash, environ: dict[str, str], vendor: ScriptedUpstream, tmp_path: Path
) -> None:
    config = tmp_path / "config.toml"
    config.write_text(block("organization") + 'base_url = "http://203.0.113.51"\n')
    own = {"S1GW_CONFIG": str(config), "ACME_TYPESAFE_KEY": "k", "HTTP_PROXY": vendor.url}
    create, serve = block("serving").splitlines()
    key = re.search(r"s1gw_\S+|sk-\S+", bash(create, **own).stdout)
    assert key is not None

    own["S1GW_HTTP_PORT"] = "0"
    with subprocess.Popen(
        ["bash", "-c", f"exec {serve}"], env={**environ, **own}, stderr=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stderr is not None
            lines = iter(server.stderr.readline, "")
            url = next(m[1] for line in lines if (m := re.search(r"listening on (http\S+)", line)))
            reader = threading.Thread(target=server.stderr.read)
            reader.start()
            said = bash(block("curl"), GATEWAY_URL=url, GATEWAY_KEY=key[0]).stdout
        finally:
            server.terminate()
            reader.join(PATIENCE_S)

    assert json.loads(said)["answers"]["q1"] == SCORE
    (asked,) = vendor.requests
    assert (asked.path, asked.headers["authorization"]) == (
        "http://203.0.113.51/v1/systemone",
        "Bearer k",
    )
    assert json.loads(asked.body)["model"] == "jev-latest"


def test_the_program_prints_a_decision(bash: Bash, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(block("python"))
    said = bash("python program.py").stdout

    assert re.fullmatch(r"decided shipping 0\.\d+\n", said)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_points_to_pages_that_are_there(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    local = [target for target in targets if "://" not in target]

    assert [target for target in local if not (page.parent / target).exists()] == []
