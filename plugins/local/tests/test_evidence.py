import asyncio
import re
from pathlib import Path

import pytest
from s1gw_local import evidence, fit
from s1gw_local.fitted import shipped_fit
from s1gw_local.metrics import hits
from s1gw_local.provider import NOTE
from s1gw_local.tasks import tasks, yes_no_examples

README = Path(__file__).parents[1] / "README.md"
NUMBER = re.compile(r"\d+(?:\.\d+)?")
# A processor that rounds otherwise may move one text in twelve in a row, and a total a little.
ROW, TOTAL = 0.09, 0.02


def numbers(text):
    """Return the figures of a text, percentages as shares."""
    return [
        float(found.group()) / (100 if text[found.end() : found.end() + 1] == "%" else 1)
        for found in NUMBER.finditer(text)
    ]


@pytest.mark.timeout(300)
def test_the_readme_gives_the_figures_that_the_command_computes():
    computed = evidence.evidence()
    written = README.read_text().partition("<!-- evidence -->\n")[2].partition("<!-- end -->")[0]
    assert NUMBER.sub("#", written) == NUMBER.sub("#", computed)
    for found, expected in zip(written.splitlines(), computed.splitlines(), strict=True):
        tolerance = TOTAL if "**all**" in found else ROW
        assert numbers(found) == pytest.approx(numbers(expected), abs=tolerance)


def test_the_figures_of_the_note_are_those_of_every_page_that_gives_them():
    right, count, guessing = re.findall(r"\d+%|\d+(?= test)", NOTE)
    assert f"| {count} | 5 to 8 | {right} |" in README.read_text()
    prose = " ".join(README.read_text().split())
    assert f"in {right} of cases among 5 to 8 options (guessing: {guessing})" in prose
    assert NOTE in (README.parents[2] / "README.md").read_text()


@pytest.mark.parametrize(("type_", "floor"), [("choice", 0.65), ("score", 0.52)])
def test_held_out_texts_are_answered_better_than_a_floor(type_, floor):
    rows = [one.row for task in tasks("test", type_) for one in asyncio.run(evidence.measure(task))]
    assert hits(rows) / len(rows) >= floor
    if type_ == "choice":
        share, count, guess = re.findall(r"(\d+)%|(\d+) test", NOTE)
        assert int(count[1]) == len(rows)
        assert hits(rows) / len(rows) == pytest.approx(int(share[0]) / 100, abs=0.02)
        assert sum(1 / len(p) for p, _ in rows) / len(rows) == pytest.approx(
            int(guess[0]) / 100, abs=0.005
        )


def test_yes_and_no_cannot_be_told_apart_well_enough_to_answer():
    found = [float(line.split("|")[2]) for line in evidence.yes_no().splitlines()[2:]]
    assert len(found) == 2
    assert all(0.4 < value < 0.75 for value in found)


def test_the_fit_that_ships_is_the_one_that_the_tuning_set_gives():
    learnt, shipped = fit.fit(), shipped_fit()
    assert learnt.temperature == pytest.approx(shipped.temperature, rel=0.05)
    assert learnt.state_mean == pytest.approx(shipped.state_mean, abs=0.003)
    assert learnt.option_mean == pytest.approx(shipped.option_mean, abs=0.003)


def test_no_text_and_no_question_is_in_both_the_tuning_and_the_test_set():
    splits = [
        {
            text
            for type_ in ("choice", "score")
            for task in tasks(split, type_)
            for example in task.examples
            for text in (example.question.subject, example.question.texts)
        }
        for split in ("tune", "test")
    ]
    assert all(splits)
    assert not splits[0] & splits[1]


def test_yes_and_no_are_balanced():
    truths = [one.answer for one in yes_no_examples()]
    assert len(truths) == 40
    assert sum(truths) == 20
