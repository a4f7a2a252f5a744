"""What each kind of caller may do: the one table that every route reads."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

import attrs


class CallerKind(StrEnum):
    """The kinds of caller, which differ in whose credentials their calls use."""

    ORG = "org"
    """An organization: its own enabled providers, and nobody else's."""
    INTERNAL = "internal"
    """An internal platform: a customer's key comes with the call, for a vendor it names."""
    MANAGED = "managed"
    """A licence's managed-service token: refused, since it brings no key."""
    OPERATOR = "operator"
    """Anyone, while authentication is disabled: the operator's own providers."""


@attrs.frozen(kw_only=True)
class Rights:
    """What callers of one kind may do.

    Attributes:
        own_providers: send to providers whose credentials are saved in the configuration.
        vendors: send to a vendor that the model names, with a customer's key.
        asks: have questions answered, over HTTP and MCP.
        lists: list the models that they may name.
    """

    own_providers: bool = False
    vendors: bool = False
    asks: bool = False
    lists: bool = False


RIGHTS: Final[Mapping[CallerKind, Rights]] = {
    CallerKind.ORG: Rights(own_providers=True, asks=True, lists=True),
    CallerKind.INTERNAL: Rights(vendors=True, lists=True),
    CallerKind.MANAGED: Rights(),
    CallerKind.OPERATOR: Rights(own_providers=True, asks=True, lists=True),
}
