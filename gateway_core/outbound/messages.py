"""What an upstream said about a refusal, found in the shapes that error bodies have."""

import json
from typing import Final

_READ_BYTES: Final = 256 * 1024
_KEPT_LENGTH: Final = 2000
_CODE_LENGTH: Final = 100
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


def upstream_param(body: bytes) -> str | None:
    """Return which part of the request the upstream names: ``param``, or ``field``."""
    found = _parse(body)
    for part in (_get(found, "error"), _get(found, "detail"), found):
        for name in ("param", "field"):
            if isinstance(place := _get(part, name), str):
                return place[:_CODE_LENGTH]
    return None


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
