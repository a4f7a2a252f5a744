"""What a server learns of an organization's providers is that organization's alone."""

from collections.abc import Callable

import httpx

from gateway_core.testing import Raw, Received, Reply, ScriptedUpstream
from gateway_core.testing.process import GatewayProcess

DOWN, UP = "203.0.113.50", "203.0.113.51"
CONFIG = "".join(
    f"""
[orgs.{org}.providers.{name}]
api_format = "systemone"
base_url = "http://{host}"
api_key = {{ env = "ORG_KEY" }}
models = ["m"]
"""
    for org in ("acme", "globex")
    for name, host in (("first", DOWN), ("second", UP), ("third", UP))
)
NOUL = {"model": "m", "answers": {"decision": {"type": "noul", "noul": 0.9}}}


def cut_the_first(received: Received) -> Reply | Raw:
    return Raw() if DOWN in received.headers["host"] else Reply(body=NOUL)


def test_gateways_of_one_organization_share_what_they_learn_and_others_do_not(
    start: Callable[..., GatewayProcess],
) -> None:
    with ScriptedUpstream() as proxy:
        proxy.answer(cut_the_first)
        env = {"HTTP_PROXY": proxy.url, "ORG_KEY": "never-log-this"}
        gateway = start(CONFIG, env=env, orgs=("acme", "globex"))
        keys = [
            gateway.key(org="acme"),
            gateway.key(org="acme", providers=("first", "second")),
            gateway.key(org="globex"),
        ]
        with httpx.Client(base_url=gateway.url, timeout=60) as client:

            def calls_of_first(key: str) -> int:
                headers = {"authorization": f"Bearer {key}"}
                reply = client.post("/v1/decide", json={"question": "?"}, headers=headers).json()
                assert reply["provider"] == "second", reply
                found: int = reply["attempts"][0]["calls"]
                return found

            assert [calls_of_first(keys[0]) for _ in range(4)] == [1, 1, 1, 0]
            assert [calls_of_first(key) for key in keys] == [0, 0, 1]
            headers = {"authorization": f"Bearer {keys[1]}"}
            health = client.get("/v1/health", headers=headers).json()
    assert health["providers"][0]["cooldown"].startswith("cooling down, last failure: closed early")
    assert "first: cooling down, others are asked first" in gateway.log
