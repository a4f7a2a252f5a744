"""One request as the handlers see it: its head, its body as it comes, its line in the log."""

import re
from collections.abc import Mapping
from random import getrandbits
from time import perf_counter
from typing import Any, Final

import msgspec

from gateway_core import logs
from gateway_core.door.access import AccessEntry
from gateway_core.door.request_ids import own_id, own_ids
from gateway_core.http1.head import EXPECT, Head
from gateway_core.http1.messages import HttpReply
from gateway_core.servers.http.body import RequestBody
from gateway_core.servers.http.reply import json_reply, refusal_reply

REQUEST_ID: Final = b"x-request-id"
_SANE_ID: Final = re.compile(rb"[A-Za-z0-9._:/+=@-]{1,128}")
_NONE: Final[Mapping[str, str]] = {}


class Exchange(msgspec.Struct, eq=False):
    """One request.

    Attributes:
        head: its line and headers.
        client: the address that it comes from.
        body: what there is to read.
        access: its line in the access log.
        started: when its head was whole, on ``perf_counter``'s clock.
        begun: whether anything has been done for it.
        abandoned: whether the client left before it had its reply.
        expects_continue: whether the client waits to be told before it sends its body
            (RFC 9110 §10.1.1).
    """

    head: Head
    client: str
    body: RequestBody
    access: AccessEntry
    started: float
    begun: bool = False
    abandoned: bool = False
    expects_continue: bool = False

    def json(self, status: int, content: Any) -> HttpReply:
        """Answer with ``content`` as JSON."""
        return self.with_request_id(json_reply(status, content))

    def refuse(
        self, status: int, code: str, message: str, headers: Mapping[str, str] = _NONE
    ) -> HttpReply:
        """Refuse in the envelope, and note the code."""
        self.access.code = code
        reply = refusal_reply(status, code, message, headers)
        reply.headers += own_ids(self.access.request_id)
        return reply

    def rename(self, request_id: str) -> None:
        """Let the request have the id that its body names, in its head and in its line too."""
        self.access.request_id = logs.visible(request_id)

    def with_request_id(self, reply: HttpReply) -> HttpReply:
        """Put the request's id on a reply that is not the relay's."""
        reply.headers.append((REQUEST_ID, own_id(self.access.request_id)))
        return reply


def open_exchange(head: Head, client: str, body: RequestBody) -> Exchange:
    """Begin with a request whose head is there."""
    asked_for = head.headers.get(REQUEST_ID)
    request_id = new_request_id() if asked_for is None else _sane(asked_for)
    access = AccessEntry(request_id=request_id, method=head.method)
    exchange = Exchange(head, client, body, access, perf_counter())
    if EXPECT in head.headers:
        exchange.expects_continue = head.headers[EXPECT].lower() == b"100-continue"
    return exchange


def new_request_id() -> str:
    """Return an id for a request that has none, or none that is sane."""
    # An id is no secret, and the system's source of randomness costs a call into the kernel.
    return f"{getrandbits(128):032x}"


def _sane(sent: bytes) -> str:
    return sent.decode("ascii") if _SANE_ID.fullmatch(sent) else new_request_id()
