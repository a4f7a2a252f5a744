"""Entry points of the installed distributions, sorted, each once, with their states."""

import re
from collections.abc import Iterable, Iterator
from importlib import metadata
from typing import Final

import attrs

from gateway_core.api import API_VERSION
from gateway_core.catalog.refs import UNKNOWN, Kind, PluginRef, State, canonical

_GROUP: Final = re.compile(r"gateway_core\.(providers|middleware|claims)\.v(\d+)")
_KINDS: Final = {"providers": Kind.PROVIDER, "middleware": Kind.MIDDLEWARE}


@attrs.frozen
class Origin:
    """A distribution as its metadata describe it."""

    name: str = UNKNOWN
    version: str = UNKNOWN
    homepage: str = ""


@attrs.frozen
class Offer:
    """One entry point of ours.

    Attributes:
        subject: what it offers: ``providers``, ``middleware`` or ``claims``.
        api_version: the version of the plugin API that it is written for.
        entry: the entry point.
        origin: its distribution.
    """

    subject: str
    api_version: int
    entry: metadata.EntryPoint
    origin: Origin


def offers() -> list[Offer]:
    """Return our entry points of every distribution; this reads the disk, so do it once."""
    found = metadata.entry_points()
    groups = [match for group in sorted(found.groups) if (match := _GROUP.fullmatch(group))]
    pairs = [(match, entry) for match in groups for entry in found.select(group=match[0])]
    # The entry points of a distribution share one object, whose metadata are slow to read.
    distributions = {id(entry.dist): entry.dist for _, entry in pairs}
    origins = {key: _origin(distribution) for key, distribution in distributions.items()}
    return [Offer(m[1], int(m[2]), entry, origins[id(entry.dist)]) for m, entry in pairs]


def _origin(distribution: metadata.Distribution | None) -> Origin:
    """Describe a distribution, even one whose metadata are damaged or gone."""
    try:
        described = distribution.metadata if distribution is not None else None
    except (AttributeError, KeyError, OSError, TypeError, ValueError):
        described = None
    if described is None or "Name" not in described:
        return Origin()
    version = next(iter(described.get_all("Version") or ()), UNKNOWN)
    return Origin(described["Name"], str(version), _homepage(described))


def _homepage(described: metadata.PackageMetadata) -> str:
    urls = [str(url).partition(",") for url in described.get_all("Project-URL") or ()]
    named = {label.strip().lower(): url.strip() for label, _, url in urls}
    for label in ("homepage", "home", "repository", "source"):
        if label in named:
            return named[label]
    return str(next(iter(described.get_all("Home-page") or ()), ""))


def plugin_refs(found: Iterable[Offer], disabled: frozenset[str]) -> list[PluginRef]:
    """Return every plugin once, sorted by name, with the state that metadata alone give it."""
    unique: dict[tuple[str, str, str], tuple[Offer, PluginRef]] = {}
    for offer in found:
        if offer.subject in _KINDS:
            ref = _ref(offer)
            key = (ref.kind, ref.dialect, canonical(ref.distribution))
            known = unique.get(key)
            # A distribution may offer one name for several versions of the API; ours counts.
            if known is None or offer.api_version == API_VERSION:
                unique[key] = (offer, ref)
    judged = [_judged(offer, ref, disabled) for offer, ref in unique.values()]
    judged.sort(key=lambda ref: (ref.kind != Kind.PROVIDER, ref.dialect, ref.distribution))
    return list(_conflicts(judged))


def _ref(offer: Offer) -> PluginRef:
    return PluginRef(
        kind=_KINDS[offer.subject],
        dialect=offer.entry.name,
        distribution=offer.origin.name,
        version=offer.origin.version,
        homepage=offer.origin.homepage,
        entry=offer.entry,
    )


def _judged(offer: Offer, ref: PluginRef, disabled: frozenset[str]) -> PluginRef:
    if disabled & {"*", *ref.names}:
        detail = f"{ref.origin} is disabled by [plugins].disabled or S1GW_DISABLED_PLUGINS"
        return attrs.evolve(ref, state=State.DISABLED, detail=detail)
    if offer.api_version != API_VERSION:
        versions = f"plugin API v{offer.api_version}; this gateway offers v{API_VERSION}"
        detail = f"{ref.origin} is written for {versions}"
        return attrs.evolve(ref, state=State.INCOMPATIBLE, detail=detail)
    return ref


def _conflicts(refs: list[PluginRef]) -> Iterator[PluginRef]:
    for ref in refs:
        rivals = [
            other.origin
            for other in refs
            if (other.kind, other.dialect, other.state) == (ref.kind, ref.dialect, State.AVAILABLE)
        ]
        if ref.state is State.AVAILABLE and len(rivals) > 1:
            detail = f"offered by {' and '.join(rivals)}; disable or uninstall all but one"
            yield attrs.evolve(ref, state=State.CONFLICT, detail=detail)
        else:
            yield ref
