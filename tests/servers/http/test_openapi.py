"""The OpenAPI document: published, served, and true of the routes."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import CHECKS, load_all_checks

from gateway_core.servers.http.openapi import document, published
from gateway_core.servers.http.routes import ROUTES
from gateway_core.testing import ScriptedUpstream, standard_answer
from gateway_core.testing.process import GatewayProcess

PUBLISHED = Path(__file__).parents[3] / "docs" / "openapi.json"
CONFIG = """
[orgs.acme.providers.fake]
api_format = "systemone"
base_url = "http://203.0.113.50"
models = ["m"]
"""
load_all_checks()
schema = schemathesis.openapi.from_dict(document(ROUTES))


@pytest.fixture(scope="module")
def proxy() -> Iterator[ScriptedUpstream]:
    with ScriptedUpstream() as found:
        found.answer(standard_answer)
        yield found


def test_the_published_document_is_current() -> None:
    assert PUBLISHED.read_text(encoding="utf-8") == published(ROUTES)


def test_the_document_is_served(gateway: GatewayProcess) -> None:
    assert httpx.get(f"{gateway.url}/openapi.json", timeout=60).json() == json.loads(
        published(ROUTES)
    )


def test_every_route_is_in_the_document() -> None:
    paths = document(ROUTES)["paths"]
    assert {(path, method.upper()) for path in paths for method in paths[path]} == {
        (route.path, route.method) for route in ROUTES
    }


def test_what_is_not_open_wants_a_key(start: Callable[..., GatewayProcess]) -> None:
    url = start().url
    for route in ROUTES:
        status = httpx.request(route.method, url + route.path, timeout=60).status_code
        assert (status == 401) != route.open, route.path


@schema.parametrize()
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
def test_every_reply_is_one_that_the_document_knows(
    case: schemathesis.Case, gateway: GatewayProcess, key: str
) -> None:
    # The check of authentication sends our key along, and another test is for that. MCP asks
    # more of a message than its schema says here, and what is blank to the gateway, as it is in
    # ECMA-262 and so in JSON Schema, is not all that is blank to Python, which generates it.
    excluded = [CHECKS.get_one("ignored_auth")]
    if case.path in {"/mcp", "/v1/decide"}:
        excluded.append(CHECKS.get_one("positive_data_acceptance"))
    if case.path == "/v1/decide":
        # A provider may take less than the contract does, and 502 then is what the document says.
        excluded.append(CHECKS.get_one("not_a_server_error"))
    case.call_and_validate(
        base_url=gateway.url,
        headers={"authorization": f"Bearer {key}"},
        excluded_checks=excluded,
    )


def test_the_phrases_do_not_depend_on_the_version_of_python() -> None:
    found = {
        (status, reply["description"])
        for operations in document(ROUTES)["paths"].values()
        for operation in operations.values()
        for status, reply in operation["responses"].items()
        if status in ("413", "422")
    }

    assert found == {("413", "Content Too Large"), ("422", "Unprocessable Content")}
