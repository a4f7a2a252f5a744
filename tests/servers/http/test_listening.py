"""The server listens on every address that its host stands for, and says on which."""

import logging
import socket
from collections.abc import Iterator

import pytest

from gateway_core.config.model import HttpConfig
from gateway_core.errors import ConfigError
from gateway_core.servers.http.listening import announce, reserve

IPV4, IPV6 = ("127.0.0.1", "::1")
NAME = "gateway.example"


@pytest.fixture
def opened() -> Iterator[list[socket.socket]]:
    found: list[socket.socket] = []
    yield found
    for listener in found:
        listener.close()


def listen(http: HttpConfig) -> list[socket.socket]:
    """Do as the server does once its services are open."""
    found = reserve(http)
    for listener in found:
        listener.listen()
    return found


def has_ipv6() -> bool:
    try:
        socket.create_server((IPV6, 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


def reached(address: str, port: int) -> bool:
    try:
        socket.create_connection((address, port), timeout=10).close()
    except OSError:
        return False
    return True


def names(*addresses: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ``NAME`` resolve to ``addresses``."""
    known = socket.getaddrinfo

    def resolve(host: str, *rest: int, **kind: int) -> list[object]:
        asked = addresses if host == NAME else (host,)
        return [found for address in asked for found in known(address, *rest, **kind)]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)


def test_everywhere_in_ipv6_is_everywhere_in_ipv4_too(
    opened: list[socket.socket], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    opened += listen(HttpConfig(host="::", port=0))
    (port,) = {listener.getsockname()[1] for listener in opened}
    announce(HttpConfig(), opened)
    assert reached(IPV4, port)
    assert f"listening on http://0.0.0.0:{port}" in caplog.text
    assert reached(IPV6, port) is has_ipv6()
    assert (f"listening on http://[::]:{port}" in caplog.text) is has_ipv6()


def test_everywhere_in_ipv4_is_not_everywhere(opened: list[socket.socket]) -> None:
    opened += listen(HttpConfig(host="0.0.0.0", port=0))
    port = opened[0].getsockname()[1]
    assert (reached(IPV4, port), reached(IPV6, port)) == (True, False)


def test_a_name_is_every_address_that_it_resolves_to(
    opened: list[socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    names(IPV6, IPV4, "127.0.0.2", monkeypatch=monkeypatch)
    opened += listen(HttpConfig(host=NAME, port=0))
    (port,) = {listener.getsockname()[1] for listener in opened}
    assert all(reached(address, port) for address in (IPV4, "127.0.0.2"))
    assert reached(IPV6, port) is has_ipv6()


def test_an_address_that_the_machine_lacks_is_left_out_and_named(
    opened: list[socket.socket], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    names("2001:db8::1", IPV4, monkeypatch=monkeypatch)
    opened += listen(HttpConfig(host=NAME, port=0))
    assert [listener.getsockname()[0] for listener in opened] == [IPV4]
    assert "not listening on 2001:db8::1 over IPv6" in caplog.text


@pytest.mark.parametrize(
    ("host", "said"),
    [
        ("192.0.2.1", "cannot listen on 192.0.2.1 port"),
        ("no such host", "http.host: cannot be resolved"),
        ("a" * 64, "http.host: is no host name"),
    ],
)
def test_a_host_that_cannot_be_listened_on_is_told(host: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        reserve(HttpConfig(host=host, port=0))


def test_a_port_that_is_taken_is_told_with_its_address(opened: list[socket.socket]) -> None:
    opened += listen(HttpConfig(host=IPV4, port=0))
    port = opened[0].getsockname()[1]
    with pytest.raises(ConfigError, match=rf"127\.0\.0\.1 port {port}: Address already in use"):
        reserve(HttpConfig(host=IPV4, port=port))


@pytest.mark.parametrize("host", ["LOCALHOST", "localhost.", "127.1"])
def test_every_spelling_of_this_machine_can_be_listened_on(
    host: str, opened: list[socket.socket]
) -> None:
    opened += listen(HttpConfig(host=host, port=0))
    assert reached(IPV4, opened[-1].getsockname()[1])
