"""How many clients may be connected, in all and from one address."""

import socket
from collections.abc import Callable
from contextlib import ExitStack

import pytest

from gateway_core.servers.http.crowd import Crowd, usual_limit
from gateway_core.testing.process import GatewayProcess

ASKED = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"
LIMITS = """
[http]
max_connections = 3
max_connections_per_address = 2
"""


class Clients:
    """Connections to one gateway, from the addresses of this machine."""

    def __init__(self, gateway: GatewayProcess, stack: ExitStack) -> None:
        self._port = int(gateway.url.rpartition(":")[2])
        self._stack = stack

    def connect(self, address: str = "127.0.0.1") -> socket.socket:
        to = ("127.0.0.1", self._port)
        found = socket.create_connection(to, 20, source_address=(address, 0))
        return self._stack.enter_context(found)


def status(connection: socket.socket) -> bytes:
    connection.sendall(ASKED)
    return connection.recv(4096).partition(b" ")[2][:3]


def refused(connection: socket.socket) -> bytes:
    answer = b""
    while piece := connection.recv(4096):
        answer += piece
    return answer


def test_clients_beyond_the_limit_are_told_and_the_others_stay(
    start: Callable[..., GatewayProcess],
) -> None:
    gateway = start(LIMITS)
    with ExitStack() as stack:
        clients = Clients(gateway, stack)
        first = [clients.connect(), clients.connect()]
        assert [status(each) for each in first] == [b"200"] * 2
        answer = refused(clients.connect())
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b"retry-after: 1" in answer
        other = clients.connect("127.0.0.2")
        assert status(other) == b"200"
        assert refused(clients.connect("127.0.0.3")).startswith(b"HTTP/1.1 503 ")
        assert [status(each) for each in (*first, other)] == [b"200"] * 3
        first[0].close()
        other.close()
        # The gateway sees at some time that they have left.
        while not (again := clients.connect("127.0.0.3")) or _is_refused(again):
            pass
    gateway.wait_for("http.max_connections_per_address = 2")
    assert gateway.log.count("too many connections") == 1


def _is_refused(connection: socket.socket) -> bool:
    try:
        return status(connection) != b"200"
    except ConnectionError:
        return True


@pytest.mark.parametrize(("limit", "fits"), [(80, 24), (1024, 496), (8, 4)])
def test_the_usual_limit_leaves_descriptors_for_upstreams_and_files(
    monkeypatch: pytest.MonkeyPatch, limit: int, fits: int
) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda _: (limit, limit))
    assert usual_limit() == fits


class Leaver:
    """A client that is refused."""

    def __init__(self) -> None:
        self.closed = False

    def get_extra_info(self, _: str) -> tuple[str, int]:
        return "192.0.2.1", 1

    def pause_reading(self) -> None:
        pass

    def write(self, _: bytes) -> None:
        pass

    def close(self) -> None:
        self.closed = True


def test_no_address_keeps_out_all_others() -> None:
    crowd = Crowd(8)
    clients = [Leaver() for _ in range(8)]
    admitted = [crowd.admit(client, client) for client in clients]
    assert admitted == [True] * 6 + [False] * 2
    assert [client.closed for client in clients] == [False] * 6 + [True] * 2
    assert [crowd.leave(client) for client in clients] == admitted
    assert crowd.admit(clients[7], clients[7])
