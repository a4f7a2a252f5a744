"""Checks of how a provider is found."""

import re
from importlib.metadata import EntryPoint
from typing import Final

from gateway_core.api import API_VERSION
from gateway_core.catalog.scan import offers
from gateway_core.testing.checks.check import check, require
from gateway_core.testing.checks.subject import Subject

_DIALECT: Final = re.compile(r"[a-z][a-z0-9-]*")


def provider_entries() -> list[EntryPoint]:
    """Return the entry points of every installed provider for this version of the API."""
    ours = ("providers", API_VERSION)
    return [offer.entry for offer in offers() if (offer.subject, offer.api_version) == ours]


@check(
    "An entry point in the group gateway_core.providers.v1 names the class.",
    why="The host finds providers by their entry points alone, and imports none to list them.",
)
def an_entry_point_names_the_class(subject: Subject) -> None:
    """Whatever else the distribution offers under other names."""
    found = [entry for entry in provider_entries() if entry.name == subject.dialect]
    require(found, f"no installed distribution has the entry point {subject.dialect!r}")
    named = {entry.value for entry in found}
    loaded = [entry.load() for entry in found]
    require(subject.provider_class in loaded, f"the entry point names {', '.join(sorted(named))}")


@check(
    "The dialect is lower-case letters, digits and hyphens, beginning with a letter.",
    why="It is typed in configurations and shown in listings, on every platform.",
)
def the_dialect_is_a_plain_word(subject: Subject) -> None:
    """As ``s1gw plugins new`` takes them."""
    require(_DIALECT.fullmatch(subject.dialect), f"the dialect is {subject.dialect!r}")
