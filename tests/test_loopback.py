"""What is this machine and what is not is the same for every part that asks."""

import pytest

from gateway_core.config.model import HttpConfig
from gateway_core.door.browsers import PageGuard
from gateway_core.errors import ConfigError, RelayRefused
from gateway_core.loopback import is_loopback
from gateway_core.outbound.no_proxy import NoProxy
from gateway_core.outbound.target import bracketed, parse_target
from gateway_core.servers.http.startup import check
from gateway_core.urls import is_loopback_url

OURS = (
    "localhost",
    "LOCALHOST",
    "localhost.",
    "app.localhost",
    "127.0.0.1",
    "127.9.9.9",
    "127.1",
    "2130706433",
    "0x7f.1",
    "0177.0.0.1",
    "::1",
    "0:0:0:0:0:0:0:1",
    "::ffff:127.0.0.1",
)
OTHERS = (
    "localhost.example",
    "notlocalhost",
    "example.com",
    "192.168.0.2",
    "128.0.0.1",
    "0.0.0.0",
    "::",
    "::2",
    "::ffff:192.168.0.2",
)
HOSTS = [*((host, True) for host in OURS), *((host, False) for host in OTHERS)]


@pytest.mark.parametrize(("host", "ours"), HOSTS)
def test_every_part_takes_the_same_hosts_for_this_machine(host: str, ours: bool) -> None:
    url = f"http://{bracketed(host)}:8000"
    assert is_loopback(host) is ours
    assert is_loopback_url(url) is ours
    assert NoProxy("").covers(parse_target(url)) is ours
    assert may_be_served_without_keys(host) is ours
    assert may_be_called_by_pages_of(url) is ours


def may_be_served_without_keys(host: str) -> bool:
    try:
        check(HttpConfig(host=host, auth="disabled"))
    except ConfigError:
        return False
    return True


def may_be_called_by_pages_of(origin: str) -> bool:
    guard = PageGuard(())
    try:
        guard.check({b"host": b"127.0.0.1:1", b"origin": origin.encode()})
    except RelayRefused:
        return False
    return True


@pytest.mark.parametrize("text", ["", ".", "a b", "localhost:80", "[::1]", "999.1.1.1", "::1::"])
def test_what_is_no_host_is_not_this_machine(text: str) -> None:
    assert not is_loopback(text)
