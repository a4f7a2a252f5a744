# Compiled with mypyc; CONTRIBUTING.md, "The hot path", says what that asks of this file.
"""HTTP/1.1 requests out of bytes: the head whole, the body as it comes."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import ClassVar, Final, Protocol
from urllib.parse import unquote

import httptools

from gateway_core.http1.bounds import MAX_FRAMING_BYTES, MAX_HEAD_BYTES
from gateway_core.http1.head import EXPECT, Head

_FRAMING: Final = len(": \r\n")
_LONGEST_JOINED: Final = 8192
"""Every further value costs a copy of those before it."""
_PATHS_KNOWN: Final = 64
"""How many request targets are kept with their paths: each may be as long as a head."""
_SLASH: Final = re.compile("%2f", re.IGNORECASE)
_UPGRADE: Final = b"upgrade"
_HOST: Final = b"host"
_CODING: Final = b"transfer-encoding"
_AUTHORITY: Final = re.compile(
    rb"(?:\[[0-9A-Fa-f:.]*(?:%[\w.~-]+)?\]|[A-Za-z0-9._~!$&'()*+;=%-]*)(?::[0-9]*)?"
).fullmatch
"""A host and a port (RFC 9110 §7.2); without the comma, which joins the values of two headers."""
_OTHERS: Final = (b" RTSP/", b" ICE/")
"""The protocols that the parser takes for HTTP/1.0."""
_MOST_BLANK: Final = 8
"""How many bytes of empty lines may come before a request; one must be taken (RFC 9112 §2.2)."""


class Malformed(Exception):
    """What came is not HTTP/1.1."""

    status: ClassVar = 400
    code: ClassVar = "invalid_request"
    sentence: ClassVar = "the request is not valid HTTP/1.1"


class HeadTooLarge(Malformed):
    """A request's target and headers are over ``MAX_HEAD_BYTES``."""

    status = 431
    code = "request_headers_too_large"
    sentence = "the request's headers are over 64 KiB"


class TooSlow(Malformed):
    """A request does not come whole in the time it has."""

    status = 408
    code = "request_timeout"
    sentence = "the request did not come whole in the time it has"


class BodySink(Protocol):
    """Where the body of one request goes.

    Attributes:
        received: how much of it came in, in bytes.
    """

    received: int

    def feed(self, piece: bytes) -> None:
        """Take the next piece."""

    def finish(self) -> None:
        """Take the body as whole."""


