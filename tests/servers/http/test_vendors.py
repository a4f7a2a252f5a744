"""Calls to the vendors' own homes, through a real proxy with a password, over real TLS.

The proxy leads the vendors' names to an upstream of the test, whose certificate is for them.
"""

import os
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
import trustme

from gateway_core.testing import Reply, ScriptedUpstream
from gateway_core.testing.process import GatewayProcess

ANSWER = {"model": "m", "answers": {}, "usage": {}}
SYSTEMONE = {"state": "never-log-this", "questions": {"q": {"type": "noul"}}}
OPENAI = {"input": "never-log-this", "questions": [{"type": "predicate"}]}
# The id of the vendor, its host, its path, and a body in its format.
VENDORS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "typesafe": ("api.typesafe.ai", "/v1/systemone", SYSTEMONE),
    "perplexity": ("api.perplexity.ai", "/v1/decisions", SYSTEMONE),
    "openai": ("api.openai.com", "/v1/decisions", OPENAI),
}
KEYS = ("TYPESAFE_API_KEY", "PERPLEXITY_API_KEY", "OPENAI_API_KEY")
OPERATORS = "".join(
    f'[providers.{name}]\napi_key = {{ env = "{key}" }}\nmodels = ["m"]\n'
    for name, key in zip(VENDORS, KEYS, strict=True)
)
PROXY = """
import sys

from proxy.http.proxy import HttpProxyBasePlugin


class ToUpstream(HttpProxyBasePlugin):
    def before_upstream_connection(self, request):
        assert request.method == b"CONNECT" and request.port == 443
        request.host, request.port = b"127.0.0.1", int(sys.argv[1])
        return request


if __name__ == "__main__":
    import proxy

    options = ["--hostname", "127.0.0.1", "--port", "0", "--num-workers", "1", "--num-acceptors",
               "1", "--log-level", "CRITICAL", "--basic-auth", "user:never-log-this-either"]
    with proxy.Proxy(options, plugins=[b"leading.ToUpstream"]) as running:
        print(running.flags.port, flush=True)
        sys.stdin.read()
"""


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def home(authority: trustme.CA) -> Iterator[ScriptedUpstream]:
    """The home of all vendors."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert(*(host for host, _, _ in VENDORS.values())).configure_cert(context)
    with ScriptedUpstream(tls=context) as found:
        found.answer(Reply(body=ANSWER))
        yield found


@pytest.fixture(scope="module")
def env(
    authority: trustme.CA, home: ScriptedUpstream, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Mapping[str, str]]:
    """The environment of gateways that reach the vendors through the proxy alone."""
    folder: Path = tmp_path_factory.mktemp("proxy")
    authority.cert_pem.write_to_path(str(folder / "ca.pem"))
    (folder / "leading.py").write_text(PROXY)
    command = (sys.executable, str(folder / "leading.py"), str(home.port))
    with subprocess.Popen(
        command,
        env={**os.environ, "PYTHONPATH": str(folder)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        port = int(process.stdout.readline())
        proxy = f"http://user:never-log-this-either@127.0.0.1:{port}"
        keys = {name: f"never-log-this-{name}" for name in KEYS}
        yield {"HTTPS_PROXY": proxy, "SSL_CERT_FILE": str(folder / "ca.pem"), **keys}
        process.stdin.close()


def ask(
    gateway: GatewayProcess, vendor: str, headers: Mapping[str, str] | None = None
) -> httpx.Response:
    body = {"model": f"{vendor}/m", **VENDORS[vendor][2]}
    return httpx.post(f"{gateway.url}/v1/decisions", json=body, headers=headers, timeout=60)


@pytest.mark.parametrize("vendor", VENDORS)
def test_an_internal_call_brings_the_customers_key_and_borrows_none(
    start: Callable[..., GatewayProcess],
    home: ScriptedUpstream,
    env: Mapping[str, str],
    vendor: str,
) -> None:
    gateway = start(OPERATORS, env=env)
    sent = {"authorization": f"Bearer {gateway.key(kind='internal')}"}
    asked = len(home.requests)
    refused = ask(gateway, vendor, sent)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "byok_required")
    assert len(home.requests) == asked
    found = ask(gateway, vendor, {**sent, "x-agentcc-provider-key": "never-log-this-customer"})
    assert (found.status_code, found.json()) == (200, ANSWER)
    received = home.requests[-1]
    host, path, body = VENDORS[vendor]
    assert (received.headers["host"], received.path) == (host, path)
    assert received.json() == {"model": "m", **body}
    assert received.headers["authorization"] == "Bearer never-log-this-customer"
    assert "x-agentcc-provider-key" not in received.headers


@pytest.mark.parametrize(("vendor", "key"), list(zip(VENDORS, KEYS, strict=True)))
def test_the_operators_own_calls_go_through_the_proxy_as_well(
    start: Callable[..., GatewayProcess],
    home: ScriptedUpstream,
    env: Mapping[str, str],
    vendor: str,
    key: str,
) -> None:
    assert ask(start(OPERATORS, "--auth", "disabled", env=env), vendor).status_code == 200
    received = home.requests[-1]
    assert received.headers["host"] == VENDORS[vendor][0]
    assert received.headers["authorization"] == f"Bearer {env[key]}"


def test_an_organizations_vendor_is_resolved_before_any_proxy_is_asked(
    start: Callable[..., GatewayProcess], home: ScriptedUpstream, env: Mapping[str, str]
) -> None:
    config = """
    [orgs.acme.providers.jev]
    api_format = "systemone"
    base_url = "https://no-such-host.invalid"
    models = ["m"]
    """
    gateway = start(config, env=env)
    asked = len(home.requests)
    body = {"model": "m", **SYSTEMONE}
    sent = {"authorization": f"Bearer {gateway.key(org='acme')}"}
    found = httpx.post(f"{gateway.url}/v1/systemone", json=body, headers=sent, timeout=60)
    assert found.json()["error"]["code"] == "provider_base_url_unusable"
    assert len(home.requests) == asked
