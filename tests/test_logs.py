"""What goes to stderr, in one format, with the id of the request that it belongs to."""

import json
import logging

import pytest

from gateway_core import logs

PLUGINS = logging.getLogger("acme.audit")


@pytest.fixture(autouse=True)
def _request():
    token = logs.request_id.set("r-1")
    yield
    logs.request_id.reset(token)


def test_a_plugins_own_warning_carries_the_requests_id(capsys) -> None:
    logs.setup()
    PLUGINS.warning("cache is full")

    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(" warning [r-1] acme.audit: cache is full")


def test_json_lines_hold_the_same(capsys) -> None:
    logs.setup("json")
    PLUGINS.warning("cache is full")

    line = json.loads(capsys.readouterr().err)
    assert (line["level"], line["request_id"], line["logger"], line["message"]) == (
        "warning",
        "r-1",
        "acme.audit",
        "cache is full",
    )


def test_a_second_setup_replaces_the_first(capsys) -> None:
    logs.setup("json")
    logs.setup("text", "warning")
    logging.getLogger("s1gw.decide").info("decided")
    logging.getLogger("s1gw.decide").warning("crashed")

    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(" warning [r-1] s1gw.decide: crashed")


def test_an_exception_shows_its_type_at_most(capsys) -> None:
    logs.setup()
    try:
        raise ValueError("sk-secret")
    except ValueError:
        PLUGINS.exception("lost a line")

    shown = capsys.readouterr().err
    assert "lost a line" in shown
    assert "sk-secret" not in shown
    assert "Traceback" not in shown


def test_a_line_stays_one_line(capsys) -> None:
    logs.setup()
    PLUGINS.warning("first\nsecond")

    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize("library", ["mcp", "httpx"])
def test_libraries_that_may_log_what_callers_sent_are_quiet(capsys, library: str) -> None:
    logs.setup()
    logging.getLogger(f"{library}.server").error("body: sk-secret")

    assert capsys.readouterr().err == ""


HIDDEN = "\u202e\u2066\u200b\u2028\u2029\u0085\u009b\x1b\x7f\ufeff\U000e0041\r"


@pytest.mark.parametrize("style", ["text", "json"])
def test_no_line_holds_characters_that_hide_or_end_it(capsys, style: str) -> None:
    logs.setup(style)
    PLUGINS.warning("Straße %s end", HIDDEN, extra=logs.fields(cause=HIDDEN))

    line = capsys.readouterr().err
    assert line.endswith("\n")
    assert line[:-1].isprintable()
    assert "Straße" in line
    if style == "json":
        assert json.loads(line)["message"] == f"Straße {HIDDEN} end"
        assert json.loads(line)["cause"] == HIDDEN


def test_fields_stand_behind_the_message(capsys) -> None:
    logs.setup()
    PLUGINS.warning("failed", extra=logs.fields(cause="dns", upstream_status=None))

    assert capsys.readouterr().err.endswith(" acme.audit: failed cause=dns\n")
