"""``s1gw mcp``: one entry in another program's file, and nothing else touched."""

import json
import os
import stat
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from typing import Any

import pytest

from gateway_core.cli.mcp.clients import CLIENTS
from gateway_core.cli.mcp.jsonc import read_jsonc
from gateway_core.cli.mcp.jsonfile import BACKUP_SUFFIX

LINUX = {
    "claude-code": ".claude.json",
    "claude-desktop": ".config/Claude/claude_desktop_config.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".config/Code/User/mcp.json",
}
MAC = LINUX | {
    "claude-desktop": "Library/Application Support/Claude/claude_desktop_config.json",
    "vscode": "Library/Application Support/Code/User/mcp.json",
}
WINDOWS = LINUX | {
    "claude-desktop": "Roaming/Claude/claude_desktop_config.json",
    "vscode": "Roaming/Code/User/mcp.json",
}
NEIGHBOUR = {"command": "other", "args": [], "env": {"TOKEN": "neighbours-key"}}


def file_of(client: str) -> Path:
    return CLIENTS[client].file()


def names_in(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir()]


def put(client: str, text: str) -> Path:
    path = file_of(client)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(
    ("system", "places"), [("linux", LINUX), ("darwin", MAC), ("win32", WINDOWS)]
)
def test_each_clients_file_is_where_that_client_looks(home, monkeypatch, client, system, places):
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setenv("APPDATA", str(home / "Roaming"))

    assert file_of(client) == home / places[client]


def test_claude_codes_own_variable_moves_its_file(home, monkeypatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "elsewhere"))

    assert file_of("claude-code") == home / "elsewhere" / ".claude.json"


@pytest.mark.parametrize("client", CLIENTS)
def test_installing_writes_an_entry_that_starts_the_server(run, client: str) -> None:
    assert run("mcp", "install", client).exit_code == 0
    servers = "servers" if client == "vscode" else "mcpServers"
    entry = json.loads(file_of(client).read_text())[servers]["s1gw"]

    assert Path(entry["command"]).is_absolute()
    assert Path(entry["command"]).exists()
    assert entry["args"] == ["serve", "--mcp"]
    assert entry.get("type", "stdio") == "stdio"
    assert "env" not in entry


def test_the_entry_is_a_command_that_serves_until_its_input_ends(run) -> None:
    run("mcp", "install", "cursor")
    entry = json.loads(file_of("cursor").read_text())["mcpServers"]["s1gw"]
    command = [entry["command"], *entry["args"]]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=True
    )

    assert done.stdout == ""


def test_the_entry_names_files_and_never_a_key(run, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("S1GW_CONFIG", "here.toml")
    monkeypatch.setenv("S1GW_STATE_DIR", str(tmp_path))
    monkeypatch.setenv("TYPESAFE_API_KEY", "s3cret-key")
    run("mcp", "install", "cursor")
    text = file_of("cursor").read_text()
    entry = json.loads(text)["mcpServers"]["s1gw"]

    assert entry["args"] == ["--config", str(Path("here.toml").absolute()), "serve", "--mcp"]
    assert entry["env"] == {"S1GW_STATE_DIR": str(tmp_path)}
    assert "s3cret" not in text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        '{"mcpServers": {}}\n',
        json.dumps({"z": 1, "mcpServers": {"other": NEIGHBOUR}, "a": [1.5, None]}, indent=4),
        json.dumps({"mcpServers": {"other": NEIGHBOUR}}, indent="\t") + "\n",
        json.dumps({"z": "ü", "mcpServers": {"other": NEIGHBOUR}}, separators=(",", ":")),
        json.dumps({"z": "ü"}, ensure_ascii=False, indent=2),
        json.dumps({"mcpServers": {"s1gw": {"command": "mine"}, "other": NEIGHBOUR}}, indent=2),
    ],
)
def test_others_stay_and_uninstalling_restores_every_byte(run, text: str) -> None:
    path = put("cursor", text)
    expected = {"mcpServers": {}} if not text else json.loads(text)
    expected.setdefault("mcpServers", {}).pop("s1gw", None)

    assert run("mcp", "install", "cursor").exit_code == 0
    after = json.loads(path.read_text())
    assert after["mcpServers"].pop("s1gw")["args"] == ["serve", "--mcp"]
    assert list(after.items()) == list(expected.items())
    assert path.with_name(path.name + BACKUP_SUFFIX).read_text() == text

    assert run("mcp", "uninstall", "cursor").exit_code == 0
    assert (path.read_text() if path.exists() else "") == text
    assert names_in(path.parent) == ([path.name] if text else [])


