"""An upstream's message with everything taken out of it that is not the caller's to see."""

import asyncio
import re
from collections.abc import Iterable, Sequence
from typing import Final

import attrs

from gateway_core.outbound.redaction.encoded import decoded_runs
from gateway_core.outbound.redaction.folding import Folded, fold
from gateway_core.outbound.redaction.internal import internal_places
from gateway_core.outbound.redaction.search import Place, Search, pieces_of
from gateway_core.outbound.redaction.spellings import spellings_of
from gateway_core.outbound.redaction.vocabulary import (
    SHORT_FIELDS,
    is_key_in,
    places_of,
    possible_fields,
    schema_words,
)
from gateway_core.secret import Secret

MAX_LENGTH: Final = 500
GENERAL: Final = "the upstream gave no message that can be shown"
MASK: Final = "[…]"
_LONGEST_READ: Final = 2000
_SECRET_RUN: Final = 8
_SHORTEST_SECRET: Final = 4
_READABLE: Final = re.compile(r"[^\W\d_]{2}")


@attrs.frozen(kw_only=True)
class Sent:
    """What went upstream, as far as its answer may repeat it.

    Attributes:
        body: the JSON of the request.
        model: the model that it names.
        secrets: the credentials that went along, and others that the provider holds.
        hosts: names that callers do not see, such as the host of the provider's URL.
    """

    body: bytes = attrs.field(repr=False)
    model: str = ""
    secrets: Sequence[Secret] = ()
    hosts: frozenset[str] = frozenset()


async def redact(message: str | None, sent: Sent) -> str:
    """Return what a caller may see of ``message``: printable, at most 500 characters.

    Names of questions, fields, options and the model stay. A run of 12 characters or a number
    of 6 digits that the request holds, in any spelling, a secret, and an internal URL or
    address each become ``[…]``. It takes time in proportion to the body, and lets others run
    after every half MiB.

    Returns:
        The message; a general sentence if nothing readable is left.
    """
    text = printable((message or "")[:_LONGEST_READ])
    if not _READABLE.search(text):
        return GENERAL
    spellings = spellings_of(text)
    hard = [
        *_secret_places(text, spellings, sent.secrets),
        *_internal_places(text, spellings, sent.hosts),
    ]
    search = Search(spellings)
    fields = possible_fields(text)
    names = schema_words(sent.body, sent.model) - SHORT_FIELDS
    for number, piece in enumerate(pieces_of(sent.body)):
        if number:
            await asyncio.sleep(0)
        search.look_in(piece)
        if search.found:
            names.update(name for name in fields.keys() - names if is_key_in(name, piece))
    return _shown(text, hard, search.found, places_of(names, text))


def printable(text: str) -> str:
    """Return ``text`` on one line, without control, bidirectional and other unseen characters."""
    spaced = " ".join(text.split())
    return spaced if spaced.isprintable() else "".join(filter(str.isprintable, spaced))


def _internal_places(
    text: str, spellings: Sequence[Folded], hosts: frozenset[str]
) -> Iterable[Place]:
    yield from internal_places(text, hosts)
    for spelling in spellings:
        places = spelling.places
        for start, end in internal_places(spelling.text, hosts):
            yield places[start][0], places[end - 1][1]


def _secret_places(
    text: str, spellings: Sequence[Folded], secrets: Iterable[Secret]
) -> Iterable[Place]:
    encoded = [
        (place, fold(plain).decode("utf-8", "replace")) for place, plain in decoded_runs(text)
    ]
    for secret in secrets:
        whole = fold(secret.reveal()).decode("utf-8", "replace")
        if len(whole) < _SHORTEST_SECRET:
            continue
        length = min(len(whole), _SECRET_RUN)
        runs = {whole[start : start + length] for start in range(len(whole) - length + 1)}
        yield from (place for place, plain in encoded if any(run in plain for run in runs))
        for spelling in spellings:
            folded, places = spelling.text, spelling.places
            for start in range(len(folded) - length + 1):
                if folded[start : start + length] in runs:
                    yield places[start][0], places[start + length - 1][1]


def _shown(text: str, hard: Iterable[Place], soft: Iterable[Place], kept: Iterable[Place]) -> str:
    always, masked = _marked(text, hard), _marked(text, soft)
    for start, end in kept:
        masked[start:end] = bytes(end - start)
    _release_punctuation(text, masked)
    pieces = _pieces(text, [bool(a or b) for a, b in zip(always, masked, strict=True)])
    if not _READABLE.search("".join(piece for piece, hidden in pieces if not hidden)):
        return GENERAL
    return "".join(MASK if hidden else piece for piece, hidden in pieces)[:MAX_LENGTH]


def _marked(text: str, places: Iterable[Place]) -> bytearray:
    marks = bytearray(len(text))
    for start, end in places:
        marks[start:end] = b"\1" * (end - start)
    return marks


def _release_punctuation(text: str, masked: bytearray) -> None:
    """Show the quotes, colons and spaces at the ends of what is masked."""
    for run in re.finditer(b"\1+", bytes(masked)):
        start, end = run.span()
        while start < end and _is_edge(text[start]):
            masked[start] = 0
            start += 1
        while start < end and _is_edge(text[end - 1]):
            end -= 1
            masked[end] = 0


def _is_edge(character: str) -> bool:
    """Whether a run may be shown to begin or end with ``character``; escapes are none."""
    return not character.isalnum() and character not in "\\%&"


def _pieces(text: str, hidden: Sequence[bool]) -> list[tuple[str, bool]]:
    """Return ``text`` in pieces, each shown or hidden, in turn."""
    pieces: list[tuple[str, bool]] = []
    for character, hide in zip(text, hidden, strict=True):
        if pieces and pieces[-1][1] == hide:
            pieces[-1] = (pieces[-1][0] + character, hide)
        else:
            pieces.append((character, hide))
    return pieces
