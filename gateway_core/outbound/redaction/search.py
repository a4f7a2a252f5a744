"""Which parts of a message occur in a body of any size, in time that is linear in the body's.

A run of 12 bytes holds 8 bytes that begin at a multiple of 4, wherever it stands. So the body is
read as numbers of 8 bytes, and those that the message has, too, are found by one intersection of
sets; only what is found so is then searched for in full.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from gateway_core.outbound.redaction.folding import Folded
from gateway_core.outbound.redaction.spellings import plain_forms

RUN: Final = 12
"""So many characters in a row are content when the caller sent them in a row."""
DIGITS: Final = 6
"""So many digits in a row likewise, whatever separates them."""
PIECE_BYTES: Final = 512 * 1024
"""What is searched at a time: some milliseconds, after which others have their turn."""
_OVERLAP: Final = 512
_GRAM: Final = 8
_STRIDE: Final = 4
_MOST_NUMBERS: Final = 48
_SEPARATORS: Final = b" ,._'-()"
_NUMBER: Final = re.compile(r"[0-9](?:[ ,._'()-]{0,2}[0-9])+", re.ASCII)
_BACKSLASH: Final = ord("\\")
_NO_BACKSLASH: Final = re.compile(rb"[^\\]")
_LONG_NUMBERS: Final = re.compile(b"[0-9]{%d,}" % DIGITS)

Place = tuple[int, int]


class Search:
    """Looks for the parts of one message in the pieces of a body, and collects what it finds.

    Attributes:
        found: the places in the message that occur in the body.
    """

    def __init__(self, spellings: list[Folded]) -> None:
        """Take the spellings of the message."""
        self.found: set[Place] = set()
        self._windows: dict[bytes, set[Place]] = defaultdict(set)
        self._numbers: dict[bytes, set[Place]] = defaultdict(set)
        for spelling in spellings:
            self._take_windows(spelling)
            self._take_numbers(spelling)
        self._by_gram: dict[int, set[bytes]] = defaultdict(set)
        for window in self._windows:
            for gram in _grams_of(window):
                self._by_gram[gram].add(window)
        self._grams = frozenset(self._by_gram)
        if len(self._numbers) > _MOST_NUMBERS:
            # It is a list of numbers rather than a message, and would take long to look up.
            self.found.update(*self._numbers.values())
            self._numbers.clear()

    def _take_windows(self, spelling: Folded) -> None:
        text, places = spelling.text, spelling.places
        for start in range(len(text) - RUN + 1):
            window = text[start : start + RUN].encode("utf-8", "replace")
            self._windows[window].add((places[start][0], places[start + RUN - 1][1]))

    def _take_numbers(self, spelling: Folded) -> None:
        for number in _NUMBER.finditer(spelling.text):
            start, end = number.span()
            place = spelling.places[start][0], spelling.places[end - 1][1]
            digits = re.sub("[^0-9]", "", number[0]).encode()
            for offset in range(len(digits) - DIGITS + 1):
                self._numbers[digits[offset : offset + DIGITS]].add(place)

    def look_in(self, piece: bytes) -> None:
        """Search one piece of the body."""
        for form in plain_forms(piece):
            self._look_for_windows(form)
            self._look_for_numbers(form)

    def _look_for_windows(self, form: bytes) -> None:
        if len(form) < RUN:
            return
        hits = self._hits(form)
        for window in {window for gram in hits for window in self._by_gram[gram]}:
            if window in self._windows and window in form:
                self.found |= self._windows.pop(window)

    def _hits(self, form: bytes) -> set[int]:
        return {
            gram
            for offset in (0, _STRIDE)
            for gram in self._grams.intersection(_numbers_in(form, offset))
        }

    def _look_for_numbers(self, form: bytes) -> None:
        if not self._numbers:
            return
        digits = b" ".join(_LONG_NUMBERS.findall(form.translate(None, _SEPARATORS)))
        for number in [number for number in self._numbers if number in digits]:
            self.found |= self._numbers.pop(number)


def pieces_of(body: bytes) -> Iterator[bytes]:
    """Yield ``body`` in pieces that overlap, none of which begins within an escape."""
    start, end = 0, PIECE_BYTES
    while end < len(body):
        yield body[start:end]
        start = end - _OVERLAP
        if body[start - 1] == _BACKSLASH:
            # What follows the backslashes belongs to them at most.
            found = _NO_BACKSLASH.search(body, start)
            start = found.end() if found else len(body)
        end = start + PIECE_BYTES
    yield body[start:]


def _grams_of(window: bytes) -> Iterator[int]:
    for offset in range(_STRIDE):
        yield int.from_bytes(window[offset : offset + _GRAM], sys.byteorder)


def _numbers_in(form: bytes, offset: int) -> memoryview:
    """Return the numbers of 8 bytes in ``form`` that begin at ``offset`` and each 8 further."""
    count = (len(form) - offset) // _GRAM
    return memoryview(form)[offset : offset + count * _GRAM].cast("Q")
