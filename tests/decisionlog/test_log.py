"""What the decision log keeps, and what it does not."""

import sqlite3
import stat

import pytest

from gateway_core.decisionlog.reader import LogReader
from gateway_core.decisionlog.writer import DecisionLog
from gateway_core.errors import ConfigError, InvalidRequest
from gateway_core.wire.question import Question

SECRETIVE = Question(text="ask-me", options=("opt-a", "opt-b"), context={"who": "someone"})
TWO = {"question": SECRETIVE, "probabilities": (0.3, 0.7)}


def test_an_entry_is_read_back_as_it_was_written(write, read, make_entry):
    (found,) = read(write(make_entry(fit="cal-a", temperature=2.0, threshold=0.6), content=True))
    assert (found["request_id"], found["role"], found["status"]) == ("r1", "chain", "decided")
    assert (found["provider"], found["model"]) == ("laya", "laya-1")
    assert (found["question_type"], found["option_count"]) == ("options", 3)
    assert found["probabilities"] == {"sales": 0.1, "billing": 0.7, "tech": 0.2}
    assert (found["decision"], found["confidence"], found["gold"]) == ("billing", 0.7, None)
    assert (found["fit"], found["temperature"], found["threshold"]) == ("cal-a", 2.0, 0.6)
    assert (found["latency_ms"], found["attempts"][0]["outcome"]) == (12.5, "ok")
    assert found["question"] == "Who takes this?"


def test_without_content_nothing_of_the_question_is_in_the_file(write, read, make_entry):
    path = write(make_entry(**TWO))
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    for text in (b"ask-me", b"opt-a", b"opt-b", b"someone"):
        assert text not in path.read_bytes()
    (found,) = read(path)
    assert (found["decision"], found["probabilities"]) == (1, [0.3, 0.7])
    assert (found["question"], found["options"], found["context"]) == (None, None, None)


def test_with_content_the_question_is_kept_as_it_was_asked(write, read, make_entry):
    (found,) = read(write(make_entry(**TWO), content=True))
    assert (found["question"], found["options"]) == ("ask-me", ["opt-a", "opt-b"])
    assert found["context"] == {"who": "someone"}


def test_equal_questions_have_equal_digests_in_one_log_alone(write, read, make_entry, tmp_path):
    path = write(make_entry("a"), make_entry("b"), make_entry("c", **TWO))
    first, second, other = (found["digest"] for found in read(path))
    assert first == second != other
    elsewhere = DecisionLog(tmp_path / "x", content=False, max_bytes=1 << 20, max_age_days=1)
    elsewhere.add(make_entry("a"))
    elsewhere.close()
    assert read(tmp_path / "x")[0]["digest"] != first


def test_yes_and_no_are_named_even_without_content(write, read, make_entry):
    asked = {"question": Question(text="Is it late?"), "probabilities": (0.9, 0.1), "decision": 0}
    (found,) = read(write(make_entry(**asked)))
    assert (found["decision"], found["probabilities"]) == ("yes", {"yes": 0.9, "no": 0.1})


def test_a_failed_call_is_logged_without_an_answer(write, read, make_entry):
    failed = {"status": "error", "reason": "provider_timeout", "provider": None, "model": None}
    empty = {"probabilities": None, "decision": None, "confidence": None}
    (found,) = read(write(make_entry(**failed, **empty), content=True))
    assert (found["reason"], found["probabilities"], found["decision"]) == (
        "provider_timeout",
        None,
        None,
    )


@pytest.mark.parametrize("content", [True, False])
def test_a_label_names_an_option_and_the_last_one_counts(write, read, make_entry, content):
    path = write(make_entry(), content=content)
    with LogReader(path) as reader:
        reader.label("r1", "sales")
        assert reader.label("r1", "tech") == 2
        assert reader.show("r1")[0]["gold"] == ("tech" if content else 2)


def test_a_label_does_not_stick_to_another_question_of_the_same_id(write, read, make_entry):
    path = write(make_entry(), make_entry(**TWO), content=True)
    with LogReader(path) as reader:
        reader.label("r1", "opt-a")
    assert [found["gold"] for found in read(path)] == [None, "opt-a"]


@pytest.mark.parametrize(
    ("request_id", "gold", "said"),
    [("none", "sales", "no request 'none'"), ("r1", "legal", "sales, billing, tech")],
)
def test_a_label_that_fits_nothing_is_refused(write, make_entry, request_id, gold, said):
    path = write(make_entry(), content=True)
    with LogReader(path) as reader, pytest.raises(InvalidRequest, match=said):
        reader.label(request_id, gold)


def test_tail_gives_the_last_entries_oldest_first(write, make_entry):
    path = write(*(make_entry(f"r{number}") for number in range(5)))
    with LogReader(path) as reader:
        assert [found["request_id"] for found in reader.tail(2)] == ["r3", "r4"]


def test_the_log_is_for_its_owner_alone(write, make_entry):
    assert stat.S_IMODE(write(make_entry()).stat().st_mode) == 0o600


def test_a_log_that_is_not_there_says_how_to_get_one(tmp_path):
    with pytest.raises(ConfigError, match=r"decision_log\.enabled = true"):
        LogReader(tmp_path / "none")


def test_a_file_of_another_kind_is_refused(log_path):
    log_path.parent.mkdir()
    log_path.write_text("this is no database, and long enough to see that it is none " * 20)
    with pytest.raises(ConfigError, match="not a usable decision log"):
        LogReader(log_path)


def test_a_log_of_a_later_layout_is_refused(write, make_entry):
    path = write(make_entry())
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(ConfigError, match="later version"):
        LogReader(path)


def test_a_log_that_breaks_while_it_is_read_is_a_configuration_error(tmp_path):
    sqlite3.connect(tmp_path / "empty").close()
    (tmp_path / "empty").touch()
    with pytest.raises(ConfigError, match="cannot be used"), LogReader(tmp_path / "empty") as log:
        log.tail(1)
