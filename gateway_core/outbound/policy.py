"""Where an organization's provider may live, checked before every request."""

import logging
from collections.abc import Sequence
from typing import Final

import attrs

from gateway_core.errors import DestinationBlocked
from gateway_core.loopback import Address, is_loopback, literal
from gateway_core.outbound.addresses import allowed

_log: Final = logging.getLogger("s1gw.outbound")
_BLOCKED: Final = "the destination policy forbids this host"

METADATA_NAMES: Final = frozenset(
    {
        "metadata",
        "metadata.google.internal",
        "metadata.goog",
        "instance-data",
        "instance-data.ec2.internal",
    }
)


@attrs.frozen(kw_only=True)
class DestinationPolicy:
    """The rules for destinations that a customer chose.

    Attributes:
        allow_private: whether private address ranges are allowed; loopback, link-local,
            multicast and metadata addresses never are.
    """

    allow_private: bool = False

    def forbids(self, host: str) -> bool:
        """Say whether ``host`` is forbidden by its text alone: nothing is looked up or logged."""
        address = literal(host)
        if address is not None:
            return not self._allows(address)
        return is_loopback(host) or host.rstrip(".").lower() in METADATA_NAMES

    def check_name(self, host: str) -> None:
        """Refuse the names of metadata services, in any case and with a trailing dot.

        Raises:
            DestinationBlocked: ``host`` is one of them.
        """
        if host.rstrip(".").lower() in METADATA_NAMES:
            _log.warning("blocked: %s is a metadata service", host)
            raise DestinationBlocked(_BLOCKED)

    def check_literal(self, host: str) -> str | None:
        """Return the address that ``host`` spells, once it is allowed; None for a name.

        Raises:
            DestinationBlocked: ``host`` is a forbidden address, or the name of a metadata service.
        """
        self.check_name(host)
        address = literal(host)
        if address is None:
            return None
        self.check_addresses(host, [str(address)])
        return str(address)

    def check_addresses(self, host: str, addresses: Sequence[str]) -> None:
        """Refuse ``host`` unless every one of its addresses is allowed.

        Raises:
            DestinationBlocked: one is not; only the operator's log says which.
        """
        for text in addresses:
            address = literal(text)
            if address is None or not self._allows(address):
                _log.warning("blocked: %s has the address %s", host, text)
                raise DestinationBlocked(_BLOCKED)

    def _allows(self, address: Address) -> bool:
        return allowed(address, allow_private=self.allow_private)
