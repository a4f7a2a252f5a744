"""``s1gw toggle``: a state that every process sees and that lasts."""

import json

from gateway_core.config.paths import state_dir
from gateway_core.pause import Pause


def is_paused() -> bool:
    return Pause(state_dir()).is_on()


def test_it_is_on_until_switched_off_and_off_until_switched_on(run) -> None:
    assert run("toggle").stdout == "Deciding is on.\n"
    assert run("toggle", "off").stdout.startswith("Deciding is off since ")
    assert is_paused()
    assert run("toggle", "off").exit_code == 0
    assert run("toggle", "status").stdout.startswith("Deciding is off since ")
    assert run("toggle", "on").stdout == "Deciding is on.\n"
    assert run("toggle", "on").exit_code == 0
    assert not is_paused()


def test_another_process_sees_it(run, spawn) -> None:
    spawn("toggle", "off")

    assert is_paused()
    status = json.loads(run("toggle", "--json").stdout)
    assert status["paused"] is True
    assert status["since"].endswith("+00:00")


def test_health_reports_that_deciding_is_paused(run) -> None:
    run("toggle", "off")
    report = json.loads(run("health", "--json").stdout)

    assert report["status"] == "paused"


def test_the_state_folder_can_be_chosen(run, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("S1GW_STATE_DIR", str(tmp_path / "a"))
    run("toggle", "off")
    monkeypatch.setenv("S1GW_STATE_DIR", str(tmp_path / "b"))

    assert run("toggle").stdout == "Deciding is on.\n"
