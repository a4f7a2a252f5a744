"""One place in the chain."""

import attrs

from gateway_core.errors import ConfigError
from gateway_core.provider import Provider


@attrs.frozen(kw_only=True)
class Link:
    """One place in the chain.

    Attributes:
        name: the provider's name.
        provider: the provider, or the fault that keeps it from being asked.
    """

    name: str
    provider: Provider | ConfigError
