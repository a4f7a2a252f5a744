"""``s1gw health``, ``capabilities`` and ``models``: what the gateway says of itself."""

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import gateway_core


def test_a_fresh_machine_is_healthy_and_says_who_is_out_and_why(run) -> None:
    result = run("health")

    assert result.exit_code == 0
    assert result.stdout.startswith("ok\n")
    assert "local" in result.stdout
    assert "typesafe: TYPESAFE_API_KEY is not set" in result.stdout


def test_health_ends_with_1_when_nobody_can_answer(run, write_config) -> None:
    write_config("[decide]\nchain = ['gone']\n")
    result = run("health")

    assert result.exit_code == 1
    assert result.stdout.startswith("down\n")
    assert "fault: providers.gone: not configured" in result.stderr


def test_a_broken_configuration_is_told_and_does_not_stop_the_rest(run, write_config) -> None:
    write_config("[decide]\ntimeout_s = 'x'\nchain = ['local']\n")
    result = run("health")

    assert result.exit_code == 0
    assert 'fault: decide.timeout_s: expected a positive number, got "x"' in result.stderr


def test_strict_mode_makes_a_problem_fatal(spawn, write_config) -> None:
    import os

    write_config("[decide]\ntimeout_s = 'x'\nchain = ['local']\n")
    done = spawn("health", env={**os.environ, "S1GW_STRICT_PLUGINS": "1"})

    assert done.returncode == 1
    assert "error: decide.timeout_s" in done.stderr
    assert "Traceback" not in done.stderr


def test_capabilities_tell_chain_limits_and_plugins(run) -> None:
    shown = run("capabilities").stdout

    assert "chain (automatic): local" in shown
    assert "5 s an attempt, 25 s in all, threshold 0.6" in shown
    assert "yes_no: unsupported" in shown
    assert "s1gw-typesafe" in shown


def test_json_is_the_report_itself(run) -> None:
    assert json.loads(run("health", "--json").stdout)["status"] == "ok"
    assert json.loads(run("capabilities", "--json").stdout)["chain"] == ["local"]


def test_models_are_listed_with_their_prefix(run, write_config) -> None:
    write_config("[providers.mine]\ndialect = 'laya'\nmodels = ['a/b', 'c']\n")
    listed = json.loads(run("models", "--json").stdout)

    assert [model["id"] for model in listed] == ["mine/a/b", "mine/c", "local/local-e5-small"]
    assert listed[0] == {"id": "mine/a/b", "provider": "mine", "format": "systemone"}
    assert "mine/a/b" in run("models").stdout


def test_with_nobody_to_ask_every_report_says_so(run, monkeypatch) -> None:
    monkeypatch.setenv("S1GW_DISABLED_PLUGINS", "*")
    health = run("health")

    assert health.exit_code == 1
    assert "Nobody can be asked: install or configure a provider" in health.stdout
    assert "s1gw-local 0.1.0 is disabled" in health.stdout
    assert "chain (automatic): nobody" in run("capabilities").stdout
    assert run("models").stdout.split() == ["MODEL", "PROVIDER", "FORMAT"]


@pytest.fixture
def bare(tmp_path: Path) -> dict[str, str]:
    """The environment of a Python with the gateway, all that it needs, and no plugin."""
    folder = tmp_path / "site"
    folder.mkdir()
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if not path.name.startswith("s1gw_") and path.suffix != ".pth":
            (folder / path.name).symlink_to(path)
    host = Path(gateway_core.__file__).parents[1]
    return {"PYTHONPATH": f"{folder}{os.pathsep}{host}", "HOME": str(tmp_path)}


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("plugins list", "No plugin is installed."),
        ("health", "Nobody can be asked"),
        ("capabilities", "chain (automatic): nobody"),
    ],
)
def test_a_bare_installation_says_how_to_get_a_provider(
    bare: dict[str, str], command: str, told: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-S", "-m", "gateway_core.cli", *command.split()],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        env=bare,
    )

    assert told in done.stdout
    assert "Traceback" not in done.stderr


ORGS = """
[orgs.up.providers.engine]
dialect = "local"
models = ["jev-local"]
[orgs.half.providers.gone]
api_format = "systemone"
base_url = "http://127.0.0.1:9"
models = ["m"]
[orgs.half.providers.engine]
dialect = "local"
models = ["jev-local"]
[orgs.off.providers.engine]
dialect = "local"
models = ["jev-local"]
enabled = false
[orgs.off.providers.silent]
dialect = "local"
[orgs.bad.providers.engine]
dialect = "nosuch"
models = ["m"]
[orgs.empty]
"""


def test_the_operator_sees_how_every_organization_stands(run, write_config) -> None:
    write_config(ORGS)
    result = run("health", "--all-orgs", "--json")
    report = json.loads(result.stdout)

    assert (result.exit_code, report["status"]) == (1, "down")
    assert {org: own["status"] for org, own in report["orgs"].items()} == {
        "up": "ok",
        "half": "degraded",
        "off": "down",
        "bad": "down",
        "empty": "down",
    }
    assert report["orgs"]["off"]["left_out"] == {
        "engine": "enabled = false",
        "silent": "it lists no models",
    }
    assert "orgs.bad.providers.engine" in str(report["config_errors"])
    shown = run("health", "--all-orgs").stdout
    assert "half: degraded" in shown
    assert "nosuch" in shown


def test_health_of_organizations_is_well_when_each_can_be_answered(run, write_config) -> None:
    write_config(ORGS.partition("[orgs.off")[0])
    assert run("health", "--all-orgs").exit_code == 0
    write_config("")
    assert "No organization is configured" in run("health", "--all-orgs").stdout
