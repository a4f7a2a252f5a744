"""Which versions of the gateway a distribution says it works with."""

import re
from collections.abc import Iterable
from typing import Final

from gateway_core.version import __version__

_NAMED: Final = re.compile(r"s1gw(?![\w.-])(?:\s*\[[^\]]*\])?([^;]*)(?:;(.*))?", re.IGNORECASE)
_MAJOR, _MINOR, *_ = __version__.split(".")
_USUAL: Final = frozenset({f">={_MAJOR}.{_MINOR}", f"<{_MAJOR}.{int(_MINOR) + 1}"})
"""What ``s1gw plugins new`` writes: it fits without being parsed."""


def unmet_host(requirements: Iterable[str]) -> str | None:
    """Return what a distribution requires of the gateway that this gateway is not.

    An installer keeps such a plugin out, unless it is told to ignore what is required.

    Args:
        requirements: the distribution's ``Requires-Dist`` lines; those with a marker, such as
            the ones of its extras, are left out.
    """
    for text in requirements:
        named = _NAMED.fullmatch(text.strip())
        if named and named[2] is None and not _fits(wanted := named[1].strip(" ()")):
            return f"s1gw {wanted}"
    return None


def _fits(wanted: str) -> bool:
    if {part.strip() for part in wanted.split(",")} <= _USUAL | {""}:
        return True
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        return SpecifierSet(wanted).contains(__version__, prereleases=True)
    except InvalidSpecifier:
        return True  # nobody can tell, and its import will
