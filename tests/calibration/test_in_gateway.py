"""Fits, thresholds and the log in a gateway that is opened as programs open it."""

from datetime import UTC, datetime

import anyio
import attrs
import pytest

from gateway_core.calibration.fitfile import BucketFit, FitFile, write_json
from gateway_core.calibration.thresholdfile import MeasuredThreshold, apply_thresholds
from gateway_core.decisionlog.reader import LogReader
from gateway_core.gateway import Gateway
from gateway_core.testing import Reply, ScriptedUpstream

pytestmark = pytest.mark.anyio
ASKED = {"question": "Who?", "options": ["a", "b", "c"]}
NOW = datetime(2026, 1, 1, tzinfo=UTC)
FIT = BucketFit(model="m-1", question_type="options", bucket="3-5", temperature=2.0, examples=400)


@pytest.fixture
def answering():
    """Serve ``a`` with 0.7, from the model that is asked for."""
    with ScriptedUpstream() as server:

        def answer(model):
            spread = {"a": 0.7, "b": 0.2, "c": 0.1}
            choice = {"type": "choice", "choice": "a", "probabilities": spread}
            server.answer(Reply(body={"model": model, "answers": {"decision": choice}}))
            return server.url

        yield answer


@pytest.fixture
def configure(tmp_path, monkeypatch):
    """Write a configuration, a fit and a measured threshold; return the configuration's path."""
    monkeypatch.setenv("S1GW_STATE_DIR", str(tmp_path / "state"))

    def written(url, more=""):
        fit = FitFile(id="fit-1", provider="acme", created="2026", fits=(FIT,))
        write_json(tmp_path / "state" / "calibration" / "fit-1.json", fit)
        path = tmp_path / "config.toml"
        path.write_text(
            f'[decide]\nchain = ["acme"]\n{more}\n[providers.acme]\n'
            f'dialect = "generic-systemone"\nbase_url = "{url}"\nmodels = ["m"]\n'
            "[decision_log]\nenabled = true\ncontent = true\n"
        )
        return path

    return written


def measured(threshold, fit="fit-1"):
    return MeasuredThreshold(
        provider="acme",
        model="m-1",
        question_type="options",
        bucket="3-5",
        fit=fit,
        threshold=threshold,
        max_error=0.1,
        examples=400,
        accepted=300,
        errors=3,
        error_bound=0.03,
    )


async def test_a_fit_is_applied_named_and_logged(answering, configure, tmp_path):
    async with Gateway.open(configure(answering("m-1"))) as gateway:
        reply = await gateway.decide(ASKED | {"min_confidence": 0.5})
        listed = (await gateway.capabilities())["calibration"]
    assert reply["calibrated"]
    assert reply["confidence"] == pytest.approx(0.522879, abs=1e-6)
    told = {"id": "fit-1", "temperature": 2.0, "examples": 400, "bucket": "3-5"}
    assert reply["calibration"] == told
    assert [(fit["id"], fit["stale"]) for fit in listed] == [("fit-1", None)]
    with LogReader(tmp_path / "state" / "decisions.sqlite3") as reader:
        (entry,) = reader.tail(5)
    assert entry["probabilities"] == pytest.approx({"a": 0.7, "b": 0.2, "c": 0.1})
    assert (entry["fit"], entry["temperature"]) == ("fit-1", 2.0)
    assert entry["confidence"] == reply["confidence"]


async def test_a_stale_fit_is_told_everywhere_and_not_applied(answering, configure):
    async with Gateway.open(configure(answering("m-2"))) as gateway:
        reply = await gateway.decide(ASKED)
        health, capabilities = await gateway.health(), await gateway.capabilities()
    assert (reply["calibrated"], reply["confidence"]) == (False, pytest.approx(0.7))
    for warnings in (reply["warnings"], health["warnings"], capabilities["warnings"]):
        assert any("fit-1 is stale" in warning for warning in warnings)
    assert "'m-2'" in capabilities["calibration"][0]["stale"]


@pytest.mark.parametrize(
    "case",
    [
        (0.5, "", "decided"),
        (0.6, "threshold = 0.1", "abstained"),
        (0.9, "thresholds = { acme = 0.5 }", "decided"),
    ],
)
async def test_an_applied_threshold_counts_unless_configured_otherwise(
    answering, configure, tmp_path, case
):
    threshold, more, status = case
    path = configure(answering("m-1"), more)
    apply_thresholds(tmp_path / "state", [measured(threshold)], NOW)
    async with Gateway.open(path) as gateway:
        reply = await gateway.decide(ASKED)
    assert reply["status"] == status


async def test_a_running_gateway_uses_new_fits_and_thresholds(answering, configure, tmp_path):
    path, state = configure(answering("m-1")), tmp_path / "state"
    async with Gateway.open(path) as gateway:
        assert (await gateway.decide(ASKED))["calibration"]["id"] == "fit-1"
        sharper = attrs.evolve(FIT, temperature=0.5)
        fit = FitFile(id="fit-2", provider="acme", created="2027", fits=(sharper,))
        write_json(state / "calibration" / "fit-2.json", fit)
        await until(gateway, lambda reply: reply["calibration"]["id"] == "fit-2")
        apply_thresholds(state, [measured(0.95, fit="fit-2")], NOW)
        await until(gateway, lambda reply: reply["reason"] == "below_threshold")
        for file in (state / "calibration").glob("*.json"):
            file.unlink()
        await until(gateway, lambda reply: not reply["calibrated"])
        assert (await gateway.capabilities())["calibration"] == []


async def test_a_file_that_breaks_while_running_is_told_and_lowers_no_bar(
    answering, configure, tmp_path
):
    path, state = configure(answering("m-1"), "threshold = 0.1"), tmp_path / "state"
    applied = apply_thresholds(state, [measured(0.6)], NOW)
    async with Gateway.open(path) as gateway:
        assert (await gateway.decide(ASKED))["status"] == "abstained"
        applied.write_text("{")
        with anyio.fail_after(10):
            while not (warnings := (await gateway.health())["warnings"]):
                pass
        assert warnings[0].startswith("thresholds.json: not usable")
        assert (await gateway.decide(ASKED))["status"] == "abstained"


async def until(gateway, true):
    """Ask again and again until the reply is as wanted."""
    with anyio.fail_after(10):
        while not true(await gateway.decide(ASKED)):
            pass


async def test_names_that_nobody_has_are_told(answering, configure):
    path = configure(answering("m-1"), 'order_check = ["acne"]')
    async with Gateway.open(path) as gateway:
        warnings = (await gateway.health())["warnings"]
    assert "decide.order_check: there is no provider 'acne'" in warnings
