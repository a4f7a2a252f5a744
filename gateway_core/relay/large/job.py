"""What the gateway and the processes that check bodies tell each other."""

import socket
import struct
from typing import Final

import msgspec

_LENGTH: Final = struct.Struct("!I")


class Job(msgspec.Struct, kw_only=True):
    """One body to decode and check; its file, and one for what comes out, go along.

    Attributes:
        size: the bytes that came in.
        limit: the most bytes that may come out.
        limit_set_by: what sets that, for a refusal.
        encoding: the content encoding.
        content_type: the content type.
        decision: whether it must be a decision body; else it is decoded only.
    """

    size: int
    limit: int
    limit_set_by: str
    encoding: str
    content_type: str
    decision: bool


class CheckedBody(msgspec.Struct, kw_only=True):
    """What was found in one body, or the refusal of it.

    Attributes:
        size: the bytes that came out.
        format: the wire format of a decision body.
        model: the model that it names, as ASCII JSON.
        place: where the name of the model starts and ends in the bytes that came out.
        multipart: whether the body is a form.
        reason: the code of a refusal.
        message: its sentence.
        field: the field at fault.
        headers: the headers of the refusal.
    """

    size: int = 0
    format: str = ""
    model: str = '""'
    place: tuple[int, int] = (0, 0)
    multipart: bool = False
    reason: str = ""
    message: str = ""
    field: str | None = None
    headers: dict[str, str] = {}


def send_message(
    channel: socket.socket, message: Job | CheckedBody, files: tuple[int, ...] = ()
) -> None:
    """Send a message, with descriptors of open files."""
    content = msgspec.json.encode(message)
    head = _LENGTH.pack(len(content))
    if files:
        socket.send_fds(channel, [head], files)
    else:
        channel.sendall(head)
    channel.sendall(content)


def receive_message(channel: socket.socket, files: int = 0) -> tuple[bytes, list[int]]:
    """Return the next message and the descriptors that came along.

    Raises:
        EOFError: the other side has ended.
    """
    head, found, *_ = socket.recv_fds(channel, _LENGTH.size, files)
    if not head:
        raise EOFError
    (length,) = _LENGTH.unpack(head + _exactly(channel, _LENGTH.size - len(head)))
    return _exactly(channel, length), found


def _exactly(channel: socket.socket, size: int) -> bytes:
    content = b""
    while len(content) < size:
        piece = channel.recv(size - len(content))
        if not piece:
            raise EOFError
        content += piece
    return content