class RequestParser:
    """Turns what a client sends into requests, one after the other.

    Attributes:
        in_head: whether a head is only partly there.
        ended: whether no request follows, whatever comes.
        body: the body that is only partly there.
    """

    def __init__(self, begin: Callable[[Head], BodySink]) -> None:
        """Take what is called with each head, and gives the body to fill."""
        self._begin = begin
        self._parser = httptools.HttpRequestParser(self)
        self._url = b""
        self._headers: dict[bytes, bytes] = {}
        # The piece that is parsed, those before it since the request began, and how much of them
        # may be requests' before it.
        self._size = self._taken = self._others = self._blank = 0
        # For a request of HTTP/1.0, the piece that is parsed and the head's before it.
        self._piece: bytes | memoryview = b""
        self._before = b""
        self._fault: type[Malformed] = Malformed
        self._last = False
        self.ended = False
        self.in_head = False
        self.body: BodySink | None = None

    def stop(self) -> None:
        """Take no notice of what comes from now on."""
        self.ended, self.in_head, self.body = True, False, None

    def feed(self, data: bytes | memoryview) -> None:
        """Parse ``data``.

        Raises:
            Malformed: it is not HTTP/1.1, or a head that is too large.
        """
        if self.ended:
            return
        self._size = len(data)
        self._piece = data
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as offer:
            self._decline(data[offer.args[0] :])
            return
        except httptools.HttpParserError:
            # What follows a last request is nobody's business.
            if not self.ended:
                raise self._fault from None
        if self.in_head or self.body is not None:
            self._bound()
        elif self._others:
            self._others = self._blank = 0
        else:
            self._bound_blank()

    def _bound(self) -> None:
        self._taken += self._size
        if self.body is None:
            self._before += bytes(self._piece)
            if self._taken - self._others > MAX_HEAD_BYTES:
                raise HeadTooLarge
        elif self._taken > MAX_FRAMING_BYTES + 2 * self.body.received:
            raise Malformed

    def _bound_blank(self) -> None:
        """Refuse a client that sends empty lines and no request, which would never be idle."""
        self._blank += self._size
        if self._blank > _MOST_BLANK and not self.ended:
            raise Malformed

    def _is_other_protocol(self) -> bool:
        """Say whether a request that the parser takes for HTTP/1.0 is of another protocol."""
        line = self._url + b" HTTP/1.0"
        piece = self._before + bytes(self._piece)
        return line not in piece and any(self._url + other in piece for other in _OTHERS)

    def _bound_head(self) -> None:
        """Refuse a head that came whole and is over the bound, whatever pieces it came in."""
        fields = sum(len(name) + len(value) + _FRAMING for name, value in self._headers.items())
        if len(self._url) + fields > MAX_HEAD_BYTES:
            self._fault = HeadTooLarge
            raise HeadTooLarge

    def _decline(self, rest: bytes | memoryview) -> None:
        """Read a request that offers another protocol as if it did not (RFC 9110 §7.8).

        The parser takes what follows such a head for the other protocol; the clients that offer
        one send their bodies all the same.
        """
        method, version = self._parser.get_method(), self._parser.get_http_version()
        if method == b"CONNECT":
            # It is refused by now, and what follows is for whom it asked for.
            raise Malformed
        lines = [b"%b %b HTTP/%b" % (method, self._url, version.encode("ascii"))]
        lines += [b"%b: %b" % pair for pair in self._headers.items() if pair[0] != _UPGRADE]
        self._parser = httptools.HttpRequestParser(self)
        self.feed(b"\r\n".join((*lines, b"", rest)))

    def on_message_begin(self) -> None:
        """Begin a head."""
        self.in_head = True
        self._taken = 0
        self._url = b""
        self._headers = {}
        self._before = b""

    def on_url(self, url: bytes) -> None:
        """Take a piece of the request target."""
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; those that come after the body are dropped with the next request."""
        field = name.lower()
        # White space around a value is no part of it (RFC 9110 §5.5); that before it is gone.
        value = value.rstrip(b" \t")
        if field in self._headers:
            value = _joined(self._headers[field], value)
        self._headers[field] = value

    def on_headers_complete(self) -> None:
        """Hand the head over."""
        parser, headers = self._parser, self._headers
        if _UPGRADE in headers and parser.should_upgrade():
            return
        self.in_head = False
        if self._taken + self._size > MAX_HEAD_BYTES:
            self._bound_head()
        # The head is whole: what may come after the body is no part of it.
        self._headers = {}
        current = parser.get_http_version() == "1.1"
        _check(headers, current)
        if not current:
            # A client of HTTP/1.0 knows no interim reply (RFC 9110 §10.1.1).
            headers.pop(EXPECT, None)
            if parser.get_http_version() != "1.0" or self._is_other_protocol():
                raise Malformed
        keep_alive = current and parser.should_keep_alive()
        self._last = not keep_alive
        method = parser.get_method().decode("ascii")
        self.body = self._begin(Head(method, _path(self._url), headers, keep_alive))

    def on_body(self, chunk: bytes) -> None:
        """Hand a piece of the body over."""
        if self.body is not None:
            self.body.feed(chunk)

    def on_message_complete(self) -> None:
        """Take the request as whole."""
        self._others = self._size
        if (body := self.body) is not None:
            self.body = None
            body.finish()
        self.ended = self._last


def _check(headers: dict[bytes, bytes], current: bool) -> None:
    """Refuse what the parser lets pass and RFC 9112 does not (sections 2.3, 3.2 and 6.1)."""
    coded = _CODING in headers and not (current and headers[_CODING].lower() == b"chunked")
    if coded or (current and _HOST not in headers) or not _AUTHORITY(headers.get(_HOST, b"")):
        raise Malformed


def _joined(known: bytes, value: bytes) -> bytes:
    """Return the values of a repeated header as one (RFC 9110 §5.3)."""
    if len(known) > _LONGEST_JOINED:
        raise Malformed
    return b"%b, %b" % (known, value)


@lru_cache(_PATHS_KNOWN)
def _path(target: bytes) -> str:
    if not target.startswith(b"/"):
        # Proxies are addressed with a whole URL, and every server must take one (RFC 9112 §3.2.2).
        target = httptools.parse_url(target).path or b"/"
    path = target.partition(b"?")[0].decode("ascii", "replace")
    return unquote(_SLASH.sub("%252F", path)) if "%" in path else path
