"""The table that switches the decision log on."""

import pytest

from gateway_core.config.load import load_config


def load(tmp_path, text, environ=None):
    path = tmp_path / "config.toml"
    path.write_text(text)
    return load_config(path, environ or {})


def test_the_log_is_off_and_keeps_no_content_unless_asked(tmp_path):
    found = load(tmp_path, "").config.decision_log
    assert (found.enabled, found.content, found.shadow) == (False, False, ())


def test_the_table_and_the_environment_set_it(tmp_path):
    text = '[decision_log]\nenabled = true\npath = "log.sqlite3"\nshadow = ["b"]\nmax_mb = 5'
    loaded = load(tmp_path, text, {"S1GW_DECISION_LOG_CONTENT": "on"})
    assert loaded.faults == ()
    found = loaded.config.decision_log
    assert (found.enabled, found.content, found.shadow, found.max_mb) == (True, True, ("b",), 5)
    assert found.path == tmp_path / "log.sqlite3"


@pytest.mark.parametrize(
    "line", ["max_mb = 0", "max_age_days = -1", "contents = true", 'content = "maybe"']
)
def test_a_fault_is_named_and_no_content_is_kept(tmp_path, line):
    loaded = load(tmp_path, f"[decision_log]\nenabled = true\n{line}")
    assert loaded.faults[0].startswith(f"decision_log.{line.split()[0]}")
    assert not loaded.config.decision_log.content
