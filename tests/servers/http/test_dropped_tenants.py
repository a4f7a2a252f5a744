"""What was opened for a tenant is closed when no key needs it any more, and never under a call."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from gateway_core.catalog import Catalog
from gateway_core.config.load import load_config
from gateway_core.door.callers import Caller
from gateway_core.door.keys.file import changing_keys
from gateway_core.door.keys.record import id_of
from gateway_core.door.rights import CallerKind
from gateway_core.outbound import Outbound
from gateway_core.registry import Registry
from gateway_core.servers.http.tenants import TenantGateways
from gateway_core.testing import Gate, Reply, ScriptedUpstream
from gateway_core.testing.process import GatewayProcess

CONFIG = """
[log]
level = "debug"
[orgs.acme.providers.own]
api_format = "systemone"
base_url = "http://203.0.113.41"
models = ["m"]
"""
YES = Reply(body={"model": "m", "answers": {"decision": {"type": "noul", "noul": 0.9}}})
HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
DROPPED = "gateway of acme is dropped"
CLOSED = "a dropped gateway is closed"


@pytest.fixture(scope="module")
def proxy() -> Iterator[ScriptedUpstream]:
    with ScriptedUpstream() as found:
        yield found


@pytest.fixture
def gateway(start: Callable[..., GatewayProcess], proxy: ScriptedUpstream) -> GatewayProcess:
    return start(CONFIG, env={"HTTP_PROXY": proxy.url})


def decide(gateway: GatewayProcess, key: str) -> httpx.Response:
    headers = {"x-api-key": key}
    url = f"{gateway.url}/v1/decide"
    return httpx.post(url, json={"question": "never-log-this?"}, headers=headers, timeout=60)


def revoke(gateway: GatewayProcess, key: str) -> None:
    """Revoke a key; return when the gateway knows it."""
    with changing_keys(Path(gateway.env["S1GW_STATE_DIR"]) / "keys.json") as keys:
        del keys[id_of(key)]
    headers = {"x-api-key": key}
    while httpx.get(f"{gateway.url}/v1/models", headers=headers).status_code != 401:
        pass


def test_a_call_under_way_is_finished_before_its_dropped_gateway_is_closed(
    gateway: GatewayProcess, proxy: ScriptedUpstream
) -> None:
    key, gate = gateway.key(org="acme", models=("m",)), Gate()
    proxy.answer(Reply(body=YES.body, gate=gate))
    with ThreadPoolExecutor() as pool:
        asked = len(proxy.requests)
        call = pool.submit(decide, gateway, key)
        proxy.wait_received(asked + 1)
        revoke(gateway, key)
        gateway.wait_for(f"{DROPPED}; 1 calls under way")
        assert CLOSED not in gateway.log
        gate.open()
        assert call.result(60).json()["status"] == "decided"
    gateway.wait_for(CLOSED)


def test_a_dropped_gateways_mcp_server_is_stopped(
    gateway: GatewayProcess, proxy: ScriptedUpstream
) -> None:
    key = gateway.key(org="acme")
    headers = {"x-api-key": key, "accept": "application/json, text/event-stream"}
    found = httpx.post(f"{gateway.url}/mcp", json=HELLO, headers=headers, timeout=60)
    assert found.status_code == 200
    revoke(gateway, key)
    gateway.wait_for(f"{DROPPED}; 0 calls under way")
    gateway.wait_for(CLOSED)


def test_a_gateway_that_another_key_needs_is_kept(
    gateway: GatewayProcess, proxy: ScriptedUpstream
) -> None:
    proxy.answer(YES)
    kept, revoked = gateway.key(org="acme"), gateway.key(org="acme")
    other = gateway.key(org="acme", providers=("own",))
    for key in (kept, revoked, other):
        assert decide(gateway, key).status_code == 200
    revoke(gateway, revoked)
    revoke(gateway, other)
    gateway.wait_for(CLOSED)
    assert gateway.log.count(DROPPED) == 1
    assert decide(gateway, kept).status_code == 200


@pytest.mark.anyio
async def test_no_more_are_open_than_there_is_room_for(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(CONFIG)
    outbound = Outbound({})
    registry = Registry(load_config(path, {}), Catalog.installed(), outbound)
    tenants = TenantGateways(registry, None, (), most=2)
    first, second, third = (Caller(kind=CallerKind.ORG, org=f"org-{n}") for n in range(3))

    def served_by(caller: Caller) -> object:
        with tenants.serving(caller) as tenant:
            return tenant

    before = [served_by(caller) for caller in (first, second)]
    assert served_by(first) is before[0]
    served_by(third)
    assert served_by(first) is before[0]
    assert served_by(second) is not before[1]
    await tenants.aclose()
    await outbound.aclose()
