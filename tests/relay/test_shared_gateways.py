"""Two gateways, each a process of its own, that count their limits in one real store."""

from pathlib import Path
from typing import Any

import httpx

from gateway_core.door.keys.file import changing_keys
from gateway_core.door.keys.record import KeySettings, make_key
from gateway_core.testing.process import GatewayProcess

CONFIG = """
[http]
limits_store = { env = "STORE" }
[orgs.acme.limits]
rpm = 6
"""


def test_two_gateways_share_the_limits_of_an_organization(
    tmp_path: Path, redis_server: Any
) -> None:
    record, key = make_key(KeySettings(org="acme"))
    store = redis_server.url.replace("redis://", "valkey://", 1)
    gateways = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        with changing_keys(tmp_path / name / "state" / "keys.json") as keys:
            keys[record.id] = record
        gateways.append(GatewayProcess(tmp_path / name, CONFIG, env={"STORE": store}))
    with gateways[0] as one, gateways[1] as two:
        statuses = [
            httpx.get(
                f"{gateway.url}/v1/decisions/models",
                headers={"authorization": f"Bearer {key.reveal()}"},
                timeout=30,
            ).status_code
            for gateway in (one, two) * 4
        ]
    # At the edge of a minute one more may fit.
    assert statuses[:6] == [200] * 6
    assert statuses[7] == 429
    assert all(store not in gateway.log for gateway in gateways)
