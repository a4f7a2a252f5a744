"""What is known of a plugin before it is imported."""

import re
from enum import StrEnum
from importlib.metadata import EntryPoint
from typing import Final

import attrs

UNKNOWN: Final = "unknown"


class PluginKind(StrEnum):
    """What a plugin is; each has an entry-point group of its own."""

    PROVIDER = "provider"
    MIDDLEWARE = "middleware"

    @property
    def label(self) -> str:
        """What one plugin of this kind is called in a message."""
        return "dialect" if self is PluginKind.PROVIDER else "middleware"


class PluginState(StrEnum):
    """Whether a plugin can be used."""

    AVAILABLE = "available"
    """Installed and not imported so far."""
    DISABLED = "disabled"
    """Named in ``[plugins].disabled`` or ``S1GW_DISABLED_PLUGINS``; never imported."""
    CONFLICT = "conflict"
    """Two distributions offer the same name; neither is imported."""
    INCOMPATIBLE = "incompatible"
    """For another version of the plugin API, or of the gateway; never imported."""
    LOADED = "loaded"
    """Imported."""
    BROKEN = "broken"
    """Importing it failed."""


@attrs.frozen(kw_only=True)
class PluginRef:
    """One plugin of one distribution.

    Attributes:
        kind: provider or middleware.
        name: the entry point's name; a provider's is its dialect.
        distribution: the installed distribution's name.
        version: its version.
        homepage: its home page, or an empty text.
        state: whether it can be used.
        detail: why it is in this state, naming distribution and version; else empty.
        entry: where its class is.
    """

    kind: PluginKind
    name: str
    distribution: str
    version: str
    homepage: str = ""
    state: PluginState = PluginState.AVAILABLE
    detail: str = ""
    entry: EntryPoint = attrs.field(repr=False, eq=False)

    @property
    def origin(self) -> str:
        """The distribution and its version, as every message names them."""
        return f"{self.distribution} {self.version}"

    @property
    def names(self) -> tuple[str, str]:
        """The two names under which it can be disabled."""
        return self.name, canonical(self.distribution)


def canonical(name: str) -> str:
    """Return a distribution's name in its normal form (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()
