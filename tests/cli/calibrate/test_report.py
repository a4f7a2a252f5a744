"""``s1gw calibrate report``: a table and a page."""

import json
import resource


def test_a_report_is_a_table_and_a_page(run, labelled, tmp_path):
    out = tmp_path / "page.html"
    path = labelled(60)
    found = run("calibrate", "report", path, "--provider", "acme", "--yes", "-o", str(out))
    assert "70.0%" in found.stdout
    assert "<h2>acme</h2>" in out.read_text(encoding="utf-8")


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
