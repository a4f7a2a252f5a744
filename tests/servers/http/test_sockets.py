"""Where a gateway listens: beside another one, on a Unix socket, on what it inherits."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from gateway_core.testing.process import GatewayProcess

Starter = Callable[..., GatewayProcess]
PATIENCE_S = 60
SERVE = (sys.executable, "-m", "gateway_core.cli", "serve", "--http")
both = pytest.mark.parametrize("workers", ["1", "2"])


class Served:
    """A gateway that is started with descriptors of ours, and its log."""

    def __init__(
        self,
        folder: Path,
        *options: str,
        env: dict[str, str] | None = None,
        fds: tuple[int, ...] = (),
    ) -> None:
        own = {"S1GW_STATE_DIR": str(folder), "XDG_CONFIG_HOME": str(folder)}
        inherited = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        self.process = subprocess.Popen(
            [*SERVE, *options],
            env={**inherited, **own, **(env or {})},
            stderr=subprocess.PIPE,
            text=True,
            pass_fds=fds,
        )
        self.log = ""

    def until(self, pattern: str) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log += line
            if re.search(pattern, line):
                return
        raise AssertionError(f"{pattern!r} was not logged:\n{self.log}")

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.ended()

    def ended(self) -> int:
        assert self.process.stderr is not None
        with self.process.stderr as rest:
            self.log += rest.read()
        return self.process.wait(PATIENCE_S)


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Starts gateways that end with the test."""
    started: list[Served] = []

    def begin(*options: str, **more: object) -> Served:
        started.append(Served(tmp_path, *options, **more))
        return started[-1]

    yield begin
    for served in started:
        if served.process.poll() is None:
            served.process.kill()
            served.ended()


def healthy(uds: Path) -> bool:
    transport = httpx.HTTPTransport(uds=str(uds))
    with httpx.Client(transport=transport, base_url="http://localhost") as client:
        return client.get("/healthz", timeout=PATIENCE_S).json() == {"status": "ok"}


def healthy_at(port: int) -> bool:
    return httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=PATIENCE_S).is_success


@both
def test_a_second_gateway_takes_over_on_the_same_port(
    start: Starter, serve: Callable[..., Served], workers: str
) -> None:
    first = start("", "--auth", "disabled", "--reuse-port", "--workers", workers)
    port = str(first.port)
    second = serve("--port", port, "--auth", "disabled", "--reuse-port", "--workers", workers)
    second.until("listening on")
    assert first.stop() == 0
    assert all(healthy_at(int(port)) for _ in range(10))
    assert second.stop() == 0


def test_without_being_allowed_to_it_does_not_share_a_port(
    start: Starter, serve: Callable[..., Served]
) -> None:
    first = start("", "--auth", "disabled")
    second = serve("--port", str(first.port), "--auth", "disabled", "--reuse-port")
    assert second.ended() == 1
    assert "http.host and http.port: cannot listen" in second.log


@both
def test_a_unix_socket_is_served_and_removed_in_the_end(
    serve: Callable[..., Served], tmp_path: Path, workers: str
) -> None:
    place = tmp_path / "s1gw.sock"
    gateway = serve("--uds", str(place), "--auth", "disabled", "--workers", workers)
    gateway.until("listening on the Unix socket")
    assert healthy(place)
    assert gateway.stop() == 0
    assert not place.exists()
    assert "Traceback" not in gateway.log


def test_a_unix_socket_that_was_left_behind_is_replaced(
    serve: Callable[..., Served], tmp_path: Path
) -> None:
    place = tmp_path / "s1gw.sock"
    with closing(socket.socket(socket.AF_UNIX)) as dead:
        dead.bind(str(place))
    gateway = serve("--uds", str(place), "--auth", "disabled")
    gateway.until("listening on the Unix socket")
    assert healthy(place)
    other = serve("--uds", str(place), "--auth", "disabled")
    assert other.ended() == 1
    assert "another server listens" in other.log
    assert healthy(place)
    assert gateway.stop() == 0


