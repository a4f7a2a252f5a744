"""A decision log in a temporary folder, and entries to put into it."""

import pytest

from gateway_core.decisionlog.entry import Entry
from gateway_core.decisionlog.reader import LogReader
from gateway_core.decisionlog.writer import DecisionLog
from gateway_core.wire.question import Question

QUESTION = Question(text="Who takes this?", options=("sales", "billing", "tech"))


def entry(request_id="r1", **changes):
    usual = {
        "question": QUESTION,
        "status": "decided",
        "provider": "laya",
        "model": "laya-1",
        "probabilities": (0.1, 0.7, 0.2),
        "decision": 1,
        "confidence": 0.7,
        "latency_ms": 12.5,
        "attempts": ({"provider": "laya", "outcome": "ok", "latency_ms": 12.0, "detail": None},),
    }
    return Entry(request_id=request_id, **(usual | changes))


@pytest.fixture
def make_entry():
    return entry


@pytest.fixture
def log_path(tmp_path):
    return tmp_path / "log" / "decisions.sqlite3"


@pytest.fixture
def write(log_path):
    """Write entries through a log that is closed afterwards; return the log's path."""

    def written(*entries, **settings):
        usual = {"content": False, "max_bytes": 1 << 24, "max_age_days": 30}
        log = DecisionLog(log_path, **(usual | settings))
        for one in entries:
            log.add(one)
        log.close()
        return log_path

    return written


@pytest.fixture
def read():
    def entries(path):
        with LogReader(path) as reader:
            return list(reader.entries())

    return entries
