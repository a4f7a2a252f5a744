"""A user without an entry in passwd and without ``HOME``, as containers have them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

UNKNOWN_USER = """
import pwd
def getpwuid(uid):
    raise KeyError(uid)
pwd.getpwuid = getpwuid
from gateway_core.cli import main
main()
"""
COMMANDS = (
    ["capabilities"],
    ["config", "check"],
    ["config", "init"],
    ["config", "path"],
    ["config", "show"],
    ["decide", "Is it?", "--json"],
    ["health"],
    ["keys", "create", "--internal"],
    ["keys", "list"],
    ["log", "tail"],
    ["mcp", "install", "claude-code", "--dry-run"],
    ["mcp", "install", "claude-desktop", "--dry-run"],
    ["mcp", "install", "cursor", "--dry-run"],
    ["mcp", "install", "vscode", "--dry-run"],
    ["models"],
    ["plugins", "list"],
    ["schema"],
    ["serve", "--http", "--port", "0"],
    ["toggle", "off"],
)


def run(folder: Path, *arguments: str, **env: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", UNKNOWN_USER, *arguments],
        env={"PATH": "/usr/bin:/bin", **env},
        cwd=folder,
        input="",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_every_command_works_or_says_what_to_set(tmp_path: Path, arguments: list[str]) -> None:
    done = run(tmp_path, *arguments)
    assert "Traceback" not in done.stderr
    assert not Path("/nonexistent").exists()
    if "error" in done.stderr:
        assert any(way in done.stderr for way in ("S1GW_STATE_DIR", "S1GW_CONFIG", "HOME", "log"))


def test_a_question_is_answered_with_defaults(tmp_path: Path) -> None:
    reply = json.loads(run(tmp_path, "decide", "Is it?", "--json").stdout)
    assert reply["status"] in ("decided", "abstained")


@pytest.mark.parametrize("command", ["create", "list"])
def test_keys_need_a_folder_and_say_how_to_give_one(tmp_path: Path, command: str) -> None:
    words = ["keys", command, *(["--internal"] if command == "create" else [])]
    done = run(tmp_path, *words)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.strip() == (
        "error: there is no home folder for the gateway's state: set S1GW_STATE_DIR to a folder"
    )
    assert run(tmp_path, *words, S1GW_STATE_DIR=str(tmp_path)).returncode == 0


def test_the_configuration_that_is_named_is_used(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text("[decide]\nthreshold = 0.75\n")
    for named in (["--config", str(config), "config", "show"], ["config", "show"]):
        done = run(tmp_path, *named, S1GW_CONFIG=str(config))
        assert "threshold = 0.75" in done.stdout


def test_the_usual_place_of_the_configuration_is_unknown_and_told(tmp_path: Path) -> None:
    done = run(tmp_path, "config", "path")
    assert "name the file with --config or S1GW_CONFIG" in done.stderr


def test_health_is_told_over_mcp(tmp_path: Path) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}}
    hello["clientInfo"] = {"name": "test", "version": "1"}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "system1_health", "arguments": {}},
        },
    ]
    with subprocess.Popen(
        [sys.executable, "-c", UNKNOWN_USER, "serve", "--mcp"],
        env={"PATH": "/usr/bin:/bin"},
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.writelines(json.dumps(message) + "\n" for message in messages)
        process.stdin.flush()
        reply = next(line for line in process.stdout if json.loads(line).get("id") == 2)
        process.stdin.close()
        assert "Traceback" not in process.stderr.read()
    assert "internal error" not in reply
    assert "gateway_version" in reply
