"""How a base URL, an API prefix and a path become the URL of an action."""

from typing import Final
from urllib.parse import SplitResult, urlsplit

from gateway_core.errors import DestinationUnusable

DEFAULT_PREFIX: Final = "/v1"
_ACTIONS: Final = ("/systemone", "/decisions")
IN_PROCESS: Final = "inproc://"
"""The scheme of a provider that sends nothing anywhere; never dialled."""


def endpoint_url(base_url: str | None, prefix: str | None, path: str) -> str:
    """Join base, prefix and path; the path's own ``/v1`` gives way to the prefix.

    A prefix of None means ``/v1`` and an empty one means none. A base that already ends with
    the prefix, on a segment boundary, is not doubled, and one that is already the URL of a
    decision action is used as it is for that action and as the place of its siblings.

    Raises:
        DestinationUnusable: ``base_url`` is no plain http or https URL.
    """
    parts = split_base(base_url)
    root = parts.path.rstrip("/")
    action = "/" + path.removeprefix(DEFAULT_PREFIX).strip("/")
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
    if not base_url:
        raise DestinationUnusable("no base URL is configured")
    try:
        parts = urlsplit(base_url.strip())
        port = parts.port
    except ValueError:
        raise DestinationUnusable("the base URL is not a URL") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise DestinationUnusable("the base URL must be http:// or https:// with a host")
    if parts.username is not None or parts.password is not None or "@" in parts.netloc:
        raise DestinationUnusable("the base URL must not carry a user name or password")
    if parts.query or parts.fragment or base_url.rstrip().endswith(("?", "#")):
        raise DestinationUnusable("the base URL must not carry a query or fragment")
    return parts


def _normal_prefix(prefix: str | None) -> str:
    text = DEFAULT_PREFIX if prefix is None else prefix.strip().strip("/")
    return "/" + text.strip("/") if text.strip("/") else ""


def _unsplit(parts: SplitResult, path: str) -> str:
    return f"{parts.scheme}://{parts.netloc}{path}"
