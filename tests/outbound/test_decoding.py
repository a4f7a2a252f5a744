"""Content encodings undone, and the ways in which they lie."""

import gzip
import sys
import zlib

import pytest

from gateway_core.errors import MalformedResponse, Overloaded

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

pytestmark = pytest.mark.anyio
TEXT = b'{"answers": {}}' * 50
CAP = 10 * 1024 * 1024


def bare_deflate(data: bytes) -> bytes:
    stream = zlib.compressobj(wbits=-15)
    return stream.compress(data) + stream.flush()


def reply(coding: str, body: bytes, status: int = 200) -> bytes:
    head = f"HTTP/1.1 {status} X\r\ncontent-encoding: {coding}\r\ncontent-length: {len(body)}\r\n"
    return head.encode() + b"content-type: application/json\r\n\r\n" + body


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("identity", TEXT),
        ("gzip", gzip.compress(TEXT)),
        ("GZip", gzip.compress(TEXT)),
        ("x-gzip", gzip.compress(TEXT[:100]) + gzip.compress(TEXT[100:])),
        ("deflate", zlib.compress(TEXT)),
        ("deflate", bare_deflate(TEXT)),
        ("zstd", zstd.compress(TEXT)),
        ("zstd", zstd.compress(TEXT[:100]) + zstd.compress(TEXT[100:])),
        ("gzip, zstd", zstd.compress(gzip.compress(TEXT))),
    ],
)
async def test_an_encoded_reply_comes_back_plain(serve, sender, coding, body) -> None:
    async with serve(reply(coding, body)) as server:
        answer = await sender.send("POST", server.url(), headers={}, body=b"{}")
    assert answer.body == TEXT
    assert answer.headers["content-type"] == "application/json"
    # What told the coding is gone, so that nobody undoes it a second time.
    assert coding == "identity" or "content-length" not in answer.headers
    assert "content-encoding" not in answer.headers


async def test_an_empty_encoded_reply_is_empty(serve, sender) -> None:
    async with serve(reply("gzip", b"")) as server:
        answer = await sender.send("POST", server.url(), headers={}, body=b"{}")
    assert answer.body == b""


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("br", TEXT),
        ("gzip", TEXT),
        ("gzip", gzip.compress(TEXT)[:-4]),
        ("gzip", gzip.compress(TEXT) + b"garbage"),
        ("gzip", gzip.compress(b"") * 1000),
        ("deflate", b"\xff" * 20),
        ("zstd", TEXT),
        ("zstd", zstd.compress(TEXT)[:-4]),
        ("zstd", zstd.compress(b"") * 1000),
        ("gzip", gzip.compress(bytes(CAP + 1))),
        ("deflate", zlib.compress(bytes(CAP * 20))),
        ("zstd", zstd.compress(bytes(CAP * 20))),
        ("gzip, gzip", gzip.compress(gzip.compress(bytes(CAP * 20)))),
        ("gzip, gzip, gzip, gzip", TEXT),
    ],
    ids=range(14),
)
async def test_a_lying_encoding_is_refused(serve, sender, coding, body) -> None:
    async with serve(reply(coding, body)) as server:
        with pytest.raises(MalformedResponse):
            await sender.send("POST", server.url(), headers={}, body=b"{}")


async def test_a_window_beyond_8_mib_is_refused(serve, sender) -> None:
    options = {zstd.CompressionParameter.window_log: 27}
    stream = zstd.ZstdCompressor(options=options)
    body = stream.compress(bytes(20_000_000)) + stream.flush()
    async with serve(reply("zstd", body)) as server:
        with pytest.raises(MalformedResponse, match="not in its content encoding"):
            await sender.send("POST", server.url(), headers={}, body=b"{}")


async def test_the_largest_decoded_reply_comes_through(serve, sender) -> None:
    async with serve(reply("gzip", gzip.compress(bytes(CAP)))) as server:
        answer = await sender.send("POST", server.url(), headers={}, body=b"{}")
    assert len(answer.body) == CAP


async def test_a_refusal_is_known_by_its_status_though_its_text_is_not_decodable(
    serve, sender
) -> None:
    async with serve(reply("gzip", b"nonsense", status=503)) as server:
        with pytest.raises(Overloaded) as caught:
            await sender.send("POST", server.url(), headers={}, body=b"{}")
    assert caught.value.upstream_message is None
