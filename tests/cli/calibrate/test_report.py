"""``s1gw calibrate report``: a table and a page."""

import json
import resource


def test_a_report_is_a_table_and_a_page(run, labelled, tmp_path):
    out = tmp_path / "page.html"
    path = labelled(60)
    found = run("calibrate", "report", path, "--provider", "acme", "--yes", "-o", str(out))
    assert "70.0%" in found.stdout
    assert "<h2>acme, acme-1, 3-5 options</h2>" in out.read_text(encoding="utf-8")


def test_a_report_that_cannot_be_written_leaves_the_last_one(run, labelled, tmp_path):
    page = tmp_path / "page.html"
    arguments = ("calibrate", "report", labelled(40), "--provider", "acme", "--yes", "-o")
    run(*arguments, str(page))
    before = page.read_text(encoding="utf-8")
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limit[1]))
    try:
        found = run(*arguments, str(page), code=1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert f"{page} cannot be written: File too large" in found.stderr
    assert page.read_text(encoding="utf-8") == before
    assert [path.name for path in tmp_path.glob("tmp*")] == []


def test_a_report_tells_which_of_two_is_right_more_often(run, tmp_path):
    rows = [
        {"request_id": str(number), "provider": name, "model": "m", "probabilities": spread}
        for number in range(50)
        for name, spread in (("first", [0.9, 0.1]), ("second", [0.2, 0.8]))
    ]
    path = tmp_path / "recorded.jsonl"
    path.write_text("\n".join(json.dumps(row | {"gold": 0}) for row in rows))
    found = run("calibrate", "report", str(path), "-o", str(tmp_path / "page.html")).stdout
    assert "first against second: +100.0 points of accuracy (+89.9 to +100.0) on the 50" in found


def told(number, spread, gold, **changes):
    row = {"request_id": str(number), "provider": "p", "model": "m", "question_type": "options"}
    return {**row, "probabilities": spread, "gold": gold, **changes}


def test_kinds_of_questions_and_models_have_rows_of_their_own(run, tmp_path):
    rows = [
        *[told(n, [0.9, 0.1], n % 5 == 0) for n in range(60)],
        *[told(100 + n, [0.9, 0.1], 0, model="other") for n in range(60)],
        *[told(200 + n, [1.0] + [0.0] * 7, int(n % 9 == 0)) for n in range(60)],
    ]
    path = tmp_path / "recorded.jsonl"
    path.write_text("\n".join(json.dumps(row | {"gold": int(row["gold"])}) for row in rows))
    run("calibrate", "fit", str(path), "--provider", "p", "--force")
    (tmp_path / "state" / "calibration").joinpath("x").touch()
    found = json.loads(run("calibrate", "report", str(path), "--json").stdout)
    kinds = [(part["model"], part["bucket"]) for part in found["parts"]]
    assert kinds == [("m", "2"), ("other", "2"), ("m", "6-10")]
    assert "recorded.jsonl, sha256:" in found["source"]
    for part in found["parts"]:
        after = part["quality_calibrated"]
        assert after is None or after["nll"]["value"] <= part["quality_raw"]["nll"]["value"] + 0.05
    lines = run("calibrate", "report", str(path), "--csv").stdout.splitlines()
    assert lines[0].startswith("provider,model,type,options,examples,accuracy")
    assert len(lines) == 4


def test_a_favourite_option_is_named(run, tmp_path):
    options = ["a", "b"]
    rows = []
    for number in range(400):
        decided, right = number % 2, number % 20 < (11 if number % 2 == 0 else 20)
        spread = [0.75, 0.25] if decided == 0 else [0.25, 0.75]
        gold = options[decided if right else 1 - decided]
        row = {"question": f"Q{number}?", "options": options, "gold": gold, "model": "m"}
        rows.append(row | {"provider": "p", "probabilities": spread})
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    page = tmp_path / "page.html"
    found = run("calibrate", "report", str(path), "-o", str(page)).stdout
    assert "one temperature is not enough" in found
    text = page.read_text(encoding="utf-8")
    assert "By option" in text
    assert "Surest mistakes" in text


def test_only_what_was_logged_within_the_days_counts(run, tmp_path):
    rows = [
        told(n, [0.9, 0.1], 0, logged_at=f"2026-0{1 + n // 40}-15T10:00:00") for n in range(120)
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, [*rows, told(999, [0.9, 0.1], 0)])))
    days = ("--since", "2026-02-01", "--until", "2026-03-15")
    found = run("calibrate", "report", str(path), "--json", *days)
    (part,) = json.loads(found.stdout)["parts"]
    assert [month for month, _ in part["months"]] == ["2026-02", "2026-03"]
    assert "1 examples do not say when" in found.stderr
