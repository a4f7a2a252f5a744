"""Content codings are undone whatever pieces they come in."""

import gzip
import zlib

import pytest
from backports import zstd

from gateway_core.http1.codings import CodingFault, Decoder, Undecodable, decoder_for

PLAIN = b'{"model": "m", "state": "' + bytes(range(32, 127)) * 20 + b'"}'


def bare(content: bytes) -> bytes:
    """Return deflate as some send it: without the zlib format around it."""
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(content) + packer.flush()


CODED = {
    "gzip": ("gzip", gzip.compress(PLAIN, mtime=0)),
    "deflate": ("deflate", zlib.compress(PLAIN)),
    "bare deflate": ("deflate", bare(PLAIN)),
    "deflate with a small window": ("deflate", zlib.compress(PLAIN, wbits=9)),
    "zstd": ("zstd", zstd.compress(PLAIN)),
}


def decoder(coding: str) -> Decoder:
    found = decoder_for(coding)
    assert found is not None
    return found


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
@pytest.mark.parametrize("name", CODED)
def test_a_coding_is_undone_in_pieces_of_any_size(name: str, size: int) -> None:
    coding, coded = CODED[name]
    undo = decoder(coding)
    pieces = [coded[at : at + size] for at in range(0, len(coded), size)]
    assert b"".join(undo.feed(piece, len(PLAIN)) for piece in pieces) == PLAIN
    undo.finish()


@pytest.mark.parametrize("name", CODED)
def test_one_byte_more_than_there_is_room_for_is_refused(name: str) -> None:
    coding, coded = CODED[name]
    assert decoder(coding).feed(coded, len(PLAIN)) == PLAIN
    with pytest.raises(Undecodable) as caught:
        decoder(coding).feed(coded, len(PLAIN) - 1)
    assert caught.value.fault is CodingFault.TOO_LARGE


@pytest.mark.parametrize("name", CODED)
def test_what_is_cut_short_is_refused_at_its_end(name: str) -> None:
    coding, coded = CODED[name]
    undo = decoder(coding)
    undo.feed(coded[:-1], len(PLAIN))
    with pytest.raises(Undecodable):
        undo.finish()
