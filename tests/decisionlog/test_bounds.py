"""The log stays within its bounds, survives a crash, and is read while it is written."""

import resource
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime, timedelta

from gateway_core.decisionlog.reader import LogReader
from gateway_core.decisionlog.schema import open_log
from gateway_core.decisionlog.store import Store
from gateway_core.decisionlog.writer import DecisionLog
from gateway_core.wire.question import Question

WRITER = """
import itertools, pathlib, sys
from gateway_core.decisionlog.entry import Entry
from gateway_core.decisionlog.schema import open_log
from gateway_core.decisionlog.store import Store
from gateway_core.wire.question import Question
log = open_log(pathlib.Path(sys.argv[1]))
store = Store(log, content=True, max_bytes=1 << 26, max_age_days=9)
for number in itertools.count():
    store.add([Entry(request_id=str(number), question=Question(text="?"), status="decided")])
    print(number, flush=True)
"""


def test_old_entries_are_dropped(write, read, make_entry):
    path = write(make_entry("old"), make_entry("new"))
    connection = sqlite3.connect(path)
    long_ago = (datetime.now(UTC) - timedelta(days=31)).isoformat()
    connection.execute("UPDATE decisions SET logged_at = ? WHERE request_id = 'old'", [long_ago])
    connection.commit()
    connection.close()
    write(make_entry("newest"))
    assert [found["request_id"] for found in read(path)] == ["new", "newest"]


def test_the_oldest_entries_go_when_the_file_is_too_large(write, read, make_entry):
    long = Question(text="x" * 8000, options=("a", "b", "c"))
    path = write(
        *(make_entry(str(number), question=long) for number in range(1000)),
        content=True,
        max_bytes=1 << 20,
    )
    kept = [int(found["request_id"]) for found in read(path)]
    assert kept == list(range(kept[0], 1000))
    assert len(kept) > 50
    assert path.stat().st_size <= (1 << 20) + (1 << 16)


def test_labels_of_dropped_entries_go_too(write, make_entry):
    path = write(make_entry("old"))
    with LogReader(path) as reader:
        reader.label("old", "sales")
    connection = sqlite3.connect(path)
    connection.execute("UPDATE decisions SET logged_at = '2000'")
    connection.commit()
    write(make_entry("new"))
    assert connection.execute("SELECT COUNT(*) FROM labels").fetchone() == (0,)
    connection.close()


def test_a_reader_sees_entries_while_the_log_is_open(log_path, make_entry):
    store = Store(open_log(log_path), content=False, max_bytes=1 << 20, max_age_days=1)
    with LogReader(log_path) as reader:
        for request_id in ("first", "second"):
            store.add([make_entry(request_id)])
            assert reader.tail(1)[0]["request_id"] == request_id
        reader.label("first", "sales")
    store.connection.close()


def test_two_processes_may_write_one_log(log_path, read, make_entry):
    logs = [
        DecisionLog(log_path, content=False, max_bytes=1 << 24, max_age_days=1) for _ in range(2)
    ]
    for number in range(200):
        logs[number % 2].add(make_entry(str(number)))
    for log in logs:
        log.close()
    assert len(read(log_path)) == 200
    assert [log.losses.total for log in logs] == [0, 0]


def test_a_process_that_is_killed_leaves_a_whole_log(log_path, read):
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(log_path)], stdout=subprocess.PIPE, text=True
    )
    seen = [int(process.stdout.readline()) for _ in range(100)]
    process.kill()
    process.communicate()
    written = read(log_path)
    assert [found["request_id"] for found in written] == [str(n) for n in range(len(written))]
    assert len(written) > seen[-1]
    connection = sqlite3.connect(log_path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_a_full_disk_loses_entries_and_says_so_and_nothing_else(
    write, read, log_path, make_entry, caplog
):
    write(make_entry("before"))
    long = Question(text="x" * 8000, options=("a", "b", "c"))
    log = DecisionLog(log_path, content=True, max_bytes=1 << 24, max_age_days=1)
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, limit[1]))
    try:
        for number in range(100):
            log.add(make_entry(str(number), question=long))
        log.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert 0 < log.losses.total <= 100
    assert "the decision log lost entries (" in caplog.text
    write(make_entry("after"))
    kept = [found["request_id"] for found in read(log_path)]
    assert (kept[0], kept[-1]) == ("before", "after")
    assert len(kept) == 102 - log.losses.total


def test_adding_does_not_wait_for_a_locked_file(write, log_path, make_entry, read):
    write(make_entry("before"))
    log = DecisionLog(log_path, content=False, max_bytes=1 << 24, max_age_days=1)
    blocker = sqlite3.connect(log_path, isolation_level=None)
    blocker.execute("BEGIN EXCLUSIVE")
    for number in range(100):
        log.add(make_entry(str(number)))
    blocker.execute("ROLLBACK")
    blocker.close()
    log.close()
    assert len(read(log_path)) == 101
