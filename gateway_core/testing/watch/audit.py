"""What code does to the machine, as the interpreter's own audit events tell it.

The events are those of Python (https://docs.python.org/3/library/audit_events.html): a library
that opens a socket or a file without Python causes none.
"""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from functools import cache
from pathlib import PurePath
from typing import Any, Final

import attrs


class Deed(StrEnum):
    """A kind of thing that code does beyond computing."""

    NETWORK = "network"
    FILE = "file"
    PROCESS = "process"
    THREAD = "thread"


_DEEDS: Final = {
    "socket.__new__": Deed.NETWORK,
    "socket.connect": Deed.NETWORK,
    "socket.bind": Deed.NETWORK,
    "socket.sendto": Deed.NETWORK,
    "socket.sendmsg": Deed.NETWORK,
    "socket.getaddrinfo": Deed.NETWORK,
    "socket.gethostbyname": Deed.NETWORK,
    "socket.gethostbyaddr": Deed.NETWORK,
    "socket.getnameinfo": Deed.NETWORK,
    "open": Deed.FILE,
    "os.mkdir": Deed.FILE,
    "os.rename": Deed.FILE,
    "os.remove": Deed.FILE,
    "os.rmdir": Deed.FILE,
    "os.link": Deed.FILE,
    "os.symlink": Deed.FILE,
    "os.truncate": Deed.FILE,
    "os.chmod": Deed.FILE,
    "os.chown": Deed.FILE,
    "sqlite3.connect": Deed.FILE,
    "subprocess.Popen": Deed.PROCESS,
    "os.system": Deed.PROCESS,
    "os.exec": Deed.PROCESS,
    "os.posix_spawn": Deed.PROCESS,
    "os.spawn": Deed.PROCESS,
    "os.startfile": Deed.PROCESS,
    "os.fork": Deed.PROCESS,
    "os.forkpty": Deed.PROCESS,
    "os.kill": Deed.PROCESS,
    "os.killpg": Deed.PROCESS,
    "signal.pthread_kill": Deed.PROCESS,
    "_thread.start_new_thread": Deed.THREAD,
    "_thread.start_joinable_thread": Deed.THREAD,
}
_TO_AN_ADDRESS: Final = ("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg")
_WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_NOWHERE: Final = (os.devnull, ":memory:", "")
_BYTECODE: Final = "__pycache__"
"""Where Python itself writes when a module is imported for the first time."""


@attrs.define(eq=False)
class Audit:
    """What was done while it watched.

    Attributes:
        home: the address, if any, whose connections are not noted.
        sockets: whether a socket that is only made counts, too.
        deeds: of each kind, what was done, in words that hold no value.
    """

    home: tuple[str, int] | None = None
    sockets: bool = False
    deeds: dict[Deed, list[str]] = attrs.field(factory=dict, init=False)

    def of(self, deed: Deed) -> list[str]:
        """Return what was done of one kind, each once."""
        return list(dict.fromkeys(self.deeds.get(deed, ())))

    def and_then(self, later: "Audit") -> "Audit":
        """Return what was done in this time and a later one."""
        both = Audit(home=self.home)
        for deed in Deed:
            if told := [*self.deeds.get(deed, ()), *later.deeds.get(deed, ())]:
                both.deeds[deed] = told
        return both

    def note(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Take note of one audit event."""
        deed = _DEEDS.get(event)
        if deed is not None and (told := self._told(deed, event, arguments)):
            self.deeds.setdefault(deed, []).append(told)

    def _told(self, deed: Deed, event: str, arguments: tuple[Any, ...]) -> str | None:
        match deed:
            case Deed.NETWORK:
                return self._network(event, arguments)
            case Deed.FILE:
                return _file(event, arguments)
            case Deed.PROCESS:
                return f"{event} {_process(arguments)}".rstrip()
        return event

    def _network(self, event: str, arguments: tuple[Any, ...]) -> str | None:
        if event == "socket.__new__":
            return event if self.sockets else None
        if event not in _TO_AN_ADDRESS:
            return f"{event} of {_text(arguments[0])}"
        address = arguments[1]
        # Without an address it goes where the socket was connected to, which was noted.
        if address is None or (isinstance(address, tuple) and address[:2] == self.home):
            return None
        named = address[:2] if isinstance(address, tuple) else (address,)
        return f"{event} to {':'.join(map(_text, named))}"


def _file(event: str, arguments: tuple[Any, ...]) -> str | None:
    path = arguments[0]
    if event == "open" and (isinstance(path, int) or not arguments[2] & _WRITING):
        return None
    text = _text(path)
    if text in _NOWHERE or _BYTECODE in text:
        return None
    return f"{event} of {PurePath(text).name}"


def _process(arguments: tuple[Any, ...]) -> str:
    named = arguments[0] if arguments else ""
    return PurePath(_text(named).partition(" ")[0]).name if isinstance(named, str | bytes) else ""


def _text(value: object) -> str:
    return os.fsdecode(value) if isinstance(value, str | bytes | os.PathLike) else str(value)


_audits: Final[list[Audit]] = []
_strangers: Final = frozenset(thread.ident for thread in threading.enumerate()) - {
    threading.get_ident()
}
kit_threads: Final[set[int | None]] = set()
"""The threads of the kit's own servers, whose doings are not a provider's."""


@contextmanager
def watching(audit: Audit) -> Iterator[Audit]:
    """A block in which ``audit`` notes what any thread of the process does.

    Left out are the kit's own threads and those that were there before the kit.
    """
    _install()
    _audits.append(audit)
    try:
        yield audit
    finally:
        _audits.remove(audit)


@cache
def _install() -> None:
    # An audit hook cannot be removed, so there is one, and it is idle while nobody watches.
    def note(event: str, arguments: tuple[Any, ...]) -> None:
        if _audits and threading.get_ident() not in _strangers | kit_threads:
            for audit in _audits:
                audit.note(event, arguments)

    sys.addaudithook(note)
