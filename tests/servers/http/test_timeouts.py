"""How long a client may take: real connections to a server that is in a hurry."""

import http.client
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from pathlib import Path

import pytest

from gateway_core.config.load import Loaded, load_config
from gateway_core.door.access import AccessEntry
from gateway_core.http1.states import ClientTimeouts
from gateway_core.servers.http.access_log import AccessLog
from gateway_core.servers.http.app import Application
from gateway_core.servers.http.services import open_services
from gateway_core.testing import Gate, Reply, ScriptedUpstream

PATIENCE_S = 30
SHORT_S = 0.2
BODY = b'{"model": "m", "questions": {}}'


HASTY = ClientTimeouts(
    keep_alive_s=SHORT_S, head_s=SHORT_S, body_s=SHORT_S, linger_s=SHORT_S, send_s=SHORT_S
)


class Notes(AccessLog):
    """Keeps what is logged for the test instead of writing it."""

    def __init__(self) -> None:
        super().__init__(None)
        self.entries: list[AccessEntry] = []

    def add(self, entry: AccessEntry) -> None:
        self.entries.append(entry)


@pytest.fixture(scope="module")
def upstream() -> Iterator[ScriptedUpstream]:
    with ScriptedUpstream() as found:
        found.answer(Reply(body={"answers": {}, "usage": {}, "large": "x" * 9_000_000}))
        yield found


@pytest.fixture(scope="module")
def notes() -> Notes:
    return Notes()


@pytest.fixture(scope="module")
def loaded(upstream: ScriptedUpstream, tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    path: Path = tmp_path_factory.mktemp("hasty") / "config.toml"
    path.write_text(
        '[http]\nauth = "disabled"\nmax_body_bytes = 1000\n[providers.fake]\n'
        f'api_format = "systemone"\nbase_url = "{upstream.url}"\nmodels = ["m"]\n'
    )
    return load_config(path, {})


@pytest.fixture(scope="module")
def port(
    loaded: Loaded, notes: Notes, serve_here: Callable[..., AbstractContextManager[int]]
) -> Iterator[int]:
    with serve_here(Application(lambda: open_services(loaded), notes, HASTY)) as found:
        yield found


@pytest.fixture
def client(port: int) -> Iterator[socket.socket]:
    with closing(socket.create_connection(("127.0.0.1", port), PATIENCE_S)) as found:
        yield found


def rest(client: socket.socket) -> bytes:
    """Return all that comes until the server closes the connection."""
    pieces = []
    try:
        while piece := client.recv(1_000_000):
            pieces.append(piece)
    except ConnectionResetError:
        pieces.append(b"<reset>")
    return b"".join(pieces)


def send_for_ever(client: socket.socket) -> None:
    while True:
        client.sendall(b"\r\n")


def post(length: int) -> bytes:
    head = f"POST /v1/systemone HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n"
    return head.encode()


def test_a_connection_without_a_request_is_closed(client: socket.socket) -> None:
    assert rest(client) == b""


def test_an_idle_connection_is_closed(client: socket.socket) -> None:
    client.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
    found = rest(client)
    assert found.startswith(b"HTTP/1.1 200")
    assert found.count(b"HTTP/1.1") == 1


def test_a_head_that_does_not_end_is_refused(client: socket.socket) -> None:
    client.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n")
    found = rest(client)
    assert found.startswith(b"HTTP/1.1 408")
    assert b'"code":"request_timeout"' in found


def test_a_body_that_does_not_end_is_refused_and_noted(client: socket.socket, notes: Notes) -> None:
    client.sendall(post(9) + b"ab")
    found = rest(client)
    assert found.startswith(b"HTTP/1.1 408")
    assert b'"code":"request_timeout"' in found
    assert (notes.entries[-1].status, notes.entries[-1].code) == (408, "request_timeout")


def test_a_refused_body_is_not_waited_for_long(client: socket.socket) -> None:
    client.sendall(post(5000) + b"ab")
    found = rest(client)
    assert found.startswith(b"HTTP/1.1 413")
    assert found.count(b"HTTP/1.1") == 1


def test_a_request_behind_a_slow_one_has_time_of_its_own(
    client: socket.socket, port: int, upstream: ScriptedUpstream
) -> None:
    gate = Gate()
    upstream.queue(Reply(body={"answers": {}, "usage": {}}, gate=gate))
    client.sendall(post(len(BODY)) + BODY + post(9) + b"ab")
    # Once this one is closed, as much time is over as a body has.
    with closing(socket.create_connection(("127.0.0.1", port), PATIENCE_S)) as idle:
        assert rest(idle) == b""
    gate.open()
    found = rest(client)
    assert found.startswith(b"HTTP/1.1 200")
    assert b"HTTP/1.1 408" in found


def test_a_refused_head_is_not_read_for_long(client: socket.socket) -> None:
    client.sendall(b"GET /healthz HTTP/1.1\r\na: " + b"x" * 70_000)
    assert rest(client).startswith(b"HTTP/1.1 431")
    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        send_for_ever(client)


def test_a_client_that_takes_no_reply_is_cut_off(port: int) -> None:
    with closing(socket.socket()) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", port))
        client.sendall(post(len(BODY)) + BODY)
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            send_for_ever(client)


def test_a_client_that_takes_its_reply_slowly_gets_all_of_it(
    loaded: Loaded, serve_here: Callable[..., AbstractContextManager[int]]
) -> None:
    timeouts = ClientTimeouts(send_s=1)
    app = Application(lambda: open_services(loaded), Notes(), timeouts)
    with serve_here(app) as port, closing(socket.socket()) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(PATIENCE_S)
        client.connect(("127.0.0.1", port))
        client.sendall(post(len(BODY)) + BODY)
        begun, taken = time.monotonic(), 0
        while taken < 9_000_000:
            piece = client.recv(100_000)
            assert piece
            taken += len(piece)
            # A third of the reply a second, while the gateway serves others.
            while taken > 3_000_000 * (time.monotonic() - begun):
                assert healthy(port)


def healthy(port: int) -> bool:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)) as other:
        other.request("GET", "/healthz")
        return other.getresponse().status == 200
