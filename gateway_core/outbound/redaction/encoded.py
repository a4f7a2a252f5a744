"""What a message holds in base64 or hexadecimal, as a header with a password is echoed."""

import re
from base64 import urlsafe_b64decode
from binascii import Error
from collections.abc import Iterator
from typing import Final

from gateway_core.outbound.redaction.search import Place

_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]{8,}={0,2}")
_HEX: Final = re.compile(r"(?:[0-9A-Fa-f]{2}){6,}")
_TO_URL_SAFE: Final = str.maketrans("+/", "-_")


def decoded_runs(text: str) -> Iterator[tuple[Place, str]]:
    """Yield where ``text`` may be encoded, and what stands there; most of it is nonsense."""
    for run in _HEX.finditer(text):
        yield run.span(), bytes.fromhex(run[0]).decode("utf-8", "replace")
    for run in _BASE64.finditer(text):
        yield run.span(), _from_base64(run[0].rstrip("="))


def _from_base64(run: str) -> str:
    # Four characters stand for three bytes; what a cut has left over stands for none.
    whole = run[: len(run) - (len(run) % 4 == 1)].translate(_TO_URL_SAFE)
    try:
        return urlsafe_b64decode(whole + "=" * (-len(whole) % 4)).decode("utf-8", "replace")
    except Error:
        return ""
