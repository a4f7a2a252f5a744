"""A configuration as plain tables for people and programs, with nothing secret in them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import attrs

from gateway_core.config.model import Config
from gateway_core.secret import Secret
from gateway_core.structure.faults import is_harmless

HIDDEN: Final = "***"


def as_tables(config: Config) -> dict[str, Any]:
    """Return what is in force; absent keys are left out, secrets and header values hidden."""
    tables: dict[str, Any] = _plain(attrs.asdict(config, recurse=False))
    tables.pop("source", None)
    return tables


def _plain(value: Any) -> Any:
    if isinstance(value, Secret):
        return HIDDEN
    if attrs.has(type(value)):
        value = attrs.asdict(value, recurse=False)
    if isinstance(value, Mapping):
        return {key: _named(key, item) for key, item in value.items() if item is not None}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def _named(key: str, value: Any) -> Any:
    if key == "headers":
        return dict.fromkeys(value, HIDDEN)
    if key == "base_url":
        return _without_user(value)
    return _untyped(value) if key == "settings" else _plain(value)


def _untyped(value: Any) -> Any:
    """Return a dialect's own keys: which of them are secrets, only its plugin knows."""
    if isinstance(value, Mapping):
        return {key: _untyped(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_untyped(item) for item in value]
    return HIDDEN if isinstance(value, str) and not is_harmless(value) else value


def _without_user(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return HIDDEN
    if "@" not in parts.netloc and not parts.query:
        return url
    host = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=f"{HIDDEN}@{host}", query="").geturl()
