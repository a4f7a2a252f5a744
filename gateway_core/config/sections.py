"""What a file may hold, read from the one class that says it: ``Config``."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, get_args, get_origin

import attrs

from gateway_core.config.model import Config

_PLACES: Final = {"source"}
"""What ``Config`` holds that does not stand in the file."""


def _members() -> Iterator[tuple[str, Any]]:
    for attribute in attrs.fields(Config):
        if attribute.name not in _PLACES:
            yield attribute.name, attribute.type


KEYS: Final[tuple[str, ...]] = tuple(name for name, _ in _members())
"""Every key and table at the top of the file, in the order of a person's interest."""
SECTIONS: Final[Mapping[str, type]] = {name: kind for name, kind in _members() if attrs.has(kind)}
"""The tables of the file whose keys are fixed."""


def _tables(path: str, kind: Any) -> Iterator[tuple[str, type]]:
    """Yield a table and those below it, each with its path."""
    if get_origin(kind) is Mapping:
        member = get_args(kind)[1]
        if attrs.has(member):
            # An organization names its providers by ids.
            yield from _tables(f"{path}.{'ID' if '.' in path else 'NAME'}", member)
    elif attrs.has(kind):
        yield path, kind
        for attribute in attrs.fields(kind):
            yield from _tables(f"{path}.{attribute.name}", attribute.type)


TABLES: Final[Mapping[str, type]] = dict(
    table for name, kind in _members() for table in _tables(name, kind)
)
"""Every table of the file, such as ``orgs.NAME.limits``, and the class of its keys."""
