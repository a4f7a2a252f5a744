"""The published examples, as written, with only the host and the key changed."""

import json
import os
import subprocess
from collections.abc import Callable
from typing import Any

from gateway_core.testing.process import GatewayProcess

LISTING = """\
curl "$GATEWAY_URL/v1/decisions/models" \\
-H "Authorization: Bearer $AGENTCC_API_KEY"
"""
DECISION = """\
curl "$GATEWAY_URL/v1/systemone" \\
-H "Authorization: Bearer $AGENTCC_API_KEY" \\
-H "Content-Type: application/json" \\
-d '{
"model": "typesafe/jev-latest",
"state": {"text": "The assistant answered the question and confirmed the next step."},
"questions": {
"q1": {
"type": "score",
"instructions": "Rate whether the assistant provided a clear next step.",
"criteria": ["No clear next step", "Clear next step"]
}
}
}'
"""
CONFIG = """
[orgs.acme.providers.typesafe]
api_format = "systemone"
base_url = "http://203.0.113.22"
api_key = { env = "ORG_KEY" }
models = ["jev-latest"]
"""


def run(gateway: GatewayProcess, key: str, command: str) -> Any:
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        env={"PATH": os.environ["PATH"], "GATEWAY_URL": gateway.url, "AGENTCC_API_KEY": key},
        capture_output=True,
        timeout=60,
        check=True,
    )
    return json.loads(done.stdout)


def test_the_example_of_the_listing(gateway: GatewayProcess, key: str) -> None:
    found = run(gateway, key, LISTING)
    assert [entry["id"] for entry in found["data"]] == ["typesafe/jev-latest"]


def test_the_example_of_a_decision(gateway: GatewayProcess, key: str) -> None:
    found = run(gateway, key, DECISION)
    assert found["answers"]["q1"]["legend"] == {"0": "No clear next step", "1": "Clear next step"}


def test_nothing_configured_answers_with_the_embedded_engine(
    start: Callable[..., GatewayProcess],
) -> None:
    gateway = start("", "--auth", "disabled")
    model = run(gateway, "none", LISTING)["data"][0]["id"]
    assert model.startswith("local/")
    found = run(gateway, "none", DECISION.replace("typesafe/jev-latest", model))
    assert found["answers"]["q1"]["score"] > 0.5
