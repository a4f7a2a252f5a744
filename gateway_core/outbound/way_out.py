"""What providers are given their way out by: the network's, or a stand-in for it."""

from typing import Protocol

from gateway_core.context import Endpoint, Sender
from gateway_core.outbound.policy import DestinationPolicy


class WayOut(Protocol):
    """Gives each provider its way out; ``Outbound`` is the one that reaches the network."""

    def sender(self, endpoint: Endpoint, policy: DestinationPolicy | None = None) -> Sender:
        """Return the way out of one provider; see ``Outbound.sender``."""
        ...

    async def aclose(self) -> None:
        """Close every connection."""
        ...
