"""Checks of how a provider is found."""

import re
from collections.abc import Sequence
from importlib.metadata import EntryPoint
from typing import Final

from gateway_core.api import API_VERSION
from gateway_core.catalog.claims import CLAIM_KINDS
from gateway_core.catalog.scan import Offer, offers
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


@check(
    "Every claim is one that the host reads.",
    why="One that is misspelt, or that names another object, does nothing and is told nobody.",
)
def claims_are_understood(subject: Subject) -> None:
    """All claims of the distributions that offer the dialect."""
    found = offers()
    ours = {offer.origin.name for offer in found if _offers(offer, subject)}
    for offer in found:
        if offer.subject == "claims" and offer.origin.name in ours:
            _is_understood(offer, found)


def _offers(offer: Offer, subject: Subject) -> bool:
    return offer.subject == "providers" and offer.entry.name == subject.dialect


def _is_understood(claim: Offer, found: Sequence[Offer]) -> None:
    name = claim.entry.name
    kind, _, value = name.partition(".")
    require(kind in CLAIM_KINDS and value, f"{name!r} is none of {', '.join(CLAIM_KINDS)}")
    require(kind != "order" or value.isdigit(), f"{name!r} is no place: order.NUMBER")
    spoken_for = {
        offer.entry.value
        for offer in found
        if offer.subject == "providers" and offer.origin.name == claim.origin.name
    }
    named = claim.entry.value
    require(named in spoken_for, f"{name!r} is for {named}, which no entry point of its own names")