def test_a_file_that_is_no_socket_is_left_alone(
    serve: Callable[..., Served], tmp_path: Path
) -> None:
    place = tmp_path / "precious"
    place.write_text("kept")
    gateway = serve("--uds", str(place), "--auth", "disabled")
    assert gateway.ended() == 1
    assert "http.uds: is there already, and is no socket" in gateway.log
    assert place.read_text() == "kept"


@both
def test_an_open_descriptor_is_served(serve: Callable[..., Served], workers: str) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as ours:
        fd = ours.fileno()
        gateway = serve("--fd", str(fd), "--auth", "disabled", "--workers", workers, fds=(fd,))
        gateway.until("listening on")
        assert healthy_at(ours.getsockname()[1])
        assert gateway.stop() == 0
    assert "Traceback" not in gateway.log


@both
def test_systemds_socket_activation_is_taken(serve: Callable[..., Served], workers: str) -> None:
    """As systemd does it: the first descriptor is 3, and the variables name the very process."""
    with closing(socket.create_server(("127.0.0.1", 0))) as ours:
        code = (
            f"import os; os.dup2({ours.fileno()}, 3); os.environ['LISTEN_PID'] = str(os.getpid());"
            "os.environ['LISTEN_FDS'] = '1'; import sys; os.execv(sys.argv[1], sys.argv[1:])"
        )
        command = [sys.executable, "-c", code, *SERVE, "--auth", "disabled", "--workers", workers]
        gateway = Served.__new__(Served)
        gateway.log = ""
        env = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        gateway.process = subprocess.Popen(
            command, env=env, stderr=subprocess.PIPE, text=True, pass_fds=(ours.fileno(), 3)
        )
        gateway.until(f"listening on http://127.0.0.1:{ours.getsockname()[1]}")
        assert healthy_at(ours.getsockname()[1])
        assert gateway.stop() == 0


def test_a_descriptor_that_does_not_listen_is_refused(serve: Callable[..., Served]) -> None:
    with closing(socket.socket()) as deaf:
        fd = deaf.fileno()
        gateway = serve("--fd", str(fd), "--auth", "disabled", fds=(fd,))
        assert gateway.ended() == 1
    assert f"http.fd: descriptor {fd} is no socket that listens" in gateway.log


def test_an_inherited_socket_open_to_the_network_needs_keys_too(
    serve: Callable[..., Served],
) -> None:
    with closing(socket.create_server(("0.0.0.0", 0))) as ours:
        fd = ours.fileno()
        gateway = serve("--fd", str(fd), "--auth", "disabled", fds=(fd,))
        assert gateway.ended() == 1
    assert "only loopback is served" in gateway.log


class Systemd(threading.Thread):
    """What a service manager hears on its socket."""

    def __init__(self, place: Path) -> None:
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(place))
        self.socket.settimeout(PATIENCE_S)
        self.heard: list[str] = []
        self.more = threading.Condition()
        self.start()

    def run(self) -> None:
        while True:
            try:
                text = self.socket.recv(4096).decode()
            except OSError:
                return
            with self.more:
                self.heard.append(text)
                self.more.notify_all()

    def hears(self, word: str, times: int = 1) -> None:
        with self.more:
            assert self.more.wait_for(
                lambda: sum(word in text for text in self.heard) >= times, PATIENCE_S
            )


@both
def test_systemd_is_told_each_step(start: Starter, tmp_path: Path, workers: str) -> None:
    systemd = Systemd(tmp_path / "notify")
    env = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "3000000"}
    gateway = start("", "--auth", "disabled", "--workers", workers, env=env)
    systemd.hears("READY=1")
    assert healthy_at(gateway.port)
    systemd.hears("WATCHDOG=1", 2)
    gateway.send_signal(signal.SIGHUP)
    systemd.hears("RELOADING=1\nMONOTONIC_USEC=")
    systemd.hears("READY=1", 2)
    assert gateway.stop() == 0
    systemd.hears("STOPPING=1")
    systemd.socket.close()
