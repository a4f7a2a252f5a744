# Compiled with mypyc; CONTRIBUTING.md, "The hot path", says what that asks of this file.
"""One HTTP/1.1 reply out of the bytes of a connection, with limits on every part of it."""

from functools import lru_cache
from typing import Final

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from gateway_core.causes import Cause
from gateway_core.errors import MalformedResponse
from gateway_core.http1.bounds import MAX_FRAMING_BYTES, MAX_HEAD_BYTES, MAX_REPLY_BYTES
from gateway_core.types import DecisionReply

_CHARGE: Final = 128
"""What a name and a value count for each, beside their bytes: about what Python keeps of them."""
_ORDINARY_HEAD_BYTES: Final = 12 * 1024
_NO_PARSER: Final = HttpResponseParser(None)


class ReplyReader:
    """Reads replies one after the other; the callbacks are those of ``httptools``.

    llhttp is strict on its own: it refuses a content length beside a transfer encoding, two
    content lengths, folded lines and bare line feeds. What it lets pass is refused here.

    Attributes:
        complete: whether the reply that ``begin`` announced is whole.
        reusable: whether the connection may carry another request after it.
        status: the final reply's; 0 until that and its headers are known.
    """

    def __init__(self) -> None:
        self._parser = HttpResponseParser(self)
        self._fields: list[bytes] = []
        self._headers: dict[str, str] = {}
        self._pieces: list[bytes] = []
        self.begin(head_only=False)

    def close(self) -> None:
        """Let go of the parser, which holds on to its reader in return."""
        self._parser = _NO_PARSER

    def begin(self, *, head_only: bool) -> None:
        """Expect the reply to a new request; ``head_only`` when it was a HEAD."""
        self.complete = self.reusable = False
        self.status = 0
        self._head_only = head_only
        self._head_size = self._body_size = self._received = 0

    def feed(self, data: bytes | memoryview) -> bool:
        """Read ``data`` and return whether the reply is whole.

        Raises:
            MalformedResponse: it is not HTTP/1.1, or goes over a limit.
        """
        self._received += len(data)
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade) as error:
            self._judge(error)
        if self._received > MAX_HEAD_BYTES:
            self._check_framing()
        return self.complete

    def _judge(self, error: Exception) -> None:
        # What follows a whole reply spoils the connection, not the reply.
        self.reusable = False
        if self.complete:
            return
        if isinstance(error.__context__, MalformedResponse):
            raise error.__context__ from None
        raise MalformedResponse("the reply is not valid HTTP/1.1", cause=Cause.NOT_HTTP) from None

    def _check_framing(self) -> None:
        framing = self._received - self._body_size
        if framing > MAX_HEAD_BYTES and not self.status:
            raise MalformedResponse("the reply's headers are too large", cause=Cause.TOO_LARGE)
        if framing > MAX_FRAMING_BYTES + self._body_size:
            raise MalformedResponse("the reply is mostly framing", cause=Cause.TOO_LARGE)

    def end(self) -> bool:
        """Take note that the upstream closed; return whether that completes the reply."""
        if self.status and not self.complete:
            delimited = "content-length" in self._headers or "transfer-encoding" in self._headers
            self.complete = not delimited
        return self.complete

    def take(self) -> DecisionReply:
        """Return the reply read so far, its body as sent, and let go of it."""
        body = b"".join(self._pieces)
        self._pieces.clear()
        return DecisionReply(body=body, status=self.status, headers=self._headers)

    def on_message_begin(self) -> None:
        """Stop at the start of a second reply: nobody asked for one."""
        if self.complete:
            raise MalformedResponse("more than one reply", cause=Cause.NOT_HTTP)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep one header field; trailers are read over."""
        if not self.status:
            self._fields += name, value

    def on_headers_complete(self) -> None:
        """Judge the head of the reply; an interim one (1xx) is read over."""
        fields, self._fields = self._fields, []
        size = self._head_size + sum(map(len, fields)) + _CHARGE * len(fields)
        self._head_size = size
        if size > MAX_HEAD_BYTES:
            raise MalformedResponse("the reply's headers are too large", cause=Cause.TOO_LARGE)
        status = self._parser.get_status_code()
        if status < 200:
            return
        self._headers = headers = _by_name(fields, ordinary=size <= _ORDINARY_HEAD_BYTES)
        if "transfer-encoding" in headers and headers["transfer-encoding"].lower() != "chunked":
            raise MalformedResponse(
                "the reply has an unknown transfer encoding", cause=Cause.NOT_HTTP
            )
        self.status = status
        if self._head_only:
            self.complete = True
        elif int(headers.get("content-length", 0)) > MAX_REPLY_BYTES:
            raise MalformedResponse("the reply is larger than 10 MiB", cause=Cause.TOO_LARGE)

    def on_body(self, piece: bytes) -> None:
        """Keep a piece of the body."""
        if self._head_only:
            return
        self._body_size += len(piece)
        if self._body_size > MAX_REPLY_BYTES:
            raise MalformedResponse("the reply is larger than 10 MiB", cause=Cause.TOO_LARGE)
        self._pieces.append(piece)

    def on_message_complete(self) -> None:
        """Finish the reply, or go on to the next when it was an interim one."""
        if self.status:
            self.complete = True
            self.reusable = not self._head_only and self._parser.should_keep_alive()


def _field_name(raw: bytes) -> str:
    return raw.decode("latin-1").lower()


# Whoever an organization sends to may fill it, so that only what is short is remembered.
_known_name: Final = lru_cache(maxsize=512)(_field_name)


def _by_name(fields: list[bytes], *, ordinary: bool) -> dict[str, str]:
    """Return header fields, names and values in turn, with those of one name joined by commas.

    Args:
        fields: the names and values.
        ordinary: whether there is so little of them that the names may be remembered.
    """
    names = [*map(_known_name if ordinary else _field_name, fields[::2])]
    # No value holds a line feed, and one decoding is cheaper than many.
    values = b"\n".join(fields[1::2]).decode("latin-1").split("\n")
    headers = dict(zip(names, values, strict=False))
    if len(headers) < len(names):
        for name in headers:
            same = [value for each, value in zip(names, values, strict=True) if each == name]
            headers[name] = ", ".join(same)
    return headers
