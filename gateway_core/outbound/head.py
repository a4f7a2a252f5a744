# Compiled with mypyc; CONTRIBUTING.md, "The hot path", says what that asks of this file.
"""The head of a request: the constant part made once, the rest checked and joined per call."""

import re
from collections.abc import Mapping
from typing import Final

from gateway_core.bounded_cache import BoundedCache
from gateway_core.errors import ConfigError, ProviderError
from gateway_core.http1 import codings
from gateway_core.secret import Secret
from gateway_core.version import __version__

_TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_FRAMING: Final = frozenset(
    {
        "host",
        "connection",
        "content-length",
        "transfer-encoding",
        "keep-alive",
        "te",
        "trailer",
        "upgrade",
        "expect",
        "proxy-authorization",
        "proxy-connection",
    }
)
_MAX_KNOWN_SETS: Final = 64
_OURS: Final = {"user-agent": f"s1gw/{__version__}", "accept-encoding": codings.ACCEPTED}


class HeadWriter:
    """The headers of one sender: its own, its endpoint's, and those of each call.

    The endpoint's win over a call's, and nobody replaces those that frame the message.
    """

    def __init__(self, endpoint_headers: Mapping[str, str | Secret]) -> None:
        """Reveal and check the endpoint's headers; raise ``ConfigError`` for a bad one."""
        own = dict(_OURS)
        for name, value in endpoint_headers.items():
            text = value.reveal() if isinstance(value, Secret) else value
            own[_config_name(name)] = _config_value(name, text)
        self._constant = "".join(f"{name}: {value}\r\n" for name, value in own.items())
        self._settled = _FRAMING.union(own)
        self._templates: BoundedCache[tuple[str, ...], tuple[str, int]] = BoundedCache(
            _MAX_KNOWN_SETS
        )

    def prefix(self, method: str, request_target: str, authority: str, extra: str = "") -> str:
        """Return the start of a head, which is the same for every call to one URL."""
        return f"{method} {request_target} HTTP/1.1\r\nhost: {authority}\r\n{self._constant}{extra}"

    def head(self, prefix: str, headers: Mapping[str, str], length: int | None) -> bytes:
        """Return the whole head; ``length`` is that of the body, None for a request without.

        Raises:
            ProviderError: a header holds what HTTP does not allow.
        """
        names = tuple(headers)
        template, count = self._templates.get(names) or self._template(names)
        lines = template % tuple(headers.values())
        # One look at all the lines is cheaper than one at each value.
        if lines.count("\n") != count or lines.count("\r") != count or "\0" in lines:
            raise ProviderError("a request header holds a line break")
        framing = "" if length is None else f"content-length: {length}\r\n"
        try:
            return f"{prefix}{lines}{framing}\r\n".encode("latin-1")
        except UnicodeEncodeError:
            raise ProviderError("a request header holds characters outside latin-1") from None

    def _template(self, names: tuple[str, ...]) -> tuple[str, int]:
        """Return what the values of these headers are put into, and how many lines it makes."""
        fields = [*map(_field_name, names)]
        # Names that differ in case are one header, and a plugin's stands after the host's.
        last = {field: place for place, field in enumerate(fields)}
        kept = [
            field not in self._settled and last[field] == place
            for place, field in enumerate(fields)
        ]
        # A value that must not be sent takes no room.
        lines = [_line(field) if keep else "%.0s" for field, keep in zip(fields, kept, strict=True)]
        return self._templates.keep(names, ("".join(lines), sum(kept)))


def _field_name(name: str) -> str:
    if not _TOKEN.fullmatch(name):
        raise ProviderError("a request header has an impossible name")
    return name.lower()


def _line(field: str) -> str:
    # A percent sign may stand in a header's name.
    return f"{field.replace('%', '%%')}: %s\r\n"


def _config_name(name: str) -> str:
    if not _TOKEN.fullmatch(name):
        raise ConfigError(f"headers.{name}: not a possible header name")
    if name.lower() in _FRAMING or name.lower() == "content-type":
        raise ConfigError(f"headers.{name}: the gateway sets this header itself; remove it")
    return name.lower()


def _config_value(name: str, value: str) -> str:
    try:
        value.encode("latin-1")
    except UnicodeEncodeError:
        raise ConfigError(f"headers.{name}: holds characters outside latin-1") from None
    if any(ord(character) < 32 and character != "\t" for character in value):
        raise ConfigError(f"headers.{name}: holds a control character")
    return value.strip()
