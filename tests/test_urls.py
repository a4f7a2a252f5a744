"""How base URL, prefix and path become a URL: one case per row of the contract."""

import pytest

from gateway_core.errors import DestinationUnusable
from gateway_core.urls import endpoint_url, is_loopback_url, site_url

SYSTEMONE = "/v1/systemone"
DECISIONS = "/v1/decisions"


@pytest.mark.parametrize(
    ("base", "prefix", "path", "expected"),
    [
        ("https://api.typesafe.ai", None, SYSTEMONE, "https://api.typesafe.ai/v1/systemone"),
        ("https://api.typesafe.ai/", None, SYSTEMONE, "https://api.typesafe.ai/v1/systemone"),
        ("https://api.typesafe.ai/v1", None, SYSTEMONE, "https://api.typesafe.ai/v1/systemone"),
        ("https://api.typesafe.ai/v1/", None, SYSTEMONE, "https://api.typesafe.ai/v1/systemone"),
        ("https://api.perplexity.ai", None, DECISIONS, "https://api.perplexity.ai/v1/decisions"),
        (
            "https://res.services.example/projects/p1",
            None,
            SYSTEMONE,
            "https://res.services.example/projects/p1/v1/systemone",
        ),
        (
            "https://res.services.example/providers/acme/v1",
            None,
            SYSTEMONE,
            "https://res.services.example/providers/acme/v1/systemone",
        ),
        ("https://h.example/base", "", SYSTEMONE, "https://h.example/base/systemone"),
        ("https://h.example/base", "/", SYSTEMONE, "https://h.example/base/systemone"),
        ("https://h.example", "openai/v1/", SYSTEMONE, "https://h.example/openai/v1/systemone"),
        (
            "https://h.example/openai/v1",
            "openai/v1",
            DECISIONS,
            "https://h.example/openai/v1/decisions",
        ),
        ("https://h.example/apiv1", "/v1", SYSTEMONE, "https://h.example/apiv1/v1/systemone"),
        ("https://h.example", "", "/v1beta/decisions", "https://h.example/v1beta/decisions"),
        ("https://h.example:8443", None, SYSTEMONE, "https://h.example:8443/v1/systemone"),
        ("http://[::1]:8000/", None, SYSTEMONE, "http://[::1]:8000/v1/systemone"),
        (" https://h.example ", None, SYSTEMONE, "https://h.example/v1/systemone"),
    ],
)
def test_base_prefix_and_path_are_joined(
    base: str, prefix: str | None, path: str, expected: str
) -> None:
    assert endpoint_url(base, prefix, path) == expected


@pytest.mark.parametrize(
    ("base", "path", "expected"),
    [
        ("https://h.example/api/alpha/decisions", SYSTEMONE, "/api/alpha/decisions"),
        ("https://h.example/api/alpha/decisions/", DECISIONS, "/api/alpha/decisions"),
        ("https://h.example/v1/systemone", SYSTEMONE, "/v1/systemone"),
        ("https://h.example/v1/systemone", "/v1/models", "/v1/models"),
        ("https://h.example/v1/mysystemone", SYSTEMONE, "/v1/mysystemone/v1/systemone"),
    ],
)
def test_a_base_that_is_the_url_of_an_action_is_used_as_it_is(
    base: str, path: str, expected: str
) -> None:
    assert endpoint_url(base, None, path) == f"https://h.example{expected}"


@pytest.mark.parametrize(
    ("base", "prefix", "expected"),
    [
        ("http://h:8000", None, "http://h:8000/health"),
        ("http://h:8000/v1/", None, "http://h:8000/health"),
        ("http://h:8000/t/acme/v1", None, "http://h:8000/t/acme/health"),
        ("http://h:8000/openai/v1", "openai/v1", "http://h:8000/health"),
        ("http://h:8000/base", "", "http://h:8000/base/health"),
        ("http://h:8000/v1/systemone", None, "http://h:8000/health"),
    ],
)
def test_a_site_path_stands_outside_the_prefix(
    base: str, prefix: str | None, expected: str
) -> None:
    assert site_url(base, prefix, "/health") == expected


@pytest.mark.parametrize(
    "base",
    [
        None,
        "",
        "  ",
        "api.typesafe.ai",
        "ftp://h.example",
        "https://",
        "https:///v1",
        "https://user@h.example",
        "https://user:hunter22@h.example",
        "https://@h.example",
        "https://h.example?key=1",
        "https://h.example/?",
        "https://h.example/#part",
        "https://h.example/#",
        "https://h.example:0",
        "https://h.example:70000",
        "https://h.example:port",
        "https://[::1",
        "https://h.example/a b",
        "https://h.exa\r\nmple/",
        "https://h.example\\@other.example",
    ],
)
def test_a_base_that_is_no_plain_url_is_unusable(base: str | None) -> None:
    with pytest.raises(DestinationUnusable) as caught:
        endpoint_url(base, None, SYSTEMONE)
    assert "hunter22" not in str(caught.value)
    with pytest.raises(DestinationUnusable):
        site_url(base, None, "/health")


@pytest.mark.parametrize("prefix", ["v1?x=1", "v1#x", "v 1", "v1\r\nx", "a\\b"])
def test_a_prefix_that_is_no_plain_path_is_unusable(prefix: str) -> None:
    with pytest.raises(DestinationUnusable):
        endpoint_url("https://h.example", prefix, SYSTEMONE)


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        ("http://127.0.0.1:8000", True),
        ("http://127.9.9.9/v1", True),
        ("http://localhost:11434", True),
        ("http://LOCALHOST.", True),
        ("http://[::1]:8000", True),
        ("https://api.typesafe.ai", False),
        ("https://localhost.example", False),
        ("http://192.168.0.2:8000", False),
        ("http://[", False),
        (None, False),
    ],
)
def test_loopback_is_told_by_the_host(base: str | None, expected: bool) -> None:
    assert is_loopback_url(base) is expected
