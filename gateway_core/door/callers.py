"""Who calls: an organization, an internal platform, a managed token, or the operator."""

from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import TYPE_CHECKING, Final

import attrs

from gateway_core.config.model import LimitsConfig
from gateway_core.door.rights import RIGHTS, CallerKind, Rights
from gateway_core.errors import RelayRefused
from gateway_core.http1.messages import Headers
from gateway_core.secret import Secret

if TYPE_CHECKING:
    from gateway_core.door.limits.counting import Bounds

Network = IPv4Network | IPv6Network
_PREFERRED: Final = b"x-agentcc-provider-key"
_OTHER: Final = b"x-s1gw-provider-key"


@attrs.define(kw_only=True, eq=False, weakref_slot=False)
class Caller:
    """An authenticated caller and what it may do.

    Attributes:
        kind: whose credentials its calls use.
        key_id: the id of its key; not a secret.
        org: its organization, if it has one.
        models: the models it may name, bare or prefixed; empty for all.
        providers: the provider ids it may use, case-folded; empty for all.
        addresses: the networks it may call from; empty for all.
        limits: the key's own limits.
        bounds: what its requests count against, once that is known.
        rights: what callers of its kind may do.
    """

    kind: CallerKind
    key_id: str = "-"
    org: str | None = None
    models: frozenset[str] = frozenset()
    providers: frozenset[str] = frozenset()
    addresses: tuple[Network, ...] = ()
    limits: LimitsConfig = attrs.field(factory=LimitsConfig)
    bounds: "Bounds | None" = attrs.field(default=None, repr=False)
    rights: Rights = attrs.field(init=False, repr=False)

    @rights.default
    def _rights_of_its_kind(self) -> Rights:
        return RIGHTS[self.kind]

    def may_use(self, provider_id: str, model: str) -> bool:
        """Say whether the key's lists allow ``model`` of a provider."""
        if self.providers and provider_id.casefold() not in self.providers:
            return False
        return not self.models or not self.models.isdisjoint((model, f"{provider_id}/{model}"))

    def may_call_from(self, address: str) -> bool:
        """Say whether the key's networks hold ``address``."""
        return not self.addresses or _inside(self.addresses, address)


OPERATOR: Final = Caller(kind=CallerKind.OPERATOR, bounds=())


@lru_cache(maxsize=4096)
def _inside(networks: tuple[Network, ...], address: str) -> bool:
    try:
        found = ip_address(address)
    except ValueError:
        return False
    mapped = getattr(found, "ipv4_mapped", None) or found
    return any(mapped in network for network in networks)


def bearer_token(headers: Headers) -> str:
    """Return the key of a request: ``Authorization: Bearer``, else ``x-api-key``, else nothing."""
    scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
    if scheme != b"Bearer" and scheme.lower() != b"bearer":
        token = headers.get(b"x-api-key", b"")
    return token.strip().decode("latin-1")


def customer_key(caller: Caller, headers: Headers) -> Secret | None:
    """Return the customer's provider key of a call to a vendor; None for one to own providers.

    Raises:
        RelayRefused: ``provider_key_header_not_allowed`` when the caller may not send one, or
            ``byok_required`` when it must.
    """
    value = headers.get(_PREFERRED, headers.get(_OTHER))
    rights = caller.rights
    if value is None and rights.own_providers:
        return None
    name = (_PREFERRED if _PREFERRED in headers or value is None else _OTHER).decode()
    if rights.vendors:
        return _usable_key(value, name)
    if value is not None:
        raise RelayRefused(
            "provider_key_header_not_allowed",
            f"a provider key in {name} is for internal callers; save the key on the"
            " organization's provider and remove the header",
            name,
        )
    raise RelayRefused(
        "byok_required",
        "a managed-service token has no provider key; use the organization's own API key",
    )


def require_listing(caller: Caller, headers: Headers) -> None:
    """Make sure that ``caller`` may list models, for which no customer's key is needed.

    Raises:
        RelayRefused: ``provider_key_header_not_allowed``, ``byok_required`` or
            ``permission_denied``.
    """
    if not caller.rights.vendors:
        customer_key(caller, headers)
    if not caller.rights.lists:
        raise RelayRefused("permission_denied", "the key may not list models")


def require_asking(caller: Caller, headers: Headers) -> None:
    """Make sure that ``caller`` may have questions answered.

    Raises:
        RelayRefused: ``provider_key_header_not_allowed``, ``byok_required`` or
            ``permission_denied``.
    """
    customer_key(caller, headers)
    if not caller.rights.asks:
        raise RelayRefused(
            "permission_denied", "questions are answered by an organization's own providers"
        )


def _usable_key(sent: bytes | None, name: str) -> Secret:
    key = (sent or b"").strip().decode("latin-1")
    if not key:
        raise RelayRefused(
            "byok_required", f"an internal call needs the customer's key in {name}", name
        )
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise RelayRefused(
            "invalid_request", f"the customer's key in {name} is not a header value", name
        )
    return Secret(key)
