"""The states of a client's connection: one table of what follows what, and of how long it may last.

A connection takes requests in and answers them one after the other, in the order in which they
came. Reading and answering overlap: a request is taken up when its head is whole, and its body may
still be on its way when the reply is given. The states are those of the server's side:

* While a request is answered, the connection is in ``BODY`` or ``ANSWERING``. Requests that come
  meanwhile wait in a queue, which is no state: it is looked at when a reply has been given.
* ``CLOSING`` and ``SHUT`` are two ends. In ``CLOSING`` everything that the client sent was read, so
  that a close loses nothing. In ``SHUT`` the client may still be sending: a close would be a reset,
  which can take the last reply from it (RFC 9112 §9.6). So only the server's direction is shut, and
  what still comes is read and dropped.
* That the next reply says ``connection: close`` is no state either: requests that came whole before
  are answered all the same, and only the last of these replies says so.

Each state has one time limit, which begins when the state is entered.
"""

from collections.abc import Mapping
from enum import IntEnum
from typing import Final

import attrs


class State(IntEnum):
    """What a connection is doing; plain numbers, since every request looks two of them up."""

    OPENED = 0
    IDLE = 1
    HEAD = 2
    BODY = 3
    ANSWERING = 4
    BLOCKED = 5
    LINGERING = 6
    CLOSING = 7
    SHUT = 8


@attrs.frozen(kw_only=True)
class ClientTimeouts:
    """How long a client may take with what, in seconds.

    Attributes:
        keep_alive_s: to begin with its next request.
        head_s: to send a request's head.
        body_s: to send its body.
        linger_s: to send the rest of what has its reply already.
        send_s: to take anything of a reply.
    """

    keep_alive_s: float = 75.0
    head_s: float = 20.0
    body_s: float = 120.0
    linger_s: float = 5.0
    send_s: float = 60.0


@attrs.frozen(kw_only=True)
class Row:
    """One state's line in the table.

    Attributes:
        meaning: what the connection does.
        timeout: the attribute of ``ClientTimeouts`` that limits it; None for no limit.
        expires: what happens when that time is over.
        follows: the states that may come next, each with what leads to it.
    """

    meaning: str
    timeout: str | None
    expires: str
    follows: Mapping[State, str]


_REQUEST: Final = {
    State.BODY: "a head is whole, its body is on its way",
    State.ANSWERING: "a request is whole",
}
_END: Final = {
    State.CLOSING: "nothing more is to be answered",
    State.SHUT: "nothing more is to be answered, and the client may be sending",
}
_REPLY_GIVEN: Final = {
    **_REQUEST,
    State.BLOCKED: "the reply is given, the client does not take it",
    State.IDLE: "the reply is given, nothing else came",
    State.HEAD: "the reply is given, part of the next head came",
    **_END,
}
_REST: Final = {State.LINGERING: "the reply is given before the body is whole"}

TABLE: Final[Mapping[State, Row]] = {
    State.OPENED: Row(
        meaning="nothing has come yet",
        timeout="head_s",
        expires="the connection is closed",
        follows={State.HEAD: "part of a head came", **_REQUEST, **_END},
    ),
    State.IDLE: Row(
        meaning="everything that came is answered",
        timeout="keep_alive_s",
        expires="the connection is closed",
        follows={State.HEAD: "part of a head came", **_REQUEST, **_END},
    ),
    State.HEAD: Row(
        meaning="part of a request's head is there",
        timeout="head_s",
        expires="408, then the end",
        follows={**_REQUEST, **_END},
    ),
    State.BODY: Row(
        meaning="a request is being answered whose body is on its way",
        timeout="body_s",
        expires="reading the body fails, and the reply is a 408",
        follows={**_REPLY_GIVEN, State.ANSWERING: "the body is whole", **_REST},
    ),
    State.ANSWERING: Row(
        meaning="a whole request is being answered",
        timeout=None,
        expires="",
        follows=_REPLY_GIVEN,
    ),
    State.BLOCKED: Row(
        meaning="the client does not take its replies",
        timeout="send_s",
        expires="dropped, unless the client took some of it in that time",
        follows={**_REPLY_GIVEN, **_REST},
    ),
    State.LINGERING: Row(
        meaning="the rest of an answered request's body is read and dropped",
        timeout="linger_s",
        expires="the connection is closed",
        follows=_REPLY_GIVEN,
    ),
    State.CLOSING: Row(
        meaning="all is answered, and the client takes what is left of the last reply",
        timeout="send_s",
        expires="dropped, unless the client took some of it in that time",
        follows={},
    ),
    State.SHUT: Row(
        meaning="the server's direction is shut, and what still comes is read and dropped",
        timeout="linger_s",
        expires="the connection is closed",
        follows={State.CLOSING: "the time is over"},
    ),
}


Moves = Mapping[State, Mapping[State, float | None]]
"""For each state those that may follow, each with how long it may last, in seconds, or for ever."""


def moves(timeouts: ClientTimeouts) -> Moves:
    """Return the table as a running connection uses it; None stands for any time."""
    return {
        state: {following: seconds(following, timeouts) for following in row.follows}
        for state, row in TABLE.items()
    }


def seconds(state: State, timeouts: ClientTimeouts) -> float | None:
    """Return how long ``state`` may last, in seconds; None for any time."""
    name = TABLE[state].timeout
    return None if name is None else float(getattr(timeouts, name))
