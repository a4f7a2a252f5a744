"""A log whose file cannot be used for a while keeps what comes meanwhile."""

import logging
import sqlite3
import threading
from contextlib import contextmanager

import pytest

from gateway_core.decisionlog.writer import DecisionLog

PATIENCE_S = 30


@contextmanager
def locked(path):
    """Hold the file as a backup does."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("BEGIN EXCLUSIVE")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")
        connection.close()


@pytest.fixture
def open_log(log_path):
    def opened(**settings):
        usual = {"content": False, "max_bytes": 1 << 24, "max_age_days": 30}
        return DecisionLog(log_path, **(usual | settings))

    return opened


@pytest.fixture
def logged(caplog):
    """Return a function that waits until the log says something."""
    caplog.set_level(logging.INFO, "s1gw.decisionlog")
    said = threading.Condition()

    class Notice(logging.Handler):
        def emit(self, record):
            with said:
                said.notify_all()

    notice = Notice()
    logger = logging.getLogger("s1gw.decisionlog")
    logger.addHandler(notice)

    def wait_for(text):
        with said:
            assert said.wait_for(lambda: text in caplog.text, PATIENCE_S), caplog.text

    yield wait_for
    logger.removeHandler(notice)


def ids(entries):
    return [entry["request_id"] for entry in entries]


def test_a_log_that_is_locked_at_the_start_is_kept_once_it_is_free(
    write, open_log, logged, make_entry, read
):
    path = write(make_entry("before"))
    with locked(path):
        log = open_log()
        assert "locked" in log.problem
        log.add(make_entry("during"))
    logged("is written again")
    assert log.problem is None
    log.add(make_entry("after"))
    log.close()
    assert ids(read(path)) == ["before", "during", "after"]
    assert log.losses.total == 0


def test_a_log_that_is_locked_while_it_is_written_loses_nothing(
    write, open_log, logged, make_entry, read
):
    path = write(make_entry("before"))
    log = open_log()
    with locked(path):
        log.add(make_entry("during"))
        logged("cannot be written, and is tried again")
        assert "locked" in log.problem
    logged("is written again")
    log.close()
    assert ids(read(path)) == ["before", "during"]


def test_a_folder_that_comes_later_is_used(log_path, open_log, logged, make_entry, read):
    log_path.parent.write_text("no folder yet")
    log = open_log()
    assert "cannot be opened" in log.problem
    log.add(make_entry("early"))
    log_path.parent.unlink()
    logged("is written again")
    log.close()
    assert ids(read(log_path)) == ["early"]


def test_a_file_that_is_no_log_is_left_alone_and_replaced_when_it_is_gone(
    log_path, open_log, logged, make_entry, read
):
    log_path.parent.mkdir()
    log_path.write_text("my diary, which is no database at all\n" * 20)
    log = open_log()
    assert "not a usable decision log" in log.problem
    log.add(make_entry("early"))
    assert log_path.read_text().startswith("my diary")
    log_path.unlink()
    logged("is written again")
    log.close()
    assert ids(read(log_path)) == ["early"]


def test_a_log_that_is_moved_away_while_it_is_written_is_made_anew(
    log_path, open_log, make_entry, read
):
    first = open_log()
    first.add(make_entry("old"))
    first.close()
    log = open_log()
    log_path.rename(log_path.with_name("archived.sqlite3"))
    log.add(make_entry("new"))
    log.close()
    assert ids(read(log_path)) == ["new"]


def test_what_no_file_can_hold_is_counted_and_takes_nothing_else_along(
    open_log, log_path, make_entry, read, caplog
):
    log = open_log()
    for name in ("good", "half an emoji", "fine"):
        model = "\ud83d" if name == "half an emoji" else "m"
        log.add(make_entry(name, model=model))
    log.close()
    assert ids(read(log_path)) == ["good", "fine"]
    assert log.losses.total == 1
    assert "lost entries (1, 1 since the start)" in caplog.text


def test_what_waits_at_the_end_for_a_file_that_stays_locked_is_counted(
    write, open_log, make_entry, caplog
):
    with locked(write(make_entry("before"))):
        log = open_log()
        for number in range(700):
            log.add(make_entry(str(number)))
        log.close()
    assert log.losses.total == 700
    assert "lost entries (700, 700 since the start)" in caplog.text
    assert "locked" in caplog.text
