"""A reply means the same however the network cuts it up."""

import gc
import tracemalloc
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from gateway_core.errors import MalformedResponse
from gateway_core.http1.replies import ReplyReader
from gateway_core.types import DecisionReply

REPLIES = [
    b"HTTP/1.1 200 OK\r\nContent-Length: 11\r\nX-A: 1\r\nx-a: 2\r\nX-Empty:\r\n\r\nhello world",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n1;e\r\n!\r\n0\r\nT: \r\n\r\n",
    b"HTTP/1.1 100 Go\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\nHTTP/1.1 429 No\r\nA: b\r\n\r\n",
    b"HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n\r\nuntil the end",
]
BROKEN = [
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloX\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
]


def read(pieces: list[bytes]) -> tuple[DecisionReply, bool]:
    reader = ReplyReader()
    reader.begin(head_only=False)
    for piece in pieces:
        reader.feed(piece)
    assert reader.end()
    return reader.take(), reader.reusable


def cut(reply: bytes, places: list[int]) -> list[bytes]:
    marks = [0, *sorted(place % (len(reply) + 1) for place in places), len(reply)]
    return [reply[a:b] for a, b in pairwise(marks) if a < b]


@given(st.sampled_from(REPLIES), st.lists(st.integers(0, 1000)))
def test_a_reply_cut_anywhere_reads_the_same(reply: bytes, places: list[int]) -> None:
    whole, reusable = read([reply])
    pieces, also_reusable = read(cut(reply, places))
    assert (whole.status, whole.headers, whole.body) == (
        pieces.status,
        pieces.headers,
        pieces.body,
    )
    assert reusable is also_reusable


def test_every_single_cut_reads_the_same() -> None:
    for reply in REPLIES:
        whole, _ = read([reply])
        for place in range(1, len(reply)):
            pieces, _ = read([reply[:place], reply[place:]])
            assert (whole.status, whole.headers, whole.body) == (
                pieces.status,
                pieces.headers,
                pieces.body,
            )


@given(st.sampled_from(BROKEN), st.lists(st.integers(0, 1000)))
def test_a_broken_reply_is_refused_however_it_is_cut(reply: bytes, places: list[int]) -> None:
    reader = ReplyReader()
    try:
        for piece in cut(reply, places):
            reader.feed(piece)
    except MalformedResponse:
        return
    raise AssertionError("it was taken")


@given(st.binary(max_size=400), st.booleans())
def test_any_bytes_are_read_or_refused(noise: bytes, after_a_head: bool) -> None:
    reader = ReplyReader()
    try:
        if after_a_head:
            reader.feed(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        reader.feed(noise)
    except MalformedResponse:
        return
    reader.end()
    reader.take()


def test_one_reader_serves_one_reply_after_the_other() -> None:
    reader = ReplyReader()
    for number in range(5):
        reader.begin(head_only=False)
        assert reader.feed(
            b"HTTP/1.1 200 OK\r\nX-N: %d\r\nContent-Length: 1\r\n\r\n%d" % (number, number)
        )
        assert reader.reusable
        reply = reader.take()
        assert (reply.headers["x-n"], reply.body) == (str(number), b"%d" % number)


def test_long_names_of_headers_are_not_remembered() -> None:
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for number in range(100):
            name = b"%d" % number + b"n" * 60_000
            reply, _ = read([b"HTTP/1.1 200 OK\r\n%b: 1\r\nContent-Length: 0\r\n\r\n" % name])
            assert reply.headers[name.decode()] == "1"
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 1_000_000
