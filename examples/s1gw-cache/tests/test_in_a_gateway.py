"""The cache as it is used: installed, configured, and around a real chain."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest
from gateway_core import Gateway
from gateway_core.testing import ScriptedUpstream, standard_answer

CONFIG = """
[decide]
chain = ["acme"]
middleware = ["cache"]

[middleware.cache.settings]
{settings}

[providers.acme]
dialect = "generic-systemone"
base_url = "{url}"
models = ["m"]
"""
ASK = {"question": "Which team?", "options": ["billing", "sales"]}


@pytest.fixture
def decide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Ask a gateway the same question twice; return both replies and how often it was asked."""
    monkeypatch.setenv("S1GW_STATE_DIR", str(tmp_path))
    path = tmp_path / "config.toml"

    async def twice() -> list[dict[str, Any]]:
        async with Gateway.open(path, environ=os.environ) as gateway:
            return [await gateway.decide(ASK), await gateway.decide(ASK)]

    def run(settings: str = "") -> tuple[list[dict[str, Any]], int]:
        with ScriptedUpstream() as upstream:
            upstream.answer(standard_answer)
            path.write_text(CONFIG.format(url=upstream.url, settings=settings))
            return asyncio.run(twice()), len(upstream.requests)

    return run


def test_the_provider_is_asked_once_and_the_caller_is_told(decide) -> None:
    (first, second), times = decide("ttl_s = 60")

    assert times == 1
    own = ("request_id", "latency_ms", "attempts", "warnings")
    assert {k: first[k] for k in first if k not in own} == {
        k: second[k] for k in second if k not in own
    }
    assert first["decision"] == "sales"
    assert first["request_id"] != second["request_id"]
    assert [attempt["outcome"] for attempt in first["attempts"]] == ["ok"]
    assert second["attempts"] == []
    assert second["warnings"][-1].startswith("answered from the cache")


@pytest.mark.parametrize(
    ("settings", "field"), [("ttl_s = 0", "ttl_s"), ("max_entries = 0", "max_entries")]
)
def test_a_wrong_setting_closes_the_gateway(decide, settings: str, field: str) -> None:
    (first, _), times = decide(settings)

    assert times == 0
    assert first["error"]["code"] == "config_error"
    assert f"middleware.cache.settings.{field}" in first["error"]["message"]
