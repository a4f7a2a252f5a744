"""A spreadsheet is read as the same lines of JSONL are."""

import csv
import io
import json

import pytest

COLUMNS = ("question", "options", "gold", "probabilities", "provider", "model")
ROWS = [
    {
        "question": f"Ticket {number}; who takes it?",
        "options": ["billing", "tech, on call"],
        "gold": "billing" if number % 5 else "tech, on call",
        "probabilities": [0.95, 0.05],
        "provider": "acme",
        "model": "m-1",
    }
    for number in range(100)
]


def as_csv(rows, lists, delimiter=",", columns=COLUMNS):
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerow(columns)
    for row in rows:
        cells = [row[name] for name in COLUMNS]
        writer.writerow([lists(cell) if isinstance(cell, list) else cell for cell in cells])
    return text.getvalue()


def piped(items):
    return "|".join(map(str, items))


@pytest.fixture
def fit(run, tmp_path):
    """Fit from a file of that text and return the table's row."""

    def fitted(text, name="tickets.csv", *more, code=0):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return run("calibrate", "fit", str(path), "--provider", "acme", *more, code=code)

    return fitted


@pytest.mark.parametrize("lists", [json.dumps, piped])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_csv_gives_what_jsonl_gives(fit, lists, delimiter):
    known = fit("\n".join(map(json.dumps, ROWS)), "rows.jsonl").stdout.splitlines()[1]
    found = fit("\ufeff" + as_csv(ROWS, lists, delimiter)).stdout.splitlines()[1]
    assert found == known


def test_columns_may_be_called_otherwise(fit):
    text = as_csv(ROWS, piped, columns=("Text", *COLUMNS[1:]))
    assert "m-1" in fit(text, "t.csv", "--column", "question=Text").stdout
    missing = fit(text, "t.csv", "--column", "question=Txt", code=1).stderr
    assert "the file has no column 'Txt'; it has Text, options" in missing
    assert "expected VALUE=NAME" in fit(text, "t.csv", "--column", "question", code=2).stderr


def test_a_bad_row_is_named(fit):
    bad = as_csv([*ROWS, {**ROWS[0], "gold": "sales"}], piped)
    assert "line 102 (row 102): gold: 'sales' is not among" in fit(bad, code=1).stderr
    assert "not UTF-8" not in fit(bad, "t.csv", "--skip-bad").stderr


def test_the_exported_log_is_read_again(run, tmp_path, options):
    for number in range(40):
        reply = json.loads(run("decide", f"Ticket {number}?", *options, "--json").stdout)
        run("log", "label", reply["request_id"], "billing" if number % 3 else "tech")
    path = tmp_path / "log.csv"
    run("log", "export", "--format", "csv", "-o", str(path))
    found = run("calibrate", "fit", str(path), "--provider", "acme").stdout
    logged = run("calibrate", "fit", "--from-log", "--provider", "acme").stdout
    assert found.splitlines()[1] == logged.splitlines()[1]
