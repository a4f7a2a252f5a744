"""Environment variables that override the configuration file, one per plain key."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, get_args, get_origin

import attrs

from gateway_core.config.paths import DISABLED_PLUGINS
from gateway_core.config.sections import SECTIONS
from gateway_core.config.switches import SWITCHES
from gateway_core.secret import Secret
from gateway_core.structure import Fault, Sources, attempt
from gateway_core.structure.faults import unknown_key


@attrs.frozen
class Variable:
    """One environment variable.

    Attributes:
        name: such as ``S1GW_DECIDE_TIMEOUT_S``.
        section: the table of the file that it overrides a key of.
        key: that key.
        kind: the key's type.
    """

    name: str
    section: str
    key: str
    kind: Any


def _variables() -> Iterator[Variable]:
    for section, cls in SECTIONS.items():
        for attribute in attrs.fields(cls):
            if get_origin(attribute.type) is not Mapping:
                yield Variable(
                    _name(section, attribute.name), section, attribute.name, attribute.type
                )


def _name(section: str, key: str) -> str:
    return DISABLED_PLUGINS if section == "plugins" else f"S1GW_{section}_{key}".upper()


VARIABLES: Final = tuple(_variables())


def in_force(environ: Mapping[str, str]) -> list[Variable]:
    """Return the variables that are set."""
    return [variable for variable in VARIABLES if environ.get(variable.name, "").strip()]


def overrides(
    section: str, environ: Mapping[str, str], sources: Sources
) -> tuple[dict[str, Any], tuple[Fault, ...]]:
    """Return what the environment says about one section: keys to values, and the faults.

    A blank variable counts as not set. A fault's path is the variable's name, and ``meant`` the
    key that it would have set.
    """
    found: dict[str, Any] = {}
    faults: list[Fault] = []
    for variable in VARIABLES:
        text = environ.get(variable.name, "").strip()
        if variable.section != section or not text:
            continue
        value = _parsed(text, variable.kind)
        wrong = attempt(SECTIONS[section], {variable.key: value}, sources)[1]
        faults += (Fault((variable.name,), fault.text, variable.key) for fault in wrong)
        if not wrong:
            found[variable.key] = value
    return found, (*faults, *_unknown(section, environ))


def _unknown(section: str, environ: Mapping[str, str]) -> Iterator[Fault]:
    known = {variable.name: variable.key for variable in VARIABLES if variable.section == section}
    for name in sorted(environ):
        if name.startswith(f"S1GW_{section}_".upper()) and name not in known:
            fault = unknown_key(name, known)
            yield attrs.evolve(fault, meant=known.get(fault.meant or ""))


def _parsed(text: str, kind: Any) -> Any:
    """Return ``text`` as TOML would have given it; what does not parse stays text."""
    kinds = {kind, get_origin(kind), *get_args(kind), *map(get_origin, get_args(kind))}
    if tuple in kinds:
        return [part.strip() for part in text.split(",") if part.strip()]
    if Secret in kinds:
        return Secret(text)
    if bool in kinds:
        return SWITCHES.get(text.lower(), text)
    for number in (int, float):
        if number in kinds:
            try:
                return number(text)
            except ValueError:
                return text
    return text
