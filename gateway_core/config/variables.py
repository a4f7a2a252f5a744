"""``${NAME}`` in a provider's table: replaced in its base URL, and refused anywhere else."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from gateway_core.structure import Fault, Sources
from gateway_core.structure.secrets import WAY_OUT

_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_BARE: Final = re.compile(r"//[^/]*\$(?!\{)|^\$(?!\{)")
"""A ``$NAME`` where a host stands: no host has such a name."""
_ELSEWHERE: Final = ("dialect", "api_format", "prefix", "models", "headers", "api_key")
_STAND_IN: Final = "variable"


def replaced(table: Any, sources: Sources) -> tuple[Any, list[Fault]]:
    """Return a provider's table with the variables in its base URL replaced, and all faults.

    Args:
        table: the table, which may be anything.
        sources: where variables are looked up; where credentials are not read, these may be
            missing as well, and something stands in for them.
    """
    if not isinstance(table, Mapping):
        return table, []
    faults = list(_misplaced(table))
    url = table.get("base_url")
    if not isinstance(url, str) or "$" not in url:
        return table, faults
    text, wrong = _replaced_url(url, sources)
    faults += (Fault(("base_url",), line) for line in wrong)
    if wrong:
        return {key: value for key, value in table.items() if key != "base_url"}, faults
    return {**table, "base_url": text}, faults


def _replaced_url(url: str, sources: Sources) -> tuple[str, list[str]]:
    names = dict.fromkeys(_VARIABLE.findall(url))
    if "${" in _VARIABLE.sub("", url) or _BARE.search(url):
        return url, ["only ${NAME} is replaced, NAME being an environment variable"]
    known = {name: sources.environ.get(name, "").strip() for name in names}
    if not sources.unread:
        if missing := [name for name in names if not known[name]]:
            return url, [f"environment variable {name} is not set" for name in missing]
    elif url.startswith("${") and not all(known.values()):
        # The variable may hold the scheme as well.
        return f"https://{_STAND_IN}.invalid", []
    return _VARIABLE.sub(lambda found: known[found[1]] or _STAND_IN, url), []


def _misplaced(table: Mapping[str, Any]) -> Iterator[Fault]:
    for key in _ELSEWHERE:
        for path, text in _texts((key,), table.get(key)):
            if "${" in text:
                yield Fault(path, f"${{NAME}} is replaced in base_url alone{_way_out(key)}")


def _texts(path: tuple[str, ...], value: Any) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts((*path, str(key)), item)
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from _texts((*path, str(place)), item)


def _way_out(key: str) -> str:
    return f"; {WAY_OUT}" if key in ("headers", "api_key") else ""
