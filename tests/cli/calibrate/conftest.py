"""The command over a provider that is always sure, and questions with their answers."""

import json

import pytest
from click.testing import CliRunner

from gateway_core.calibration import Calibrator
from gateway_core.cli import main
from gateway_core.testing import Reply, ScriptedUpstream

OPTIONS = ["billing", "sales", "tech"]


@pytest.fixture
def upstream():
    """Serve a provider that is always 98% sure of billing."""
    with ScriptedUpstream() as server:
        spread = dict(zip(OPTIONS, (0.98, 0.01, 0.01), strict=True))
        choice = {"type": "choice", "choice": "billing", "probabilities": spread}
        server.answer(Reply(body={"model": "acme-1", "answers": {"decision": choice}}))
        yield server


@pytest.fixture
def run(tmp_path, upstream):
    """Run ``s1gw`` with a configuration and a state of its own."""
    config = tmp_path / "config.toml"
    config.write_text(
        '[decide]\nchain = ["acme"]\n[providers.acme]\ndialect = "generic-systemone"\n'
        f'base_url = "{upstream.url}"\nmodels = ["acme"]\n'
        "[decision_log]\nenabled = true\ncontent = true\n"
    )
    state = tmp_path / "state"

    def invoke(*arguments, code=0):
        environ = {"S1GW_CONFIG": str(config), "S1GW_STATE_DIR": str(state)}
        found = CliRunner().invoke(main, arguments, env=environ, catch_exceptions=False)
        assert found.exit_code == code, found.output
        return found

    return invoke


@pytest.fixture
def labelled(tmp_path):
    """Write questions of which the provider gets seven in ten right."""

    def write(count=200, *more):
        rows = [
            {
                "question": f"Ticket {number}: who takes it?",
                "options": OPTIONS,
                "gold": "billing" if number % 10 < 7 else "tech",
            }
            for number in range(count)
        ]
        lines = [json.dumps(row) for row in rows] + list(more)
        path = tmp_path / "labelled.jsonl"
        path.write_text("\n".join(lines), encoding="utf-8")
        return str(path)

    return write


@pytest.fixture
def fits(tmp_path):
    """Return the fit files that were made so far."""
    return lambda: Calibrator.load(tmp_path / "state" / "calibration").fits


@pytest.fixture
def options():
    """The arguments that give a question its options."""
    return tuple(part for option in OPTIONS for part in ("-o", option))