COMMENTED = """\
// my servers
{
  "inputs": [], // none, for now
  "servers": {
    "other": {"command": "a//b", "args": ["/* no comment */"]}, // keep this
    /* and this */
  },
}
"""


@pytest.mark.parametrize(
    "text",
    [
        COMMENTED,
        COMMENTED.replace("\n", "\r\n"),
        "\ufeff" + COMMENTED,
        "{\n\t// nothing yet\n}\n",
        '{\n  "servers": {\n    // none\n  }\n}',
        '{"servers":{"other":{},/* last */}}',
        '{"a": 1 /* one */}',
        "{} // empty",
    ],
)
def test_comments_and_layout_stay(run, text: str) -> None:
    path = put("vscode", "")
    path.write_bytes(text.encode())
    assert run("mcp", "install", "vscode").exit_code == 0
    installed = path.read_bytes().decode()
    left = iter(installed)

    assert all(character in left for character in text)
    assert read_jsonc(installed.removeprefix("\ufeff"))["servers"]["s1gw"]["args"]
    assert ("\r\n" in installed) == ("\r\n" in text)
    # A change since then keeps the copy from being put back: the entry alone is taken out.
    path.write_bytes(f"{installed}\n// edited".encode())
    assert run("mcp", "uninstall", "vscode").exit_code == 0
    removed = path.read_bytes().decode().removeprefix("\ufeff")
    assert "s1gw" not in removed
    assert removed.count("/*") == text.count("/*")
    before = read_jsonc(text.removeprefix("\ufeff"))
    assert read_jsonc(removed) == {"servers": {}, **before}


def test_a_new_entry_keeps_what_a_person_set_in_the_old_one(run, monkeypatch, tmp_path) -> None:
    old = {
        "command": "/gone/s1gw",
        "args": ["serve", "--mcp"],
        "env": {"TYPESAFE_API_KEY": "s3cret-key", "S1GW_STATE_DIR": "/old"},
        "disabled": True,
    }
    path = put("cursor", json.dumps({"mcpServers": {"s1gw": old}}, indent=2))
    monkeypatch.setenv("S1GW_STATE_DIR", str(tmp_path))
    shown = run("mcp", "install", "cursor", "--dry-run").stdout
    run("mcp", "install", "cursor")
    entry = json.loads(path.read_text())["mcpServers"]["s1gw"]

    assert entry["command"] != old["command"]
    assert entry["env"] == {"TYPESAFE_API_KEY": "s3cret-key", "S1GW_STATE_DIR": str(tmp_path)}
    assert entry["disabled"] is True
    assert "s3cret" not in shown + run("mcp", "uninstall", "cursor", "--dry-run").stdout


RUN = """
import sys
from importlib.metadata import entry_points
[script] = entry_points(group="console_scripts", name="s1gw")
sys.argv[0] = "s1gw"
script.load()()
"""


def environment(folder: Path) -> Path:
    """Make an environment that has all of this one's packages and no scripts; its Python."""
    venv.create(folder, symlinks=True, with_pip=False)
    site = next(folder.glob("lib/python*/site-packages"))
    paths = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    lines = [f"import site; site.addsitedir({path!r})" for path in sorted(paths)]
    (site / "all.pth").write_text("\n".join(lines) + "\n")
    return folder / "bin" / "python"


def printed_entry(python: Path, home: Path) -> dict[str, Any]:
    command = [str(python), "-P", "-c", RUN, "mcp", "install", "cursor", "--print"]
    environ = {"HOME": str(home), "PATH": os.defpath}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    entry: dict[str, Any] = json.loads(done.stdout)["mcpServers"]["s1gw"]
    return entry


