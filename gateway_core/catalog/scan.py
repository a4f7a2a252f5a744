"""Entry points of the installed distributions, sorted, each once, with their states."""

import logging
import re
from collections.abc import Iterable, Iterator
from importlib import metadata
from typing import Final

import attrs

from gateway_core.api import API_VERSION
from gateway_core.catalog.hosts import unmet_host
from gateway_core.catalog.refs import UNKNOWN, PluginKind, PluginRef, PluginState, canonical
from gateway_core.version import __version__

_log: Final = logging.getLogger("s1gw.catalog")
_OURS: Final = "gateway_core."
_GROUP: Final = re.compile(r"gateway_core\.(providers|middleware|claims)\.v(\d+)")
_KINDS: Final = {"providers": PluginKind.PROVIDER, "middleware": PluginKind.MIDDLEWARE}


@attrs.frozen
class Origin:
    """A distribution as its metadata describe it."""

    name: str = UNKNOWN
    version: str = UNKNOWN
    homepage: str = ""
    unmet: str | None = None
    """What it requires of the gateway that this gateway is not."""


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
    """Return our entry points of every distribution; this reads the disk, so do it once.

    Of two distributions with one name the first on the path counts, as for Python's imports.
    """
    found: dict[str, list[Offer]] = {}
    for number, distribution in enumerate(metadata.distributions()):
        if made := _offers(distribution):
            name = made[0].origin.name
            found.setdefault(f"{number}" if name == UNKNOWN else canonical(name), made)
    return [offer for made in found.values() for offer in made]


def _offers(distribution: metadata.Distribution) -> list[Offer]:
    """Return what one distribution offers; nothing when its entry points cannot be read."""
    try:
        if _OURS not in (distribution.read_text("entry_points.txt") or ""):
            return []
        entries = list(distribution.entry_points)
    # Damaged files of any distribution, of which Python's reader makes anything at all.
    except (AttributeError, KeyError, OSError, TypeError, ValueError) as error:
        _log.debug("entry points that cannot be read: %s", type(error).__name__)
        return []
    ours = [(match, entry) for entry in entries if (match := _GROUP.fullmatch(entry.group))]
    origin = _origin(distribution) if ours else Origin()
    return [Offer(match[1], int(match[2]), entry, origin) for match, entry in ours]


def _origin(distribution: metadata.Distribution) -> Origin:
    """Describe a distribution, even one whose metadata are damaged or gone."""
    try:
        described = distribution.metadata
    except (AttributeError, KeyError, OSError, TypeError, ValueError):
        described = None
    if described is None:
        return Origin(_place(distribution))
    name = next(iter(described.get_all("Name") or ()), "")
    version = next(iter(described.get_all("Version") or ()), "") or UNKNOWN
    unmet = unmet_host(map(str, described.get_all("Requires-Dist") or ()))
    return Origin(str(name) or _place(distribution), str(version), _homepage(described), unmet)


def _place(distribution: metadata.Distribution) -> str:
    """Return what a person finds a distribution without a name by: the path of its metadata."""
    # Python's own class keeps the path to itself; whoever else makes distributions may have none.
    return str(vars(distribution).get("_path", UNKNOWN))


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
            key = (ref.kind, ref.name, canonical(ref.distribution))
            known = unique.get(key)
            # A distribution may offer one name for several versions of the API; ours counts.
            if known is None or offer.api_version == API_VERSION:
                unique[key] = (offer, ref)
    judged = [_judged(offer, ref, disabled) for offer, ref in unique.values()]
    judged.sort(key=lambda ref: (ref.kind != PluginKind.PROVIDER, ref.name, ref.distribution))
    return list(_conflicts(judged))


def _ref(offer: Offer) -> PluginRef:
    return PluginRef(
        kind=_KINDS[offer.subject],
        name=offer.entry.name,
        distribution=offer.origin.name,
        version=offer.origin.version,
        homepage=offer.origin.homepage,
        entry=offer.entry,
    )


def _judged(offer: Offer, ref: PluginRef, disabled: frozenset[str]) -> PluginRef:
    if disabled & {"*", *ref.names}:
        detail = f"{ref.origin} is disabled by [plugins].disabled or S1GW_DISABLED_PLUGINS"
        return attrs.evolve(ref, state=PluginState.DISABLED, detail=detail)
    if offer.api_version != API_VERSION:
        versions = f"plugin API v{offer.api_version}; this gateway offers v{API_VERSION}"
        detail = f"{ref.origin} is written for {versions}"
        return attrs.evolve(ref, state=PluginState.INCOMPATIBLE, detail=detail)
    if unmet := offer.origin.unmet:
        detail = f"{ref.origin} requires {unmet}, and this is {__version__}; upgrade one of the two"
        return attrs.evolve(ref, state=PluginState.INCOMPATIBLE, detail=detail)
    return ref


def _conflicts(refs: list[PluginRef]) -> Iterator[PluginRef]:
    for ref in refs:
        rivals = [
            other.origin
            for other in refs
            if (other.kind, other.name, other.state) == (ref.kind, ref.name, PluginState.AVAILABLE)
        ]
        if ref.state is PluginState.AVAILABLE and len(rivals) > 1:
            detail = f"offered by {' and '.join(rivals)}; disable or uninstall all but one"
            yield attrs.evolve(ref, state=PluginState.CONFLICT, detail=detail)
        else:
            yield ref
