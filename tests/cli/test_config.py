"""``s1gw config``: where it is, what it says, what is wrong, and how to start."""

import json
import tomllib
from pathlib import Path

import pytest

from gateway_core.config.load import load_config


def test_the_path_follows_option_then_variable_then_platform(run, home, monkeypatch) -> None:
    assert run("config", "path").stdout.strip().startswith(str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", "/x")
    assert run("config", "path").stdout == "/x/s1gw/config.toml\n"
    monkeypatch.setenv("S1GW_CONFIG", "/y.toml")
    assert run("config", "path").stdout == "/y.toml\n"
    assert run("--config", "/z.toml", "config", "path").stdout == "/z.toml\n"


def test_show_is_toml_that_says_what_is_in_force(run, write_config, monkeypatch) -> None:
    path = write_config(
        "[decide]\ntimeout_s = 3\n[providers.x]\ndialect = 'laya'\napi_key = { env = 'KEY' }\n"
    )
    monkeypatch.setenv("KEY", "s3cret")
    monkeypatch.setenv("S1GW_DECIDE_THRESHOLD", "0.75")
    result = run("config", "show")
    tables = tomllib.loads(result.stdout)

    assert f"# file: {path}" in result.stdout
    assert "# decide.threshold: from S1GW_DECIDE_THRESHOLD" in result.stdout
    assert (tables["decide"]["timeout_s"], tables["decide"]["threshold"]) == (3.0, 0.75)
    assert tables["providers"]["x"]["api_key"] == "***"
    assert "s3cret" not in result.output
    assert json.loads(run("config", "show", "--json").stdout) == tables


def test_show_tells_faults_on_stderr(run, write_config) -> None:
    write_config("[decide]\ntimeout_s = 'x'\n")
    result = run("config", "show")

    assert result.exit_code == 0
    assert "fault: decide.timeout_s: " in result.stderr


def test_check_lists_every_fault_at_once(spawn, write_config) -> None:
    write_config(
        "[decide]\ntimeout_s = 'fast'\nchain = ['gone']\n[providers.a]\ndialect = 'nope'\n"
        "[providers.b]\ndialect = 'generic-systemone'\nsettings = { servr = 'x' }\n"
        "[orgs.o.providers.c]\napi_key = 'hunter2'\n"
    )
    done = spawn("config", "check")

    assert done.returncode == 1
    assert [line.split(": ")[1] for line in done.stderr.splitlines()] == [
        "decide.timeout_s",
        "orgs.o.providers.c.api_key",
        "providers.a",
        "providers.gone",
        "providers.b.settings.servr",
    ]
    assert 'did you mean "server"' in done.stderr
    assert "hunter2" not in done.stderr


def test_check_as_json_has_the_same_faults(run, write_config) -> None:
    path = write_config("[decide]\ntimeout_s = 'fast'\n")
    result = run("config", "check", "--json")

    assert result.exit_code == 1
    assert json.loads(result.stdout) == {
        "file": str(path),
        "faults": ['decide.timeout_s: expected a positive number, got "fast"'],
        "notes": [],
    }


def test_check_names_tables_that_speak_of_providers_nobody_can_ask(run, write_config) -> None:
    write_config("[decide]\nchain = ['local']\n[decide.thresholds]\nlocla = 0.9\n")
    result = run("config", "check")

    assert result.exit_code == 1
    assert "decide.thresholds: there is no provider 'locla'" in result.stderr


@pytest.mark.parametrize("name", ["local", "typesafe", "openai", "openai-decisions"])
def test_check_knows_installed_providers_beside_the_chain(run, write_config, name: str) -> None:
    write_config(f"[decide]\nchain = ['local']\n[decide.thresholds]\n{name} = 0.9\n")
    assert run("config", "check").stdout == "The configuration is sound.\n"


def test_check_is_content_with_a_sound_configuration(run, write_config) -> None:
    write_config("[decide]\nchain = ['local']\n")
    result = run("config", "check")

    assert (result.exit_code, result.stdout) == (0, "The configuration is sound.\n")


def test_init_writes_a_file_that_is_sound_and_private(run, tmp_path, monkeypatch) -> None:
    path = tmp_path / "deep" / "config.toml"
    monkeypatch.setenv("S1GW_CONFIG", str(path))

    assert run("config", "init").exit_code == 0
    assert load_config(path, {}).faults == ()
    assert path.stat().st_mode & 0o077 == 0
    assert run("config", "check").exit_code == 0
    schema = path.with_name("config.schema.json").read_text()
    assert schema == run("config", "schema").stdout


def test_init_never_replaces_a_file_unless_told_and_keeps_a_copy(run, write_config) -> None:
    path = write_config("[decide]\ntimeout_s = 3\n")

    refused = run("config", "init")
    assert refused.exit_code == 1
    assert "is there already" in refused.stderr
    assert path.read_text() == "[decide]\ntimeout_s = 3\n"

    assert run("config", "init", "--force").exit_code == 0
    assert Path(f"{path}.bak").read_text() == "[decide]\ntimeout_s = 3\n"
    assert path.read_text().startswith("#:schema ./config.schema.json\n# The configuration")


def test_init_tells_in_one_line_what_it_cannot_replace(run, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("S1GW_CONFIG", str(tmp_path))
    result = run("config", "init", "--force")

    assert (result.exit_code, result.stderr) == (1, f"error: {tmp_path}: Is a directory\n")


def test_init_puts_a_file_in_place_of_a_circle_of_links(run, tmp_path, monkeypatch) -> None:
    circle = tmp_path / "config.toml"
    circle.symlink_to(circle)
    monkeypatch.setenv("S1GW_CONFIG", str(circle))

    assert run("config", "init").exit_code == 0
    assert run("config", "check").exit_code == 0


@pytest.mark.parametrize("option", [["--config", "~/mine.toml"], ["--config=~/mine.toml"]])
def test_the_file_may_be_named_with_a_tilde(run, tmp_path, monkeypatch, option) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "mine.toml").write_text("[decide]\nthreshold = 0.321\n")

    assert "0.321" in run(*option, "config", "show").stdout
    assert run(*option, "config", "path").stdout.strip() == str(tmp_path / "mine.toml")


def test_no_command_has_a_path_among_its_options_that_takes_no_tilde() -> None:
    import click

    from gateway_core.cli import main
    from gateway_core.cli.paths import UserPath

    def parameters(command: click.Command, context: click.Context) -> list[click.Parameter]:
        found = list(command.params)
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                inner = command.get_command(context, name)
                assert inner is not None
                found += parameters(inner, context)
        return found

    paths = [p for p in parameters(main, click.Context(main)) if isinstance(p.type, click.Path)]
    assert len(paths) >= 6
    assert [p.name for p in paths if not isinstance(p.type, UserPath)] == []
