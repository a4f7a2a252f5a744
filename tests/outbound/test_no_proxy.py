"""``NO_PROXY`` and the choice of a proxy, as tables."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_core.errors import ProviderUnreachable
from gateway_core.outbound.no_proxy import NoProxy
from gateway_core.outbound.proxies import Proxies, parse_proxy
from gateway_core.outbound.target import parse_target


@pytest.mark.parametrize(
    ("entries", "url", "direct"),
    [
        ("", "http://a.example/", False),
        ("*", "http://a.example/", True),
        ("b.example,*", "http://a.example/", True),
        ("a.example", "http://a.example/", True),
        ("A.Example.", "http://a.example/", True),
        ("a.example", "http://A.EXAMPLE./", True),
        ("a.example", "http://sub.a.example/", True),
        ("a.example", "http://nota.example/", False),
        (".a.example", "http://sub.a.example/", True),
        (".a.example", "http://a.example/", False),
        (".a.example.", "http://sub.a.example/", True),
        ("*.a.example", "http://deep.sub.a.example/", True),
        ("*.a.example", "http://a.example/", False),
        ("*.a.example:81", "http://x.a.example:81/", True),
        ("a.example:80", "http://a.example/", True),
        ("a.example:443", "https://a.example/", True),
        ("a.example:443", "http://a.example/", False),
        ("a.example:8080", "http://a.example:8080/", True),
        ("a.example:8080", "http://a.example:8081/", False),
        ("203.0.113.7", "http://203.0.113.7/", True),
        ("203.0.113.7", "http://203.0.113.70/", False),
        ("203.0.113.7:81", "http://203.0.113.7:81/", True),
        ("203.0.113.7:81", "http://203.0.113.7:82/", False),
        ("2001:db8::1", "http://[2001:db8::1]/", True),
        ("[2001:db8::1]", "http://[2001:db8:0::1]/", True),
        ("[2001:db8::1]:81", "http://[2001:db8::1]:81/", True),
        ("[2001:db8::1]:81", "http://[2001:db8::1]/", False),
        ("2001:db8::1", "http://[2001:db8::2]/", False),
        ("203.0.113.0/24", "http://203.0.113.9/", True),
        ("203.0.113.9/24", "http://203.0.113.1/", True),
        ("203.0.113.0/24", "http://203.0.114.9/", False),
        ("2001:db8::/32", "http://[2001:db8:5::1]/", True),
        ("[2001:db8::]/32", "http://[2001:db8:5::1]/", True),
        ("2001:db8::/32", "http://203.0.113.9/", False),
        ("0.0.0.0/0", "http://a.example/", False),
        ("0.0.0.0/0", "http://[2001:db8::1]/", False),
        (" , ,, x ,a.example", "http://a.example/", True),
        ("x a.example", "http://a.example/", True),
        ("a.example:http", "http://a.example/", False),
        ("http://a.example", "http://a.example/", False),
        ("1.2.3.4/99,[,],::::,:80,/,.,*.,[]:1", "http://a.example/", False),
        ("", "http://127.0.0.1/", True),
        ("", "http://127.9.9.9/", True),
        ("", "http://[::1]:8080/", True),
        ("", "http://[::ffff:127.0.0.1]/", True),
        ("", "http://localhost/", True),
        ("", "http://LOCALHOST./", True),
        ("", "http://api.localhost/", True),
        ("", "http://localhost.example/", False),
    ],
)
def test_an_entry_covers_what_it_says(entries, url, direct) -> None:
    assert NoProxy(entries).covers(parse_target(url)) is direct


@given(st.text(max_size=60))
def test_any_text_is_tolerated(text: str) -> None:
    NoProxy(text).covers(parse_target("http://a.example/"))


@pytest.mark.parametrize(
    ("environ", "url", "key"),
    [
        ({}, "http://a.example/", None),
        ({"HTTP_PROXY": "http://p:1"}, "http://a.example/", "http://p:1"),
        ({"HTTP_PROXY": "http://p:1"}, "https://a.example/", None),
        ({"HTTPS_PROXY": "http://p:1"}, "https://a.example/", "http://p:1"),
        ({"HTTPS_PROXY": "http://p:1"}, "http://a.example/", None),
        ({"ALL_PROXY": "http://p:1"}, "http://a.example/", "http://p:1"),
        ({"ALL_PROXY": "http://p:1"}, "https://a.example/", "http://p:1"),
        ({"all_proxy": "p:1", "HTTP_PROXY": "q:2"}, "http://a.example/", "http://q:2"),
        ({"http_proxy": "p:1", "HTTP_PROXY": "q:2"}, "http://a.example/", "http://p:1"),
        ({"http_proxy": "", "HTTP_PROXY": "q:2"}, "http://a.example/", None),
        ({"http_proxy": "", "ALL_PROXY": "q:2"}, "http://a.example/", None),
        ({"HTTP_PROXY": " p "}, "http://a.example/", "http://p:80"),
        ({"HTTP_PROXY": "https://p"}, "http://a.example/", "https://p:443"),
        (
            {"HTTP_PROXY": "http://[2001:db8::1]:3128/"},
            "http://a.example/",
            "http://[2001:db8::1]:3128",
        ),
        ({"HTTP_PROXY": "p:1", "NO_PROXY": "a.example"}, "http://a.example/", None),
        ({"HTTP_PROXY": "p:1", "no_proxy": "a.example"}, "http://a.example/", None),
        ({"HTTP_PROXY": "p:1", "no_proxy": "", "NO_PROXY": "*"}, "http://a.example/", "http://p:1"),
    ],
)
def test_the_environment_decides_which_proxy(environ, url, key) -> None:
    found = Proxies(environ).proxy_for(parse_target(url))
    assert (found and found.key) == key


def test_a_proxys_password_is_decoded_and_hidden() -> None:
    proxy = parse_proxy("http://us%40er:p%3Ass@p:1")
    assert proxy.authorization is not None
    assert proxy.authorization.reveal() == "Basic dXNAZXI6cDpzcw=="
    assert "dXNA" not in repr(proxy)


def test_a_user_without_a_password_is_sent_as_one() -> None:
    proxy = parse_proxy("http://user@p:1")
    assert proxy.authorization is not None
    assert proxy.authorization.reveal() == "Basic dXNlcjo="


@given(st.text(max_size=40))
def test_any_proxy_is_taken_or_refused(text: str) -> None:
    with suppress(ProviderUnreachable):
        assert parse_proxy(text).host
