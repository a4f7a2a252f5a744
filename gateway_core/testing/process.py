"""A real gateway in a process of its own, for tests: ``s1gw serve --http`` on a free port.

with GatewayProcess(tmp_path, CONFIG, "--auth", "disabled") as gateway:
    ...                                    # send something to gateway.url
assert "secret" not in gateway.log
"""

import http.client
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Final, Self

from gateway_core.door.keys.file import changing_keys
from gateway_core.door.keys.record import KeySettings, make_key
from gateway_core.door.rights import CallerKind

_PATIENCE_S: Final = 60.0
_LISTENING: Final = re.compile(r"listening on (https?://[][.:0-9a-z]+)")
_INHERITED: Final = (
    "PATH",
    "HOME",
    "SYSTEMROOT",
    "COVERAGE_PROCESS_START",
    # Where modules come from: the gateway is to be the one that the tests import.
    "PYTHONPATH",
    "PYTHONSAFEPATH",
)
_EMPTY: Final[Mapping[str, str]] = MappingProxyType({})


class GatewayProcess:
    """One gateway; it has its own configuration, state and environment.

    Attributes:
        env: its environment, for commands that are to find its configuration and state.
        keys: the keys that were made with ``key``.
        url: where it listens.
    """

    def __init__(
        self,
        folder: Path,
        config: str = "",
        *arguments: str,
        env: Mapping[str, str] = _EMPTY,
        orgs: Sequence[str] = (),
    ) -> None:
        """Prepare a gateway that starts in a ``with`` block.

        Args:
            folder: an empty folder for its files.
            config: the text of its configuration file.
            arguments: what follows ``s1gw serve --http --port 0``.
            env: environment variables beside the few that every process needs.
            orgs: organizations that have a key from the start, in ``org_keys``: of a key that
                is made later, one worker may know while another does not.
        """
        self._state = folder / "state"
        path = folder / "config.toml"
        path.write_text(config, encoding="utf-8")
        inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        own = {"S1GW_CONFIG": str(path), "S1GW_STATE_DIR": str(self._state)}
        self.env = {**inherited, **own, **env}
        self._arguments = ("serve", "--http", "--port", "0", *arguments)
        self._lines: list[str] = []
        self._changed = threading.Condition()
        self._ended = False
        self.keys: list[str] = []
        self.org_keys = {org: self._new_key(KeySettings(org=org)) for org in orgs}
        self.url = ""

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self.url.rpartition(":")[2])

    @property
    def log(self) -> str:
        """All that it has written to stderr so far."""
        return "".join(self._lines)

    @property
    def pid(self) -> int:
        """The id of its process."""
        return self._process.pid

    def send_signal(self, number: int) -> None:
        """Send it a signal."""
        self._process.send_signal(number)

    def key(self, **settings: Any) -> str:
        """Make a key, and return it when the running gateway takes it; see ``KeySettings``."""
        kind = CallerKind(settings.pop("kind", "org"))
        key = self._new_key(KeySettings(kind=kind, **settings))
        while self._status(key) == 401:
            pass
        return key

    def _new_key(self, settings: KeySettings) -> str:
        record, secret = make_key(settings)
        with changing_keys(self._state / "keys.json") as keys:
            keys[record.id] = record
        self.keys.append(secret.reveal())
        return secret.reveal()

    def _status(self, key: str) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_PATIENCE_S)
        with closing(connection):
            # A blank provider key is refused to everyone, before anything counts as a request.
            headers = {"authorization": f"Bearer {key}", "x-s1gw-provider-key": ""}
            connection.request("POST", "/v1/systemone", headers=headers)
            return connection.getresponse().status

    def wait_for(self, pattern: str) -> re.Match[str]:
        """Block until a line of its log matches ``pattern``; return the match."""
        with self._changed:
            found = self._changed.wait_for(
                lambda: re.search(pattern, self.log) or self._ended, _PATIENCE_S
            )
        if not isinstance(found, re.Match):
            raise AssertionError(f"the gateway did not log {pattern!r}:\n{self.log}")
        return found

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send it a signal, wait for its end, and return its exit code."""
        if self._process.poll() is None:
            self._process.send_signal(number)
        return self.wait()

    def wait(self) -> int:
        """Wait for its end and return its exit code."""
        try:
            code = self._process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise
        self._reader.join(_PATIENCE_S)
        return code

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(  # noqa: S603 - our own command
            [sys.executable, "-m", "gateway_core.cli", *self._arguments],
            env=self.env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.url = self.wait_for(_LISTENING.pattern)[1]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _read(self) -> None:
        if self._process.stderr is None:
            return
        with self._process.stderr as lines:
            for line in lines:
                with self._changed:
                    self._lines.append(line)
                    self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()
