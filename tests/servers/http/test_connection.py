"""What a client may send on a connection, and what it gets for what it may not: raw sockets."""

import json
import re
import socket
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any, cast

import pytest
from backports import zstd

from gateway_core.http1.head import Head
from gateway_core.http1.requests import Malformed, RequestParser
from gateway_core.servers.http.body import BodySource, RequestBody
from gateway_core.testing import Gate, Reply, ScriptedUpstream
from gateway_core.testing.process import GatewayProcess

PATIENCE_S = 30
LIMIT = 100_000
BODY = b'{"model": "m", "state": "never-log-this", "questions": {"q": {"type": "noul"}}}'
ANSWER = Reply(body={"model": "m", "answers": {}, "usage": {}})


class Client:
    """One connection, and the replies that were read from it."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), PATIENCE_S)
        self.file = self.socket.makefile("rb")

    def send(self, *pieces: bytes) -> None:
        for piece in pieces:
            self.socket.sendall(piece)

    def head(self) -> tuple[int, dict[str, str]]:
        status = int(self.file.readline().split()[1])
        headers = {}
        while (line := self.file.readline()) not in (b"\r\n", b""):
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        return status, headers

    def reply(self) -> tuple[int, dict[str, str], Any]:
        status, headers = self.head()
        return status, headers, json.loads(self.file.read(int(headers["content-length"])))

    def refusal(self) -> tuple[int, str]:
        status, headers, content = self.reply()
        assert headers["content-type"] == "application/json"
        assert headers["x-request-id"]
        assert content["error"].keys() == {"message", "type", "param", "code"}
        return status, content["error"]["code"]

    @property
    def closed(self) -> bool:
        return self.file.read(1) == b""


@pytest.fixture(scope="module")
def upstream() -> Iterator[ScriptedUpstream]:
    with ScriptedUpstream() as found:
        found.answer(ANSWER)
        yield found


@pytest.fixture(scope="module")
def gateway(
    start_once: Callable[..., GatewayProcess], upstream: ScriptedUpstream
) -> GatewayProcess:
    config = f"""
    [http]
    max_body_bytes = {LIMIT}
    [providers.fake]
    api_format = "systemone"
    base_url = "{upstream.url}"
    models = ["m"]
    """
    return start_once(config, "--auth", "disabled")


@pytest.fixture
def client(gateway: GatewayProcess) -> Iterator[Client]:
    found = Client(gateway.port)
    with closing(found.socket), found.file:
        yield found


def request(*headers: str, line: str = "POST /v1/systemone HTTP/1.1", body: bytes = b"") -> bytes:
    return "\r\n".join((line, "host: localhost", *headers, "", "")).encode() + body


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def test_a_connection_serves_one_request_after_the_other(client: Client) -> None:
    for _ in range(3):
        client.send(request(f"content-length: {len(BODY)}", body=BODY))
        assert client.reply()[0] == 200


def test_pipelined_requests_are_answered_in_their_order(client: Client) -> None:
    client.send(
        request(f"content-length: {len(BODY)}", body=BODY)
        + request(line="GET /healthz HTTP/1.1")
        + request(line="GET /nothing HTTP/1.1")
        + request(f"content-length: {len(BODY)}", body=BODY)
    )
    assert [client.reply()[0] for _ in range(4)] == [200, 200, 404, 200]


def test_a_connection_goes_on_after_pipelined_requests_without_bodies(client: Client) -> None:
    for _ in range(2):
        client.send(request(line="GET /healthz HTTP/1.1") * 5)
        assert [client.reply()[0] for _ in range(5)] == [200] * 5


@pytest.mark.parametrize("number", [2, 31, 32, 33, 40, 1000, 5000])
def test_requests_sent_far_ahead_are_all_answered_in_their_order(
    client: Client, number: int
) -> None:
    paths = ["/healthz" if index % 3 else "/nothing" for index in range(number)]
    client.send(b"".join(request(line=f"GET {path} HTTP/1.1") for path in paths))
    told = [client.reply()[0] for _ in paths]
    assert told == [200 if path == "/healthz" else 404 for path in paths]


@pytest.mark.parametrize("number", [1, 2, 40])
@pytest.mark.parametrize("bad", [b"never-log-this\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"\0"])
def test_whole_requests_are_answered_before_what_is_none(
    client: Client, number: int, bad: bytes
) -> None:
    client.send(request(f"content-length: {len(BODY)}", body=BODY) * number + bad)
    assert [client.reply()[0] for _ in range(number + 1)] == [200] * number + [400]
    assert client.file.read() == b""


def test_a_fault_in_a_later_body_is_told_to_its_own_request_alone(client: Client) -> None:
    whole = request(f"content-length: {len(BODY)}", body=BODY)
    client.send(whole * 2 + request("transfer-encoding: chunked") + b"never-a-size\r\n")
    assert [client.reply()[0] for _ in range(3)] == [200, 200, 400]
    assert client.file.read() == b""


def test_requests_after_the_last_one_are_not_answered(client: Client) -> None:
    last = request("connection: close", line="GET /healthz HTTP/1.1")
    client.send(request(line="GET /healthz HTTP/1.1") * 3 + last * 2)
    replies = [client.reply() for _ in range(4)]
    assert [reply[0] for reply in replies] == [200] * 4
    assert client.file.read() == b""


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_chunked_body_comes_in_pieces_of_any_size(client: Client, size: int) -> None:
    client.send(request("transfer-encoding: chunked"))
    for at in range(0, len(BODY), size):
        client.send(chunk(BODY[at : at + size]))
    client.send(b"0\r\n\r\n")
    assert client.reply()[0] == 200


def test_a_head_comes_in_byte_by_byte(client: Client) -> None:
    whole = request(line="GET /healthz HTTP/1.1")
    client.send(*(whole[at : at + 1] for at in range(len(whole))))
    assert client.reply()[0] == 200


def test_a_client_that_asks_first_is_told_to_go_on(client: Client) -> None:
    client.send(request("expect: 100-continue", f"content-length: {len(BODY)}"))
    assert client.head() == (100, {})
    client.send(BODY)
    assert client.reply()[0] == 200


def test_a_client_that_asks_first_is_told_once(client: Client, gateway: GatewayProcess) -> None:
    client.send(request("expect: 100-continue", f"content-length: {len(BODY)}"))
    assert client.head() == (100, {})
    client.send(BODY[:10])
    # The server has one loop: once it has answered others, it has read the piece as well.
    other = Client(gateway.port)
    with closing(other.socket), other.file:
        for _ in range(5):
            other.send(request(line="GET /healthz HTTP/1.1"))
            assert other.reply()[0] == 200
    client.send(BODY[10:])
    assert client.reply()[0] == 200


def test_a_client_that_asks_first_is_refused_without_its_body(client: Client) -> None:
    client.send(request("expect: 100-continue", "content-length: 100001"))
    assert client.refusal() == (413, "request_too_large")
    assert client.closed


def test_a_body_that_says_it_is_too_large_is_refused_before_it_comes(client: Client) -> None:
    client.send(request("content-length: 100001"))
    assert client.refusal() == (413, "request_too_large")


def test_a_client_that_sends_too_much_reads_the_refusal_and_goes_on(client: Client) -> None:
    client.send(request("content-length: 3000000"), b"x" * 3_000_000)
    assert client.refusal() == (413, "request_too_large")
    client.send(request(line="GET /healthz HTTP/1.1"))
    assert client.reply()[0] == 200


def test_a_chunked_body_is_refused_at_the_limit(client: Client) -> None:
    client.send(request("transfer-encoding: chunked"), chunk(b"x" * 60_000), chunk(b"x" * 60_000))
    assert client.refusal() == (413, "request_too_large")


def bombs() -> dict[str, bytes]:
    plain = b" " * 50_000_000
    deflate = zlib.compressobj(wbits=-15)
    gzip = zlib.compressobj(wbits=31)
    return {
        "zstd": zstd.compress(plain),
        "gzip": gzip.compress(plain) + gzip.flush(),
        "deflate": deflate.compress(plain) + deflate.flush(),
    }


@pytest.mark.parametrize("encoding", ["zstd", "gzip", "deflate"])
def test_a_small_body_that_unfolds_beyond_the_limit_is_refused(
    client: Client, encoding: str
) -> None:
    bomb = bombs()[encoding]
    assert len(bomb) < LIMIT
    client.send(request(f"content-encoding: {encoding}", f"content-length: {len(bomb)}"), bomb)
    assert client.refusal() == (413, "request_too_large")


MALFORMED = {
    "no HTTP": b"never-log-this\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "two lengths": request("content-length: 1", "content-length: 2"),
    "length and chunks": request("content-length: 4", "transfer-encoding: chunked"),
    "bad length": request("content-length: -4"),
    "space before colon": request("content-length : 4"),
    "bare line feed in a header": b"GET /healthz HTTP/1.1\nhost: x\n\n",
    "bad chunk": request("transfer-encoding: chunked", body=b"zz\r\n"),
    "chunk size beyond any": request("transfer-encoding: chunked", body=b"f" * 17 + b"\r\n"),
    "bare line feeds between chunks": request("transfer-encoding: chunked", body=b"1\na\n0\n\n"),
    "a coding beside chunks": request("transfer-encoding: gzip, chunked", body=b"0\r\n\r\n"),
    "chunks in HTTP/1.0": request(
        "transfer-encoding: chunked", line="POST /v1/systemone HTTP/1.0", body=b"0\r\n\r\n"
    ),
    "a folded header": request("a: b\r\n c"),
    "no host": b"GET /healthz HTTP/1.1\r\n\r\n",
    "two hosts": request("host: another", line="GET /healthz HTTP/1.1"),
    "no version": b"GET /healthz\r\n\r\n",
    "a target that is none": request(line="GET healthz HTTP/1.1"),
    "CONNECT": request(line="CONNECT gateway:443 HTTP/1.1"),
    "CONNECT with an offer": request(
        "connection: upgrade", "upgrade: h2c", line="CONNECT gateway:443 HTTP/1.1"
    ),
    "a header repeated without end": request(*["a:"] * 5000, line="GET /healthz HTTP/1.1"),
    "null in a header": request("a: \0"),
}


@pytest.mark.parametrize("data", MALFORMED.values(), ids=MALFORMED.keys())
def test_what_is_not_http_is_refused_in_the_envelope(client: Client, data: bytes) -> None:
    client.send(data)
    assert client.refusal() == (400, "invalid_request")
    assert client.closed


def test_a_client_that_sends_a_head_over_the_bound_reads_the_refusal(client: Client) -> None:
    client.send(b"GET /healthz HTTP/1.1\r\na: ", b"x" * 3_000_000)
    assert client.refusal() == (431, "request_headers_too_large")
    assert client.closed


def test_connect_to_a_path_is_one_request_and_nothing_follows_it() -> None:
    begun: list[Head] = []

    def begin(head: Head) -> RequestBody:
        begun.append(head)
        return RequestBody(cast("BodySource", None))

    follows = request(line="GET /healthz HTTP/1.1")
    with pytest.raises(Malformed):
        RequestParser(begin).feed(request(line="CONNECT /healthz HTTP/1.1") + follows)
    assert [head.method for head in begun] == ["CONNECT"]


def test_a_client_of_http_1_0_is_not_told_to_go_on(client: Client) -> None:
    headers = ("expect: 100-continue", f"content-length: {len(BODY)}")
    client.send(request(*headers, line="POST /v1/systemone HTTP/1.0"), BODY[:5])
    client.send(BODY[5:])
    assert client.reply()[0] == 200
    assert client.closed


def test_nothing_is_answered_after_a_refused_head(client: Client) -> None:
    client.send(b"GET /healthz HTTP/1.1\r\na: ", b"x" * 70_000, b"\r\n\r\n")
    client.send(request(line="GET /healthz HTTP/1.1") * 3)
    assert client.refusal() == (431, "request_headers_too_large")
    assert client.closed


def test_a_request_is_answered_that_came_whole_with_one_that_is_refused(client: Client) -> None:
    client.send(request(line="GET /healthz HTTP/1.1") + request("host: another"))
    assert [client.reply()[0] for _ in range(2)] == [200, 400]
    assert client.closed


def test_a_malformed_request_does_not_take_the_reply_of_the_one_before(
    client: Client, upstream: ScriptedUpstream
) -> None:
    gate = Gate()
    upstream.queue(Reply(body={"answers": {}, "usage": {}}, gate=gate))
    client.send(request(f"content-length: {len(BODY)}", body=BODY) + b"never-log-this\r\n\r\n")
    gate.open()
    assert [client.reply()[0] for _ in range(2)] == [200, 400]
    assert client.closed


def test_a_client_that_wants_to_close_is_obeyed(client: Client) -> None:
    client.send(request("connection: close", line="GET /healthz HTTP/1.1"))
    status, headers, _ = client.reply()
    assert (status, headers["connection"]) == (200, "close")
    assert client.closed


def test_http_1_0_gets_one_reply(client: Client) -> None:
    client.send(b"GET /healthz HTTP/1.0\r\n\r\n")
    assert client.reply()[0] == 200
    assert client.closed


OFFER = ("connection: Upgrade, HTTP2-Settings", "upgrade: h2c", "http2-settings: AAMAAABk")


def test_an_offer_of_another_protocol_is_declined(client: Client) -> None:
    client.send(request(*OFFER, line="GET /healthz HTTP/1.1"))
    assert client.reply()[0] == 200


@pytest.mark.parametrize("size", [1, 50, 10_000])
def test_a_body_that_comes_with_an_offer_is_read_and_the_connection_kept(
    client: Client, size: int
) -> None:
    sized = request(*OFFER, f"content-length: {len(BODY)}", body=BODY)
    chunked = request(*OFFER, "transfer-encoding: chunked", body=chunk(BODY) + b"0\r\n\r\n")
    sent = sized + chunked + sized
    client.send(*(sent[at : at + size] for at in range(0, len(sent), size)))
    assert [client.reply()[0] for _ in range(3)] == [200] * 3


def test_trailers_change_no_header(client: Client) -> None:
    trailers = b"0\r\nx-s1gw-provider-key: never-log-this\r\nx-request-id: trailed\r\n\r\n"
    client.send(request("transfer-encoding: chunked"), chunk(BODY) + trailers)
    status, headers, _ = client.reply()
    assert (status, headers["x-request-id"] != "trailed") == (200, True)


@pytest.mark.parametrize(
    "endless",
    [b"1;" + b"a" * 100 + b"\r\n \r\n", b"0\r\n" + b"a: b\r\n" * 20],
    ids=["extensions", "trailers"],
)
def test_framing_without_end_is_cut_off(client: Client, endless: bytes) -> None:
    client.send(request("transfer-encoding: chunked"), chunk(BODY))
    first, rest = endless[:3], endless[3:]
    client.send(first + rest * 100_000 if first == b"0\r\n" else endless * 40_000)
    assert client.refusal() == (400, "invalid_request")


def test_a_repeated_header_is_taken_for_all_of_its_values(client: Client) -> None:
    client.send(
        request("content-encoding: identity", "content-encoding: gzip", "content-length: 0")
    )
    assert client.refusal() == (415, "unsupported_content_encoding")


def test_a_head_request_gets_no_body(client: Client) -> None:
    client.send(request(line="HEAD /healthz HTTP/1.1") + request(line="GET /healthz HTTP/1.1"))
    status, headers = client.head()
    assert (status, headers["content-length"]) == (200, "15")
    assert client.reply()[0] == 200


def test_a_whole_url_names_the_route_as_well(client: Client) -> None:
    client.send(request(line="GET http://gateway/%68ealthz?a=b HTTP/1.1"))
    assert client.reply()[0] == 200


@pytest.mark.parametrize("sent", ["abc-123", "a" * 128])
def test_a_sane_request_id_comes_back(client: Client, sent: str) -> None:
    client.send(request(f"x-request-id: {sent}", line="GET /healthz HTTP/1.1"))
    assert client.reply()[1]["x-request-id"] == sent


@pytest.mark.parametrize("sent", ["", "a" * 129, "a b", 'a"b', "é"])
def test_another_request_id_is_replaced(client: Client, sent: str) -> None:
    client.send(request(f"x-request-id: {sent}", line="GET /healthz HTTP/1.1"))
    assert re.fullmatch("[0-9a-f]{32}", client.reply()[1]["x-request-id"])


def test_every_reply_has_a_date(client: Client) -> None:
    client.send(request(line="GET /healthz HTTP/1.1"))
    assert client.reply()[1]["date"].endswith("GMT")
