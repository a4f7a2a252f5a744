"""What bounds a head is its size, and never the pieces in which the network hands it over."""

import pytest

from gateway_core.http1.bounds import MAX_HEAD_BYTES
from gateway_core.http1.head import Head
from gateway_core.http1.requests import HeadTooLarge, RequestParser
from gateway_core.servers.http.body import RequestBody

PIECES = [1_000, MAX_HEAD_BYTES - 1_000, 4 * MAX_HEAD_BYTES]


class Unbounded:
    """A client that is never made to wait."""

    def hold(self) -> None: ...

    def proceed(self) -> None: ...


def parsed(*pieces: bytes) -> list[Head]:
    heads = []

    def begin(head: Head) -> RequestBody:
        heads.append(head)
        return RequestBody(Unbounded())

    parser = RequestParser(begin)
    for piece in pieces:
        parser.feed(piece)
    return heads


def cut(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


def request(padding: int, body: int = 0, extra: bytes = b"") -> bytes:
    lines = (
        b"POST /v1/systemone HTTP/1.1",
        b"host: gateway",
        b"content-length: %d" % body,
        b"a: " + b"x" * padding,
        extra,
        b"\r\n",
    )
    return b"\r\n".join(line for line in lines if line) + b"x" * body


UPGRADE = b"connection: upgrade\r\nupgrade: h2c"


@pytest.mark.parametrize("extra", [b"", UPGRADE], ids=["plain", "with an offer"])
@pytest.mark.parametrize("before", [b"", request(0, 100_000)], ids=["first", "second"])
@pytest.mark.parametrize("size", PIECES)
def test_a_head_over_the_bound_is_refused(size: int, before: bytes, extra: bytes) -> None:
    with pytest.raises(HeadTooLarge):
        parsed(*cut(before + request(MAX_HEAD_BYTES, extra=extra), size))


@pytest.mark.parametrize("extra", [b"", UPGRADE], ids=["plain", "with an offer"])
@pytest.mark.parametrize("size", PIECES)
def test_a_head_within_the_bound_is_taken(size: int, extra: bytes) -> None:
    assert len(parsed(*cut(request(MAX_HEAD_BYTES - 500, 300_000, extra), size))) == 1


@pytest.mark.parametrize("begun", [1, 100, 5_000])
def test_a_body_is_not_counted_with_the_head_behind_it(begun: int) -> None:
    first, second = request(0, 100_000), request(10_000)
    assert len(parsed(first + second[:begun], second[begun:])) == 2


@pytest.mark.parametrize("before", [[], [request(0, 100_000)]], ids=["first", "second"])
def test_a_head_over_the_bound_is_refused_before_it_ends(before: list[bytes]) -> None:
    with pytest.raises(HeadTooLarge):
        parsed(*before, request(MAX_HEAD_BYTES)[:-2])