def test_the_command_imports_nothing_from_the_folder_it_is_started_in(home, tmp_path) -> None:
    entry = printed_entry(environment(tmp_path / "other"), home)
    project = tmp_path / "project"
    project.mkdir()
    for name in ("secrets", "click", "json", "logging", "mcp", "gateway_core", "sitecustomize"):
        (project / f"{name}.py").write_text("raise SystemExit('imported from the project')\n")
    done = subprocess.run(
        [entry["command"], *entry["args"]],
        cwd=project,
        env={"HOME": str(home), "PATH": os.defpath},
        input='{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    assert "-P" in entry["args"]
    assert json.loads(done.stdout)["id"] == 1


@pytest.mark.parametrize(
    ("place", "command"),
    [
        ("cache/uv/archive-v0/abc", "uvx"),
        ("cache/uv/environments-v2/abc", "uvx"),
        (".cache/pipx/abc", "pipx run"),
        (".local/share/pipx/.cache/abc", "pipx run"),
        (".local/share/pipx/venvs/abc", None),
    ],
)
def test_an_environment_that_is_thrown_away_is_made_again(home, tmp_path, place, command) -> None:
    entry = printed_entry(environment(tmp_path / place), home)
    line = [Path(entry["command"]).name, *entry["args"]]

    assert ("abc" in str(entry)) == (command is None)
    if command:
        assert " ".join(line).startswith(command)
        assert line[-3:] == ["s1gw", "serve", "--mcp"]
    if command == "uvx":
        assert "s1gw-laya" in line


def test_uninstalling_keeps_what_was_edited_since(run) -> None:
    path = put("cursor", '{"mcpServers": {"s1gw": {"command": "before"}}}')
    run("mcp", "install", "cursor")
    edited = json.loads(path.read_text())
    edited["mcpServers"]["new"] = NEIGHBOUR
    path.write_text(json.dumps(edited))

    assert run("mcp", "uninstall", "cursor").exit_code == 0
    assert json.loads(path.read_text()) == {
        "mcpServers": {"s1gw": {"command": "before"}, "new": NEIGHBOUR}
    }


def test_installing_twice_changes_nothing_and_keeps_the_first_copy(run, monkeypatch) -> None:
    path = put("cursor", '{"a": 1}')
    run("mcp", "install", "cursor")
    once = path.read_bytes()

    assert "has s1gw already" in run("mcp", "install", "cursor").stdout
    assert path.read_bytes() == once
    assert run("--config", "/other.toml", "mcp", "install", "cursor").exit_code == 0
    assert path.read_bytes() != once
    assert run("mcp", "uninstall", "cursor").exit_code == 0
    assert path.read_text() == '{"a": 1}'


@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_a_dry_run_shows_a_diff_without_neighbours_keys_and_changes_nothing(run, command) -> None:
    path = put("cursor", json.dumps({"mcpServers": {"other": NEIGHBOUR}}, indent=2))
    if command == "uninstall":
        run("mcp", "install", "cursor")
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    result = run("mcp", command, "cursor", "--dry-run")

    assert result.exit_code == 0
    sign = "+" if command == "install" else "-"
    assert f'{sign}    "s1gw": {{' in result.stdout
    assert f"+++ {path}" in result.stdout
    assert "neighbours-key" not in result.stdout
    assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == before


@pytest.mark.parametrize(
    "text",
    [
        '{"servers": {}, "servers": {"x": {}}}',
        '{"servers": {} /* without an end',
        '{"servers": {},,}',
        '{"servers": []}',
        "[]",
        '{"x": NaN}',
        "{",
    ],
)
def test_a_file_that_would_lose_something_is_left_alone(spawn, text: str) -> None:
    path = put("vscode", text)
    done = spawn("mcp", "install", "vscode")

    assert done.returncode == 1
    assert "it was left alone" in done.stderr
    assert "--print" in done.stderr
    assert "Traceback" not in done.stderr
    assert path.read_text() == text
    assert names_in(path.parent) == [path.name]


def test_what_to_add_by_hand_can_be_printed(run) -> None:
    shown = json.loads(run("mcp", "install", "vscode", "--print").stdout)

    assert shown["servers"]["s1gw"]["args"] == ["serve", "--mcp"]
    assert not file_of("vscode").exists()


def test_links_and_permissions_stay(run, home) -> None:
    real = home / "dotfiles.json"
    real.write_text("{}")
    real.chmod(0o640)
    path = file_of("cursor")
    path.parent.mkdir(parents=True)
    path.symlink_to(real)
    run("mcp", "install", "cursor")

    assert path.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert "s1gw" in real.read_text()


def test_uninstalling_what_is_not_there_says_so(run) -> None:
    assert "does not have s1gw" in run("mcp", "uninstall", "cursor").stdout


def test_a_folder_that_cannot_be_written_is_told(spawn, home) -> None:
    (home / ".cursor").write_text("a file, not a folder")
    done = spawn("mcp", "install", "cursor")

    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "cannot be" in done.stderr
