"""``make demo``: what it prints is a real decision, three ways, for a person to understand."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What the demo prints, cut at its headings."""
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "demo.py"],
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=110,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path_factory.mktemp("home")),
            "LANG": "C.UTF-8",
        },
    )
    return re.split(r"^── \d\. ", done.stdout, flags=re.MULTILINE)


@pytest.mark.parametrize("part", [1, 2])
def test_a_decision_shows_question_options_bars_confidence_and_who_took_how_long(
    parts: list[str], part: int
) -> None:
    shown = parts[part]

    assert "Which team should handle this ticket?" in shown
    bars = re.findall(r"^ +>? *[█░]{24} +([\d.]+)%  (.+)$", shown, re.MULTILINE)
    assert [option for _, option in bars] == ["billing", "technical support", "sales", "shipping"]
    assert sum(float(share) for share, _ in bars) == pytest.approx(100, abs=0.3)
    last = r"^  billing  with confidence [\d.]+%, by local \(local-e5-small-1\) in \d+ ms$"
    assert re.search(last, shown, re.MULTILINE)


def test_the_tools_are_those_of_a_real_client(parts: list[str]) -> None:
    assert parts[2].startswith("An MCP client, over stdio")
    assert "tools: system1_decide, system1_health, system1_capabilities" in parts[2]


def test_a_body_is_answered_over_http(parts: list[str]) -> None:
    assert "200 OK" in parts[3]
    assert '"model": "local-e5-small-1"' in parts[3]


def test_it_prints_nothing_else(parts: list[str]) -> None:
    first, *rest = parts

    assert first.strip() == ""
    assert len(rest) == 3
    assert "Traceback" not in "".join(rest)


def test_ci_runs_the_command_of_the_readme() -> None:
    assert (ROOT / ".ci" / "run").read_text().splitlines()[-1] == "make test"
