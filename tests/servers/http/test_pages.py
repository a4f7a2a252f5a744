"""What a web page may do with a gateway that asks for no key: nothing, unless it is told so."""

from collections.abc import Callable, Iterator

import httpx
import pytest

from gateway_core.testing import Reply, ScriptedUpstream
from gateway_core.testing.process import GatewayProcess

BODY = {"model": "m", "state": "never-log-this", "questions": {"q": {"type": "noul"}}}
GUARDED = (
    ("POST", "/v1/systemone"),
    ("POST", "/v1/decisions"),
    ("GET", "/v1/decisions/models"),
    ("POST", "/v1/decide"),
    ("GET", "/v1/health"),
    ("GET", "/v1/capabilities"),
    ("POST", "/mcp"),
)
OPEN = ("/healthz", "/readyz", "/openapi.json")


@pytest.fixture(scope="module")
def upstream() -> Iterator[ScriptedUpstream]:
    with ScriptedUpstream() as found:
        found.answer(Reply(body={"model": "m", "answers": {}, "usage": {}}))
        yield found


@pytest.fixture(scope="module")
def gateway(
    start_once: Callable[..., GatewayProcess], upstream: ScriptedUpstream
) -> GatewayProcess:
    config = f"""
    [http]
    allowed_hosts = ["Gateway.example", "10.9.8.7:8443"]
    [providers.fake]
    api_format = "systemone"
    base_url = "{upstream.url}"
    models = ["m"]
    """
    return start_once(config, "--auth", "disabled")


def send(
    gateway: GatewayProcess, method: str = "POST", path: str = "/v1/systemone", **headers: str
) -> httpx.Response:
    body = BODY if method == "POST" else None
    return httpx.request(method, gateway.url + path, json=body, headers=headers, timeout=30)


@pytest.mark.parametrize(("method", "path"), GUARDED)
def test_a_name_that_was_made_to_point_here_is_refused(
    gateway: GatewayProcess, upstream: ScriptedUpstream, method: str, path: str
) -> None:
    asked = len(upstream.requests)
    found = send(gateway, method, path, host="evil.example:80")
    assert (found.status_code, found.json()["error"]["code"]) == (421, "host_not_allowed")
    assert "http.allowed_hosts" in found.json()["error"]["message"]
    assert len(upstream.requests) == asked


@pytest.mark.parametrize(("method", "path"), GUARDED)
def test_a_page_of_another_site_is_refused(
    gateway: GatewayProcess, upstream: ScriptedUpstream, method: str, path: str
) -> None:
    asked = len(upstream.requests)
    found = send(gateway, method, path, origin="https://evil.example")
    assert (found.status_code, found.json()["error"]["code"]) == (403, "origin_not_allowed")
    assert len(upstream.requests) == asked


FOREIGN = {
    "null": "null",
    "empty": "",
    "an extension": "chrome-extension://abcdef",
    "a name that begins like ours": "http://localhost.evil.example",
    "a name that ends like ours": "http://evil-gateway.example",
    "an address that is not loopback": "http://192.0.2.1",
    "no URL": "http://[::1",
    "another port of an allowed address": "http://10.9.8.7:1",
}


@pytest.mark.parametrize("origin", FOREIGN.values(), ids=FOREIGN.keys())
def test_an_origin_that_is_not_ours_is_refused(gateway: GatewayProcess, origin: str) -> None:
    assert send(gateway, origin=origin).json()["error"]["code"] == "origin_not_allowed"


OURS = {
    "loopback by address": {"host": "127.0.0.1:1", "origin": "http://127.0.0.1:1"},
    "loopback by name": {"host": "LOCALHOST.:1", "origin": "http://localhost:3000"},
    "loopback in IPv6": {"host": "[::1]:8080", "origin": "http://[::1]:3000"},
    "an allowed name": {"host": "gateway.EXAMPLE:99", "origin": "https://gateway.example"},
    "an allowed address": {"host": "10.9.8.7:8443", "origin": "https://10.9.8.7:8443"},
    "an address, which no name can be made to be": {"host": "192.0.2.7:80"},
    "a page of the same address": {"host": "192.0.2.7:80", "origin": "http://192.0.2.7:80"},
}


@pytest.mark.parametrize("headers", OURS.values(), ids=OURS.keys())
def test_our_own_names_are_taken(gateway: GatewayProcess, headers: dict[str, str]) -> None:
    assert send(gateway, **headers).status_code == 200


@pytest.mark.parametrize("path", OPEN)
def test_what_anybody_may_know_is_told_to_all(gateway: GatewayProcess, path: str) -> None:
    found = send(gateway, "GET", path, host="evil.example", origin="https://evil.example")
    assert found.status_code == 200


def test_a_key_is_enough_where_one_is_asked_for(start: Callable[..., GatewayProcess]) -> None:
    gateway = start("[orgs.acme]\n")
    bearer = f"Bearer {gateway.key(org='acme')}"
    headers = {"host": "any.example", "origin": "https://any.example", "authorization": bearer}
    assert send(gateway, "GET", "/v1/decisions/models", **headers).status_code == 200
