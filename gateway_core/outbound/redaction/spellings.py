"""Escapes undone: JSON's, URLs' and HTML's, in a short message and in a large body."""

import html
import re
from typing import Final
from urllib.parse import unquote

from gateway_core.outbound.redaction.folding import Folded, fold

_LEVELS: Final = 3
"""A text that was escaped more often than this is not recognised."""
_ESCAPED: Final = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}|\\x[0-9a-fA-F]{2}|\\[^ux]"
    r"|(?:%[0-9a-fA-F]{2})+"
    r"|&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]{2,8});"
)
_PERCENT: Final = re.compile("%[0-9a-fA-F]{2}")
_SHORT: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def spellings_of(message: str) -> list[Folded]:
    """Return what ``message`` may mean: as it is, and with its escapes undone up to three times."""
    text, places = message, [(place, place + 1) for place in range(len(message))]
    found = [Folded(text, places)]
    for _ in range(_LEVELS):
        plainer, places = _undone(text, places)
        if plainer == text:
            break
        text = plainer
        found.append(Folded(text, places))
    return found


def _undone(text: str, places: list[tuple[int, int]]) -> tuple[str, list[tuple[int, int]]]:
    pieces: list[str] = []
    origins: list[tuple[int, int]] = []
    last = 0
    for escape in _ESCAPED.finditer(text):
        start, end = escape.span()
        plain = _plain(escape[0])
        pieces += (text[last:start], plain)
        origins += places[last:start]
        origins += [(places[start][0], places[end - 1][1])] * len(plain)
        last = end
    pieces.append(text[last:])
    return "".join(pieces), origins + places[last:]


def _plain(escape: str) -> str:
    if escape.startswith("%"):
        return unquote(escape, errors="replace")
    if escape.startswith("&"):
        return html.unescape(escape)
    if escape[1] in "uUx" and len(escape) > 2:
        units = [int(unit, 16) for unit in re.findall(r"\\[uUx]([0-9a-fA-F]+)", escape)]
        if len(units) == 2:
            return chr(0x10000 + ((units[0] - 0xD800) << 10) + units[1] - 0xDC00)
        return chr(units[0]) if units[0] <= 0x10FFFF else ""
    return _SHORT.get(escape[1], escape[1])


def plain_forms(piece: bytes) -> list[bytes]:
    """Return a piece of a JSON body as text that can be searched, folded.

    Args:
        piece: UTF-8, which may begin and end within a character or an escape.

    Returns:
        The text with JSON's escapes undone; and, where it has URL encoding, that undone, too.
    """
    text = piece.decode("utf-8", "replace")
    if "\\" in text:
        text = _without_json_escapes(text)
    forms = [fold(text)]
    if _PERCENT.search(text):
        forms.append(fold(unquote(text, errors="replace")))
    return forms


def _without_json_escapes(text: str) -> str:
    # Escaped backslashes first, which are dropped anyway: the next character is not escaped.
    text = text.replace("\\\\", "")
    # Python's own escapes hold JSON's, but for the slash; the codec reads latin-1.
    source = text.replace("\\/", "/").encode("ascii", "backslashreplace")
    plain = source.decode("unicode_escape", "ignore")
    if "\\ud" in text or "\\uD" in text:
        plain = plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return plain
