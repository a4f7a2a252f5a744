"""Two organizations with the same models never see each other's credentials."""

import asyncio
from collections.abc import Callable, Iterator

import httpx
import pytest

from gateway_core.testing import Received, Reply, ScriptedUpstream
from gateway_core.testing.process import GatewayProcess

ORGS = ("acme", "globex")
CONFIG = "".join(
    f"""
[orgs.{org}.providers.jev]
api_format = "systemone"
base_url = "http://203.0.113.30"
api_key = {{ env = "{org.upper()}_KEY" }}
models = ["jev-latest"]
"""
    for org in ORGS
)


def secret(org: str) -> str:
    return f"never-log-this-{org}"


def whose(received: Received) -> Reply:
    """Answer with the credential and the state that came, as one string for each."""
    state = received.json()["state"]
    key = received.headers["authorization"].removeprefix("Bearer ")
    return Reply(body={"model": f"{key} {state}", "answers": {}, "usage": {}})


@pytest.fixture(scope="module")
def proxy() -> Iterator[ScriptedUpstream]:
    with ScriptedUpstream() as found:
        found.answer(whose)
        yield found


@pytest.mark.anyio
@pytest.mark.parametrize("workers", ["1", "2"])
async def test_each_call_goes_with_its_own_organizations_key(
    start: Callable[..., GatewayProcess], proxy: ScriptedUpstream, workers: str
) -> None:
    env = {"HTTP_PROXY": proxy.url, **{f"{org.upper()}_KEY": secret(org) for org in ORGS}}
    gateway = await asyncio.to_thread(start, CONFIG, "--workers", workers, env=env, orgs=ORGS)
    async with httpx.AsyncClient(base_url=gateway.url, timeout=60) as client:

        async def call(org: str, number: int) -> None:
            state = f"never-log-this {org} {number}"
            found = await client.post(
                "/v1/systemone",
                json={"model": "jev-latest", "state": state, "questions": {}},
                headers={"authorization": f"Bearer {gateway.org_keys[org]}"},
            )
            assert found.status_code == 200, found.text
            assert found.json()["model"] == f"{secret(org)} {state}"
            assert secret(org) not in str(found.headers)

        await asyncio.gather(*(call(org, number) for number in range(100) for org in ORGS))
