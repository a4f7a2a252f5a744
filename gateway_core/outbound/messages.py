"""What an upstream said about a refusal, and how much of it a caller may see."""

import json
from collections.abc import Iterator, Sequence
from typing import Final

from gateway_core.secret import Secret

MAX_LENGTH: Final = 500
GENERAL: Final = "the upstream gave no message that can be shown"
_READ_BYTES: Final = 256 * 1024
_SEARCHED_BYTES: Final = 1024 * 1024
_KEPT_LENGTH: Final = 2000
_CODE_LENGTH: Final = 100
_TELLING: Final = 8
_BLOCK: Final = 20
_WIRE_NAMES: Final = frozenset(
    ["questions", "instructions", "criteria", "reasoning", "description", "messages", "metadata"]
)
_NO_JSON: Final = object()


def upstream_message(body: bytes) -> str | None:
    """Find the message in an error body, whichever of the known shapes it has.

    The order is that of the public SDKs: ``error`` as text, ``error.message``, ``message``,
    ``detail`` as text, ``detail.message``, ``detail[]`` with place and message, ``errors[]``.
    A body that is not JSON is its own message, unless it is a page for a browser.

    Returns:
        At most 2,000 characters, unsanitised; None when there is nothing to tell.
    """
    found = _parse(body)
    text = _plain(body) if found is _NO_JSON else _message(found)
    return text[:_KEPT_LENGTH] if text else None


def upstream_code(body: bytes) -> str | None:
    """Return the upstream's own word for the failure, from whichever place an error body has.

    ``error_type`` is the most telling, then a ``code`` that is a word, then ``type``, then a
    ``code`` that is a number.
    """
    found = _parse(body)
    faults = _get(found, "errors")
    first = faults[0] if isinstance(faults, list) and faults else None
    parts = (_get(found, "detail"), _get(found, "error"), first, found)
    for name, kind in (("error_type", str), ("code", str), ("type", str), ("code", int)):
        for part in parts:
            word = _get(part, name)
            if isinstance(word, kind) and not isinstance(word, bool):
                return str(word)[:_CODE_LENGTH]
    return None


def sanitize_message(message: str | None, *, secrets: Sequence[Secret], body: bytes) -> str:
    """Return what a caller may see of ``message``: printable, at most 500 characters.

    Args:
        message: ``ProviderError.upstream_message``.
        secrets: credentials that may occur in it.
        body: the JSON that the caller sent; a message that repeats one of its strings of 8
            characters or more is replaced by a general sentence, and so is any message when
            the body is not JSON or too large to be searched while others wait (1 MiB).
    """
    text = _printable(message or "")
    if not text or any(secret.reveal() in text for secret in secrets):
        return GENERAL
    if len(body) > _SEARCHED_BYTES:
        return GENERAL
    try:
        sent = json.loads(body)
    except (ValueError, RecursionError):
        return GENERAL
    return GENERAL if _repeats(text, sent) else text[:MAX_LENGTH]


def _repeats(text: str, sent: object) -> bool:
    # A run of two blocks less one always holds a whole aligned block, so that a long string
    # is found even where the upstream shows only a part of it.
    blocks = [text[i : i + _BLOCK] for i in range(0, len(text) - _BLOCK + 1, _BLOCK)]
    for own in map(_printable, _telling(sent)):
        if len(own) < _TELLING:
            continue
        if own in text or (len(own) >= _BLOCK and any(block in own for block in blocks)):
            return True
    return False


def _telling(sent: object) -> Iterator[str]:
    """Yield the strings of ``sent`` that are long enough to tell something."""
    waiting = [sent]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            if len(value) >= _TELLING:
                yield value
        elif isinstance(value, dict):
            waiting.extend(value.values())
            waiting.extend(value.keys() - _WIRE_NAMES)
        elif isinstance(value, list):
            waiting.extend(value)


def _printable(text: str) -> str:
    spaced = " ".join(text.split())
    return spaced if spaced.isprintable() else "".join(filter(str.isprintable, spaced))


def _parse(body: bytes) -> object:
    if len(body) > _READ_BYTES:
        return _NO_JSON
    try:
        found: object = json.loads(body)
    except (ValueError, RecursionError):
        return _NO_JSON
    return found


def _get(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else None


def _message(found: object) -> str | None:
    error, detail = _get(found, "error"), _get(found, "detail")
    candidates = (error, _get(error, "message"), _get(found, "message"), detail)
    for text in (*candidates, _get(detail, "message")):
        if isinstance(text, str) and text.strip():
            return text
    faults = detail if isinstance(detail, list) else _get(found, "errors")
    if isinstance(faults, list):
        return "; ".join(filter(None, map(_fault, faults[:20]))) or None
    return None


def _fault(fault: object) -> str:
    place, text = _get(fault, "loc"), _get(fault, "msg") or _get(fault, "message")
    if not isinstance(text, str):
        return ""
    if not isinstance(place, list):
        return text
    return ".".join(str(step) for step in place if isinstance(step, str | int)) + ": " + text


def _plain(body: bytes) -> str | None:
    text = body[: 4 * _KEPT_LENGTH].decode("utf-8", "replace").strip()
    return None if text.startswith("<") else text[:200]
