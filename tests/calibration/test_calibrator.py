"""Loading fits and applying the one that matches."""

import json
import os
import subprocess
import sys

import pytest

from gateway_core.calibration import Calibrator
from gateway_core.calibration.fitfile import BucketFit, FitFile, write_json

ASKED = {"provider": "laya", "model": "laya-1", "question_type": "options"}
THREE = {"billing": 0.7, "sales": 0.2, "other": 0.1}


def bucket_fit(**changes):
    usual = {"model": "laya-1", "question_type": "options", "bucket": "3-5", "examples": 400}
    return BucketFit(**{"temperature": 2.0, **usual, **changes})


def save(folder, *fits, name="cal-a", created="2026-01-01T00:00:00Z", provider="laya"):
    record = FitFile(id=name, provider=provider, created=created, fits=fits)
    write_json(folder / f"{name}.json", record)


def test_a_matching_fit_is_applied_and_named(tmp_path):
    save(tmp_path, bucket_fit())
    found = Calibrator.load(tmp_path).apply(**ASKED, probabilities=THREE)
    assert list(found.probabilities) == list(THREE)
    assert found.probabilities["billing"] == pytest.approx(0.522879, abs=1e-6)
    assert (found.info.id, found.info.temperature) == ("cal-a", 2.0)
    assert (found.info.examples, found.info.bucket) == (400, "3-5")
    assert found.warnings == ()


def test_a_fit_lifts_what_the_provider_rounded_to_0_as_it_was_fitted(tmp_path):
    save(tmp_path, bucket_fit(floor=0.0004))
    found = Calibrator.load(tmp_path).apply(**ASKED, probabilities={"a": 1.0, "b": 0.0, "c": 0.0})
    assert found.probabilities == pytest.approx({"a": 1 / 1.04, "b": 0.02 / 1.04, "c": 0.02 / 1.04})


def test_yes_no_is_a_two_class_case(tmp_path):
    save(tmp_path, bucket_fit(question_type="yes_no", bucket="2"))
    asked = ASKED | {"question_type": "yes_no"}
    found = Calibrator.load(tmp_path).apply(**asked, probabilities={"yes": 0.9, "no": 0.1})
    assert found.probabilities == pytest.approx({"yes": 0.75, "no": 0.25})


@pytest.mark.parametrize(
    "difference", [{"provider": "other"}, {"question_type": "yes_no"}, {"count": 6}]
)
def test_a_fit_for_other_questions_is_neither_applied_nor_stale(tmp_path, difference):
    save(tmp_path, bucket_fit())
    count = difference.pop("count", 3)
    raw = {str(index): 1 / count for index in range(count)}
    calibrator = Calibrator.load(tmp_path)
    found = calibrator.apply(**(ASKED | difference), probabilities=raw)
    assert found.probabilities == raw
    assert (found.info, found.warnings, calibrator.stale) == (None, (), {})


def test_a_fit_of_another_model_is_stale_until_its_model_answers_again(tmp_path):
    save(tmp_path, bucket_fit())
    calibrator = Calibrator.load(tmp_path)
    found = calibrator.apply(**(ASKED | {"model": "laya-2"}), probabilities=THREE)
    assert found.info is None
    assert found.probabilities == THREE
    assert "'laya-1'" in found.warnings[0]
    assert "'laya-2'" in found.warnings[0]
    assert list(calibrator.stale) == ["cal-a"]
    calibrator.apply(**ASKED, probabilities=THREE)
    assert calibrator.stale == {}


def test_two_models_of_one_provider_each_have_their_fit(tmp_path):
    save(tmp_path, bucket_fit(), bucket_fit(model="laya-2", temperature=4.0))
    calibrator = Calibrator.load(tmp_path)
    for model, temperature in (("laya-1", 2.0), ("laya-2", 4.0)):
        found = calibrator.apply(**(ASKED | {"model": model}), probabilities=THREE)
        assert found.info.temperature == temperature
    assert calibrator.stale == {}


