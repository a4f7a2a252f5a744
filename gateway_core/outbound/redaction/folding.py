"""One form for the spellings of a text: case, quotes, white space, composed characters.

``fold`` works on large texts with a few passes of compiled code, and ``Folded`` on a short one
that remembers where each character came from. Both come to the same bytes.
"""

import re
from typing import Final
from unicodedata import normalize

_FROM: Final = b'ABCDEFGHIJKLMNOPQRSTUVWXYZ\t\n\v\f\r+"`'
_TO: Final = b"abcdefghijklmnopqrstuvwxyz" + b" " * 6 + b"''"
_TABLE: Final = bytes.maketrans(_FROM, _TO)
_DROPPED: Final = b"\\" + bytes(set(range(32)) - set(b"\t\n\v\f\r")) + b"\x7f"
_MARKS: Final = re.compile(
    "[\u0080-\u009f\u00ad\u0300-\u036f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]"
)


def fold(text: str) -> bytes:
    """Return ``text`` in one spelling, as UTF-8.

    Backslashes are dropped: they come and go with every level of escaping.
    """
    if not text.isascii():
        text = _MARKS.sub("", normalize("NFKD", text).casefold())
    folded = text.encode("utf-8", "replace").translate(_TABLE, _DROPPED)
    while b"  " in folded:
        folded = folded.replace(b"  ", b" ")
    return folded


class Folded:
    """A short text in the spelling of ``fold``, each character with its place of origin.

    Attributes:
        characters: the folded characters.
        places: for each of them, where it starts and ends in the original text.
    """

    def __init__(self, text: str, places: list[tuple[int, int]]) -> None:
        """Fold ``text``, whose characters stand at ``places`` of the original."""
        self.characters: list[str] = []
        self.places: list[tuple[int, int]] = []
        for character, place in zip(text, places, strict=True):
            for folded in fold(character).decode("utf-8", "replace"):
                if folded != " " or self.characters[-1:] != [" "]:
                    self.characters.append(folded)
                    self.places.append(place)

    @property
    def text(self) -> str:
        """The folded text."""
        return "".join(self.characters)
