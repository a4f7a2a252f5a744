"""What bounds a head is its size, and never the pieces in which the network hands it over."""

import pytest

from gateway_core.http1.bounds import MAX_HEAD_BYTES
from gateway_core.http1.head import Head
from gateway_core.http1.requests import HeadTooLarge, Malformed, RequestParser
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


def head(*lines: bytes) -> bytes:
    return b"\r\n".join((*lines, b"", b""))


@pytest.mark.parametrize("blank", [b" ", b"\t", b" \t "])
def test_white_space_around_a_value_is_no_part_of_it(blank: bytes) -> None:
    fields = {b"host": b"gateway", b"expect": b"100-continue", b"x-api-key": b"k", b"a": b"b c"}
    lines = [name + b":" + blank + value + blank for name, value in fields.items()]
    (found,) = parsed(head(b"GET / HTTP/1.1", *lines))
    assert found.headers == fields


def test_values_of_a_repeated_header_are_joined_without_their_white_space() -> None:
    (found,) = parsed(head(b"GET / HTTP/1.1", b"host: g", b"a: 1 ", b"a:  2\t"))
    assert found.headers[b"a"] == b"1, 2"


@pytest.mark.parametrize(
    "line", [b"GET / RTSP/1.0", b"OPTIONS * RTSP/1.0", b"SETUP /a RTSP/1.0", b"SOURCE / ICE/1.0"]
)
@pytest.mark.parametrize("size", [1, 5, 1_000])
def test_another_protocol_is_not_taken_for_http(line: bytes, size: int) -> None:
    with pytest.raises(Malformed):
        parsed(*cut(head(line, b"host: gateway"), size))


@pytest.mark.parametrize("size", [1, 5, 1_000])
def test_http_1_0_is_served_whatever_its_body_speaks_of(size: int) -> None:
    body = b"GET / RTSP/1.0\r\n\r\n"
    data = head(b"POST / HTTP/1.0", b"content-length: %d" % len(body)) + body
    assert [found.path for found in parsed(*cut(data, size))] == ["/"]


@pytest.mark.parametrize(
    "host",
    [
        b"",
        b"gateway",
        b"gateway.example.",
        b"under_score:8080",
        b"10.0.0.1:80",
        b"[::1]",
        b"[fe80::1%25eth0]:8080",
        b"xn--bcher-kva.example",
        b"%41.example:",
    ],
)
def test_a_host_with_or_without_a_port_is_taken(host: bytes) -> None:
    assert len(parsed(head(b"GET / HTTP/1.1", b"host: " + host))) == 1


@pytest.mark.parametrize(
    "host",
    [
        b"a b",
        b"a b/",
        b"a/b",
        b"user@a",
        b"a?b",
        b"a#b",
        b"a,b",
        b"a:b",
        b"[::1",
        b"::1",
        b"a\\b",
        "b\u00fccher".encode(),
        b"<a>",
        b"a:80:80",
    ],
)
def test_what_is_no_host_is_refused(host: bytes) -> None:
    with pytest.raises(Malformed):
        parsed(head(b"GET / HTTP/1.1", b"host: " + host))


def test_an_empty_line_before_a_request_is_passed_over() -> None:
    asked = head(b"GET / HTTP/1.1", b"host: g")
    assert len(parsed(*[b"\r\n", asked] * 20)) == 20
    assert len(parsed(*[b"\r\n" + asked] * 20)) == 20


@pytest.mark.parametrize("piece", [b"\r\n", b"\r", b"\r\n" * 100])
def test_a_client_that_sends_nothing_but_empty_lines_is_refused(piece: bytes) -> None:
    with pytest.raises(Malformed):
        parsed(*[piece] * 20)


@pytest.mark.parametrize(
    ("target", "path"),
    [
        (b"/v1/decide", "/v1/decide"),
        (b"/v1/%64ecide?a=/b", "/v1/decide"),
        (b"/v1%2Fdecide", "/v1%2Fdecide"),
        (b"/v1%2fdecide", "/v1%2Fdecide"),
        (b"/v1%252Fdecide", "/v1%2Fdecide"),
        (b"http://gateway/v1%2Fdecide", "/v1%2Fdecide"),
    ],
)
def test_an_encoded_slash_separates_nothing(target: bytes, path: str) -> None:
    (found,) = parsed(head(b"GET " + target + b" HTTP/1.1", b"host: g"))
    assert found.path == path
