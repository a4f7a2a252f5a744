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

PATIENCE_S = 60
HOUR = 3600.0
SCALES = (0.2, 1.0, 5.0, 20.0)
"""What counts as short, in seconds. A busy machine may take longer than the first for what a client
does at once: then the next one decides."""
BODY = b'{"model": "m", "questions": {}}'


def only(**short: float) -> ClientTimeouts:
    """Return what waits an hour for everything else, so that no other deadline can stand in."""
    usual = dict.fromkeys(("keep_alive_s", "head_s", "body_s", "linger_s", "send_s"), HOUR)
    return ClientTimeouts(**(usual | short))


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
def loaded(upstream: ScriptedUpstream, tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    path: Path = tmp_path_factory.mktemp("hasty") / "config.toml"
    path.write_text(
        '[http]\nauth = "disabled"\nmax_body_bytes = 1000\n[providers.fake]\n'
        f'api_format = "systemone"\nbase_url = "{upstream.url}"\nmodels = ["m"]\n'
    )
    return load_config(path, {})


Talk = Callable[[socket.socket], bool]


class Hurry:
    """Runs servers that are short of one kind of patience.

    Attributes:
        scale: what is short for the one that runs, in seconds.
    """

    def __init__(self, loaded: Loaded, serve: Callable[..., AbstractContextManager[int]]) -> None:
        self.scale = SCALES[0]
        self._loaded = loaded
        self._serve = serve

    def __call__(self, talk: Talk, *, buffer: int | None = None, **factors: float) -> Notes:
        """Return what a server logged with which ``talk`` went as it should.

        Args:
            talk: what a client does; says whether that went well.
            buffer: the size of the client's buffer, in bytes.
            factors: the times that are short, in multiples of ``scale``.
        """
        for self.scale in SCALES:
            notes = Notes()
            patience = only(**{name: self.scale * factor for name, factor in factors.items()})
            app = Application(lambda: open_services(self._loaded), notes, patience)
            with self._serve(app) as port, closing(socket.socket()) as client:
                if buffer is not None:
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
                client.settimeout(PATIENCE_S)
                client.connect(("127.0.0.1", port))
                if talk(client):
                    return notes
        raise AssertionError("however long the server waits")


@pytest.fixture
def within(loaded: Loaded, serve_here: Callable[..., AbstractContextManager[int]]) -> Hurry:
    """Talks to servers in a hurry."""
    return Hurry(loaded, serve_here)


def rest(client: socket.socket) -> bytes:
    """Return all that comes until the server closes the connection."""
    pieces = []
    try:
        while piece := client.recv(1_000_000):
            pieces.append(piece)
    except ConnectionResetError:
        pieces.append(b"<reset>")
    return b"".join(pieces)


def send_for_ever(client: socket.socket, piece: bytes = b"x") -> None:
    while True:
        client.sendall(piece)


def post(length: int) -> bytes:
    head = f"POST /v1/systemone HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n"
    return head.encode()


GET = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"


def test_a_connection_without_a_request_is_closed(within: Hurry) -> None:
    within(lambda client: rest(client) == b"", head_s=1)


@pytest.mark.parametrize("piece", [b"\r\n", b"\r", b"\r\n\r\n"])
def test_empty_lines_are_no_request_and_keep_nothing_open(within: Hurry, piece: bytes) -> None:
    """However they drip, the server closes the connection; here it waits for everything."""

    def talk(client: socket.socket) -> bool:
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            send_for_ever(client, piece)
        return True

    within(talk, linger_s=1)


def test_an_idle_connection_is_closed(within: Hurry) -> None:
    def talk(client: socket.socket) -> bool:
        client.sendall(GET)
        found = rest(client)
        return found.startswith(b"HTTP/1.1 200") and found.count(b"HTTP/1.1") == 1

    within(talk, keep_alive_s=1)


def test_a_head_that_does_not_end_is_refused(within: Hurry) -> None:
    def talk(client: socket.socket) -> bool:
        client.sendall(GET[:-2])
        found = rest(client)
        return found.startswith(b"HTTP/1.1 408") and b'"code":"request_timeout"' in found

    within(talk, head_s=1, linger_s=1)


def test_a_head_that_does_not_end_is_refused_behind_another_request_too(within: Hurry) -> None:
    def talk(client: socket.socket) -> bool:
        client.sendall(GET + GET[:-2])
        found = rest(client)
        return found.startswith(b"HTTP/1.1 200") and b"HTTP/1.1 408" in found

    within(talk, head_s=1, linger_s=1)


def test_a_body_that_does_not_end_is_refused_and_noted(within: Hurry) -> None:
    def talk(client: socket.socket) -> bool:
        client.sendall(post(9) + b"ab")
        found = rest(client)
        return found.startswith(b"HTTP/1.1 408") and b'"code":"request_timeout"' in found

    notes = within(talk, body_s=1, linger_s=1)
    assert (notes.entries[-1].status, notes.entries[-1].code) == (408, "request_timeout")


def test_a_refused_body_is_not_waited_for_long(within: Hurry) -> None:
    def talk(client: socket.socket) -> bool:
        client.sendall(post(5000) + b"ab")
        found = rest(client)
        return found.startswith(b"HTTP/1.1 413") and found.count(b"HTTP/1.1") == 1

    within(talk, linger_s=1)


def test_a_request_behind_a_slow_one_has_time_of_its_own(
    within: Hurry, upstream: ScriptedUpstream
) -> None:
    def talk(client: socket.socket) -> bool:
        gate = Gate()
        upstream.queue(Reply(body={"answers": {}, "usage": {}}, gate=gate))
        client.sendall(post(len(BODY)) + BODY + post(9) + b"ab")
        # Once this one is closed, more time is over than a body has.
        with closing(socket.create_connection(client.getpeername(), PATIENCE_S)) as idle:
            assert rest(idle) == b""
        gate.open()
        found = rest(client)
        return found.startswith(b"HTTP/1.1 200") and b"HTTP/1.1 408" in found

    within(talk, body_s=1, head_s=2, linger_s=1)


def test_a_refused_head_is_not_read_for_long(within: Hurry) -> None:
    def talk(client: socket.socket) -> bool:
        client.sendall(b"GET /healthz HTTP/1.1\r\na: " + b"x" * 70_000)
        assert rest(client).startswith(b"HTTP/1.1 431")
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            send_for_ever(client)
        return True

    within(talk, linger_s=1)


def test_a_client_that_takes_no_reply_is_cut_off(within: Hurry) -> None:
    def talk(client: socket.socket) -> bool:
        client.sendall(post(len(BODY)) + BODY)
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            send_for_ever(client)
        return True

    within(talk, buffer=4096, send_s=1)


def test_a_client_that_takes_its_reply_slowly_gets_all_of_it(within: Hurry) -> None:
    def talk(client: socket.socket) -> bool:
        client.sendall(post(len(BODY)) + BODY)
        begun, taken = time.monotonic(), 0
        while taken < 9_000_000:
            try:
                piece = client.recv(100_000)
            except ConnectionResetError:
                return False
            if not piece:
                return False
            taken += len(piece)
            # More than three times as long as a client may take nothing, while others are served.
            while taken > 9_000_000 / 3.5 * (time.monotonic() - begun) / within.scale:
                assert healthy(client.getpeername()[1])
        return True

    within(talk, buffer=4096, send_s=1)


def healthy(port: int) -> bool:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)) as other:
        other.request("GET", "/healthz")
        return other.getresponse().status == 200
