"""Environment variables that say yes or no; apart, since a start that reads nothing else asks."""

from collections.abc import Mapping
from typing import Final

SWITCHES: Final[Mapping[str, bool]] = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}
"""The words that environment variables have for true and false."""

_STRICT_PLUGINS: Final = "S1GW_STRICT_PLUGINS"


def is_strict(environ: Mapping[str, str]) -> bool:
    """Return whether ``S1GW_STRICT_PLUGINS`` makes every fault fatal: 1, true, yes or on."""
    return SWITCHES.get(environ.get(_STRICT_PLUGINS, "").strip().lower(), False)
