"""How a base URL, an API prefix and a path become the URL of an action."""

import re
from typing import Final
from urllib.parse import SplitResult, urlsplit

from gateway_core import loopback
from gateway_core.errors import DestinationUnusable

DEFAULT_PREFIX: Final = "/v1"
_ACTIONS: Final = ("/systemone", "/decisions")
_UNSAFE: Final = re.compile(r"[\s\\\x00-\x1f\x7f]")
_UNSAFE_IN_PREFIX: Final = re.compile(r"[\s\\\x00-\x1f\x7f?#]")
IN_PROCESS: Final = "inproc://"
"""The scheme of a provider that sends nothing anywhere; never dialled."""


def endpoint_url(base_url: str | None, prefix: str | None, path: str) -> str:
    """Join base, prefix and path; the path's own ``/v1`` gives way to the prefix.

    Without a prefix it is ``/v1``; with an empty one there is none. Where the base ends with the
    prefix, as whole segments, it is not added again. A base that is itself the URL of a decision
    action stays what it is for that action, and its other actions stand beside it.

    Raises:
        DestinationUnusable: ``base_url`` is no plain http or https URL, or the prefix no path.
    """
    parts = split_base(base_url)
    root = parts.path.rstrip("/")
    action = "/" + path.removeprefix(f"{DEFAULT_PREFIX}/").strip("/")
    if root.endswith(_ACTIONS):
        return _unsplit(parts, root if action in _ACTIONS else root.rpartition("/")[0] + action)
    middle = _normal_prefix(prefix)
    if middle and root.endswith(middle):
        middle = ""
    return _unsplit(parts, root + middle + action)


def site_url(base_url: str | None, prefix: str | None, path: str) -> str:
    """Join base and path outside the API prefix, as for ``/health``.

    Raises:
        DestinationUnusable: ``base_url`` is no plain http or https URL.
    """
    parts = split_base(base_url)
    root = parts.path.rstrip("/")
    if root.endswith(_ACTIONS):
        root = root.rpartition("/")[0]
    return _unsplit(parts, root.removesuffix(_normal_prefix(prefix)) + path)


def split_base(base_url: str | None) -> SplitResult:
    """Parse a base URL; raise ``DestinationUnusable`` unless it is plain http or https."""
    if not base_url or not base_url.strip():
        raise DestinationUnusable("no base URL is configured")
    text = base_url.strip()
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise DestinationUnusable("the base URL is not a URL") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise DestinationUnusable("the base URL must be http:// or https:// with a host")
    if parts.username is not None or parts.password is not None or "@" in parts.netloc:
        raise DestinationUnusable("the base URL must not carry a user name or password")
    if "?" in text or "#" in text:
        raise DestinationUnusable("the base URL must not carry a query or fragment")
    if _UNSAFE.search(text):
        raise DestinationUnusable("the base URL must not hold white space or backslashes")
    return parts


def is_loopback_url(base_url: str | None) -> bool:
    """Whether ``base_url`` names the loopback interface; judged by the text, without DNS."""
    try:
        return loopback.is_loopback(urlsplit(base_url or "").hostname or "")
    except ValueError:
        return False


def _normal_prefix(prefix: str | None) -> str:
    text = DEFAULT_PREFIX if prefix is None else prefix.strip().strip("/")
    if _UNSAFE_IN_PREFIX.search(text):
        raise DestinationUnusable("the prefix must be a plain path")
    return "/" + text.strip("/") if text.strip("/") else ""


def _unsplit(parts: SplitResult, path: str) -> str:
    return f"{parts.scheme}://{parts.netloc}{path}"


def is_plain_http(url: str) -> bool:
    """Return whether a URL is http or https, names a host, and holds no credential."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