def test_the_most_specific_fit_wins_and_any_serves_the_rest(tmp_path):
    save(tmp_path, bucket_fit(bucket="any", temperature=5.0), bucket_fit())
    calibrator = Calibrator.load(tmp_path)
    assert calibrator.apply(**ASKED, probabilities=THREE).info.temperature == 2.0
    two = {"a": 0.8, "b": 0.2}
    assert calibrator.apply(**ASKED, probabilities=two).info.temperature == 5.0


def test_of_two_equal_fits_the_one_created_last_is_used(tmp_path):
    save(tmp_path, bucket_fit(temperature=3.0), name="cal-a", created="2026-03-01T00:00:00Z")
    save(tmp_path, bucket_fit(temperature=2.0), name="cal-b", created="2026-02-01T00:00:00Z")
    assert Calibrator.load(tmp_path).apply(**ASKED, probabilities=THREE).info.id == "cal-a"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "bad.json"),
        ("[]", "Expected `object`"),
        ('{"version": 2}', "$.version"),
        ('{"version": 1, "id": "x", "provider": "p", "created": "c"}', "`fits`"),
    ],
)
def test_a_corrupt_file_is_listed_and_the_others_are_used(tmp_path, text, said):
    save(tmp_path, bucket_fit())
    (tmp_path / "bad.json").write_text(text)
    calibrator = Calibrator.load(tmp_path)
    assert said in calibrator.problems[0]
    assert calibrator.apply(**ASKED, probabilities=THREE).info.id == "cal-a"


@pytest.mark.parametrize("temperature", [0.01, 0, -1, 21, "2", None])
def test_a_temperature_out_of_range_makes_the_file_a_problem(tmp_path, temperature):
    save(tmp_path, bucket_fit())
    content = json.loads((tmp_path / "cal-a.json").read_text())
    content["fits"][0]["temperature"] = temperature
    (tmp_path / "cal-a.json").write_text(json.dumps(content))
    assert "$.fits[0].temperature" in Calibrator.load(tmp_path).problems[0]


def test_without_fits_nothing_is_imported_to_read_them(tmp_path):
    code = (
        "import pathlib, sys; from gateway_core.calibration import Calibrator, Thresholds\n"
        "Calibrator.load(pathlib.Path('.')); Thresholds.load(pathlib.Path('.'), 0.6, {})\n"
        "assert not {'msgspec', 'numpy', 'scipy', 'tempfile'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)


def test_a_missing_folder_holds_no_fits(tmp_path):
    calibrator = Calibrator.load(tmp_path / "none")
    assert (calibrator.fits, calibrator.problems) == ((), ())


def test_a_folder_that_cannot_be_listed_is_a_problem_and_no_end(tmp_path):
    save(tmp_path / "state" / "calibration", bucket_fit())
    code = (
        "import pathlib, sys; from gateway_core.calibration import Calibrator, Thresholds\n"
        "state = pathlib.Path(sys.argv[1]); found = Calibrator.load(state / 'calibration')\n"
        "found.refresh(); thresholds = Thresholds.load(state, 0, {})\n"
        "print(found.fits, *found.problems, *thresholds.problems)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "state")]
    if os.geteuid() == 0:
        # What root may do beyond its file permissions would hide the fault.
        command[:0] = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    (tmp_path / "state").chmod(0)
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    finally:
        (tmp_path / "state").chmod(0o700)
    assert done.stdout == (
        "() calibration fits cannot be read: Permission denied thresholds.json: Permission denied\n"
    )


def test_a_fit_file_is_read_by_people_and_leaves_no_scraps(tmp_path):
    save(tmp_path, bucket_fit())
    assert [path.name for path in tmp_path.iterdir()] == ["cal-a.json"]
    lines = (tmp_path / "cal-a.json").read_text().splitlines()
    assert lines[1] == '  "version": 1,'
    assert lines[2] == '  "id": "cal-a",'
