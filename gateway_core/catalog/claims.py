"""What plugins say of themselves in their metadata, so that nothing is imported to ask.

A claim is an entry point in the group ``gateway_core.claims.v1``, named ``kind.value``, with
the same target as the plugin that it speaks for.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import attrs

from gateway_core.api import API_VERSION
from gateway_core.catalog.refs import PluginKind, PluginRef, PluginState, canonical
from gateway_core.catalog.scan import Offer
from gateway_core.errors import PluginUnavailable

_LAST: Final = 50
_WAYS_OUT: Final = {"key": "disable one, or write api_key into the table of the one it is for"}
CLAIM_KINDS: Final = ("host", "vendor", "format", "key", "order", "embedded")
_EXCLUSIVE: Final = ("host", "vendor", "format", "key")
"""The kinds of claims that decide where a credential goes."""
_OTHERWISE: Final = "disable one, or name a dialect"


@attrs.frozen
class Claim:
    """One claim of one provider.

    Attributes:
        kind: ``host`` (it is at home on this host name), ``vendor`` (this provider id means
            it), ``format`` (it is the generic dialect of this wire format), ``key`` (this
            environment variable usually holds its credential), ``order`` (its place in the
            automatic chain) or ``embedded`` (it works in process with nothing configured).
        value: what is claimed.
        ref: the provider.
    """

    kind: str
    value: str
    ref: PluginRef


def read_claims(found: Iterable[Offer], refs: Sequence[PluginRef]) -> Iterator[Claim]:
    """Return the claims of every provider that could be used."""
    owners = {
        (canonical(ref.distribution), ref.entry.value): ref
        for ref in refs
        if ref.kind is PluginKind.PROVIDER
        and ref.state in (PluginState.AVAILABLE, PluginState.CONFLICT)
    }
    for offer in found:
        if offer.subject == "claims" and offer.api_version == API_VERSION:
            owner = canonical(offer.origin.name)
            kind, _, value = offer.entry.name.partition(".")
            if ref := owners.get((owner, offer.entry.value)):
                yield Claim(kind, value, ref)


@attrs.frozen
class Claims:
    """All claims, to be asked both ways."""

    claims: Sequence[Claim]

    def dialect(self, kind: str, value: str) -> str | None:
        """Return the dialect that claims ``value``, or None.

        Raises:
            PluginUnavailable: several dialects do; whom to send a credential is not guessed.
        """
        found = {claim.ref.name: claim.ref for claim in self.claims if self._is(claim, kind, value)}
        if len(found) > 1:
            raise PluginUnavailable(_rivalry(kind, value, found.values()))
        return next(iter(found), None)

    @property
    def conflicts(self) -> Sequence[str]:
        """One sentence for each thing that several dialects claim, and only one may have."""
        found: dict[tuple[str, str], dict[str, PluginRef]] = {}
        for claim in self.claims:
            if claim.kind in _EXCLUSIVE:
                rivals = found.setdefault((claim.kind, _same(claim.kind, claim.value)), {})
                rivals[claim.ref.name] = claim.ref
        return [_rivalry(*what, refs.values()) for what, refs in found.items() if len(refs) > 1]

    def values(self, kind: str, dialect: str) -> list[str]:
        """Return what ``dialect`` claims of one kind, sorted."""
        mine = (c.value for c in self.claims if c.kind == kind and c.ref.name == dialect)
        return sorted(mine)

    def order(self, dialect: str) -> int:
        """Return the place of ``dialect`` in the automatic chain; lower comes first."""
        return min(
            (int(text) for text in self.values("order", dialect) if text.isdigit()), default=_LAST
        )

    @staticmethod
    def _is(claim: Claim, kind: str, value: str) -> bool:
        return claim.kind == kind and _same(kind, claim.value) == _same(kind, value)


def _same(kind: str, value: str) -> str:
    """Return the one spelling of a claimed value; variables of the environment have but one."""
    return value if kind == "key" else value.lower().rstrip(".")


def _rivalry(kind: str, value: str, refs: Iterable[PluginRef]) -> str:
    rivals = " and ".join(f"{ref.name} ({ref.origin})" for ref in sorted(refs, key=_name))
    return f"{kind} {value!r} is claimed by {rivals}; {_WAYS_OUT.get(kind, _OTHERWISE)}"


def _name(ref: PluginRef) -> str:
    return ref.name
