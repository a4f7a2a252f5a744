"""Bodies come in bounded, and their content encodings are undone within the bound."""

import gzip
import tracemalloc
import zlib
from collections.abc import Callable, Iterable, Sequence
from itertools import islice

import pytest
from backports import zstd

from gateway_core.door.access import AccessEntry
from gateway_core.door.bodies import BodyLimit, IncomingBody
from gateway_core.errors import RelayRefused
from gateway_core.relay.large.checking import Checkers
from gateway_core.relay.large.intake import Intake

LIMIT = 100_000
PLAIN = b'{"model": "m"}' * 500


def raw_deflate(content: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(content) + packer.flush()


CODINGS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "identity": ("identity", bytes),
    "none": ("", bytes),
    "gzip": ("gzip", gzip.compress),
    "x-gzip": ("x-gzip", gzip.compress),
    "case": (" GZip ", gzip.compress),
    "deflate": ("deflate", zlib.compress),
    "bare deflate": ("deflate", raw_deflate),
    "zstd": ("zstd", zstd.compress),
    "two gzip members": ("gzip", lambda c: gzip.compress(c[:10]) + gzip.compress(c[10:])),
    "two zstd frames": ("zstd", lambda c: zstd.compress(c[:10]) + zstd.compress(c[10:])),
}
ENCODED = {name: coding for name, coding in CODINGS.items() if coding[1] is not bytes}


async def read_whole(
    headers: dict[bytes, bytes], body: IncomingBody, limit: int, record: AccessEntry
) -> bytes:
    intake = Intake(2 * limit, Checkers(1))
    try:
        async with intake.whole("acme", headers, body, BodyLimit(limit), record) as content:
            return content
    finally:
        await intake.aclose()
        assert intake.held == 0


class Body:
    """A body that comes in one piece at a time, or is there at once."""

    def __init__(self, pieces: Iterable[bytes], whole: bytes | None = None) -> None:
        self._pieces = iter(pieces)
        self._whole = whole

    def take(self) -> bytes | None:
        return self._whole

    async def more(self) -> Sequence[bytes]:
        return list(islice(self._pieces, 1))


async def read(
    encoding: str, parts: Sequence[bytes], limit: int = LIMIT, length: str | None = None
) -> tuple[bytes, AccessEntry]:
    access = AccessEntry()
    headers = {b"content-encoding": encoding.encode()}
    if length is not None:
        headers[b"content-length"] = length.encode()
    return await read_whole(headers, Body(parts), limit, access), access


async def refused(encoding: str, parts: Sequence[bytes], length: str | None = None) -> RelayRefused:
    with pytest.raises(RelayRefused) as caught:
        await read(encoding, parts, length=length)
    return caught.value


@pytest.mark.anyio
@pytest.mark.parametrize("size", [1, 7, 4096, 10**6])
@pytest.mark.parametrize(("encoding", "encode"), CODINGS.values(), ids=CODINGS.keys())
async def test_every_encoding_is_undone_however_the_body_is_cut(
    encoding: str, encode: Callable[[bytes], bytes], size: int
) -> None:
    sent = encode(PLAIN)
    parts = [sent[at : at + size] for at in range(0, len(sent), size)]
    found, access = await read(encoding, parts)
    assert found == PLAIN
    assert access.bytes_in == len(sent)


@pytest.mark.anyio
@pytest.mark.parametrize(("encoding", "encode"), ENCODED.values(), ids=ENCODED.keys())
async def test_the_limit_holds_for_what_comes_out(
    encoding: str, encode: Callable[[bytes], bytes]
) -> None:
    assert len((await read(encoding, [encode(b"x" * LIMIT)]))[0]) == LIMIT
    error = await refused(encoding, [encode(b"x" * (LIMIT + 1))])
    assert error.reason == "request_too_large"


@pytest.mark.anyio
async def test_a_bomb_is_refused_without_being_held() -> None:
    bomb = zstd.compress(bytes(500_000_000))
    tracemalloc.start()
    try:
        assert (await refused("zstd", [bomb])).reason == "request_too_large"
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.anyio
async def test_a_zstd_window_beyond_8_mib_is_refused() -> None:
    options = {zstd.CompressionParameter.window_log: 27}
    packer = zstd.ZstdCompressor(options=options)
    packed = packer.compress(PLAIN) + packer.flush()
    assert (await refused("zstd", [packed])).reason == "invalid_request"


@pytest.mark.anyio
async def test_the_limit_holds_for_what_comes_in() -> None:
    assert len((await read("", [b"x" * 60_000, b"x" * 40_000]))[0]) == LIMIT
    assert (await refused("", [b"x" * 60_000, b"x" * 40_001])).reason == "request_too_large"


@pytest.mark.anyio
async def test_a_declared_length_over_the_limit_is_refused_unread() -> None:
    unread = iter([bytes(LIMIT)])
    with pytest.raises(RelayRefused) as caught:
        await read_whole({b"content-length": b"100001"}, Body(unread), LIMIT, AccessEntry())
    assert caught.value.reason == "request_too_large"
    assert len(list(unread)) == 1


@pytest.mark.anyio
@pytest.mark.parametrize("encoding", ["br", "compress", "gzip, zstd", "nonsense"])
async def test_an_unknown_encoding_is_refused_with_those_that_are_known(encoding: str) -> None:
    error = await refused(encoding, [PLAIN])
    assert error.reason == "unsupported_content_encoding"
    assert error.headers["accept-encoding"] == "gzip, deflate, zstd"


BROKEN = {
    "not gzip": ("gzip", PLAIN),
    "not deflate": ("deflate", b"\xff" * 40),
    "not zstd": ("zstd", PLAIN),
    "gzip cut short": ("gzip", gzip.compress(PLAIN)[:-9]),
    "zstd cut short": ("zstd", zstd.compress(PLAIN)[:-3]),
    "text after gzip": ("gzip", gzip.compress(PLAIN) + b"more"),
    "thousands of members": ("gzip", gzip.compress(b"") * 1000),
}


@pytest.mark.anyio
@pytest.mark.parametrize(("encoding", "content"), BROKEN.values(), ids=BROKEN.keys())
async def test_a_body_that_is_not_what_its_encoding_says_is_refused(
    encoding: str, content: bytes
) -> None:
    error = await refused(encoding, [content])
    assert (error.reason, error.field) == ("invalid_request", "content-encoding")


@pytest.mark.anyio
@pytest.mark.parametrize("size", [1, 5, 100, 20_000, 1_000_000])
async def test_reading_takes_little_more_memory_than_the_body_in_pieces_of_any_size(
    size: int,
) -> None:
    length = min(2_000_000, 100_000 * size)

    pieces = (bytes(bytearray(size)) for _ in range(length // size))
    tracemalloc.start()
    try:
        content = await read_whole({}, Body(pieces), length, AccessEntry())
        assert tracemalloc.get_traced_memory()[1] < 2.5 * length
    finally:
        tracemalloc.stop()
    assert content == bytes(length)


@pytest.mark.anyio
async def test_a_body_in_one_piece_is_not_copied() -> None:
    whole = bytes(100_000)
    assert (await read("", [whole]))[0] is whole


@pytest.mark.anyio
async def test_an_encoded_body_that_is_there_at_once_is_decoded() -> None:
    packed = gzip.compress(PLAIN)
    found = await read_whole(
        {b"content-encoding": b"gzip"}, Body([packed], packed), LIMIT, AccessEntry()
    )
    assert found == PLAIN
