"""The catalogue: which plugins there are, and the one place where they are imported."""

import contextlib
import difflib
import sys
from collections.abc import Iterable, Sequence
from typing import Final

import attrs

from gateway_core.catalog.claims import Claims, read_claims
from gateway_core.catalog.refs import PluginKind, PluginRef, PluginState, canonical
from gateway_core.catalog.scan import offers, plugin_refs
from gateway_core.errors import PluginUnavailable
from gateway_core.passing import is_passing
from gateway_core.places import place_of

_TEXT_LIMIT: Final = 300


@attrs.define(eq=False)
class Catalog:
    """The installed plugins.

    Attributes:
        claims: what providers say of themselves in their metadata.
        unknown_disabled: names that are disabled though nothing so named is installed.
    """

    claims: Claims
    unknown_disabled: Sequence[str]
    _refs: dict[tuple[PluginKind, str, str], PluginRef]
    _classes: dict[tuple[PluginKind, str], type] = attrs.field(factory=dict, init=False)

    @classmethod
    def installed(cls, disabled: Iterable[str] = ()) -> "Catalog":
        """Read the metadata of what is installed; imports no plugin.

        Args:
            disabled: dialects and distributions that are not to be used; ``*`` for all.
        """
        found = offers()
        names = tuple(disabled)
        refs = plugin_refs(found, frozenset((*names, *map(canonical, names))))
        known = {"*", *(name for ref in refs for name in ref.names)}
        unknown = [name for name in names if known.isdisjoint((name, canonical(name)))]
        table = {(ref.kind, ref.name, ref.distribution): ref for ref in refs}
        return cls(Claims(list(read_claims(found, refs))), unknown, table)

    @property
    def refs(self) -> Sequence[PluginRef]:
        """Every plugin, providers first, sorted by name, in its state of now."""
        return tuple(self._refs.values())

    def claim(self, kind: str, value: str) -> str | None:
        """Return the dialect that claims ``value``; see ``Claims.dialect``."""
        return self.claims.dialect(kind, value)

    def available(self, kind: PluginKind = PluginKind.PROVIDER) -> Sequence[str]:
        """Return the names that can be loaded, sorted."""
        usable = (PluginState.AVAILABLE, PluginState.LOADED)
        return [ref.name for ref in self.refs if ref.kind is kind and ref.state in usable]

    def load(self, name: str, kind: PluginKind = PluginKind.PROVIDER) -> type:
        """Import the class of a plugin, once.

        Raises:
            PluginUnavailable: it is not installed, or its state forbids it, or its import
                failed; the text names distribution and version.
        """
        known = self._classes.get((kind, name))
        if known is not None:
            return known
        ref = self.require(name, kind)
        try:
            found = _imported(ref)
        except KeyboardInterrupt:
            raise
        # A plugin is a stranger's code: one that calls sys.exit() while it is imported, or whose
        # extension module panics, which is no Exception, must not end the gateway.
        except BaseException as error:
            if is_passing(error):
                raise PluginUnavailable(_unusable(ref, f"{ref.origin}: {_told(error)}")) from error
            raise self._broken(ref, _told(error)) from error
        if not isinstance(found, type):
            raise self._broken(ref, f"{ref.entry.value} is not a class")
        self._mark(attrs.evolve(ref, state=PluginState.LOADED))
        self._classes[kind, name] = found
        return found

    def require(self, name: str, kind: PluginKind = PluginKind.PROVIDER) -> PluginRef:
        """Return the plugin of a name if it may be imported; imports nothing.

        Raises:
            PluginUnavailable: it is not installed, or its state forbids it.
        """
        named = [ref for ref in self.refs if (ref.kind, ref.name) == (kind, name)]
        if not named:
            raise PluginUnavailable(self._missing(name, kind))
        for ref in named:
            if ref.state in (PluginState.AVAILABLE, PluginState.LOADED):
                return ref
        raise PluginUnavailable(f"{kind.label} {name!r}: {'; '.join(_details(named))}")

    def _missing(self, name: str, kind: PluginKind) -> str:
        names = self.available(kind)
        if other := next((ref for ref in self.refs if ref.name == name), None):
            return f"no {kind.label} {name!r} is installed; it is {other.kind} of {other.origin}"
        close = difflib.get_close_matches(name, names, n=1)
        if close:
            return f"no {kind.label} {name!r} is installed; did you mean {close[0]!r}?"
        known = ", ".join(names) or "none"
        return (
            f"no {kind.label} {name!r} is installed; install its plugin, or remove what names it; "
            f"installed: {known}"
        )

    def _broken(self, ref: PluginRef, reason: str) -> PluginUnavailable:
        broken = attrs.evolve(ref, state=PluginState.BROKEN, detail=f"{ref.origin}: {reason}")
        self._mark(broken)
        return PluginUnavailable(_unusable(ref, broken.detail))

    def _mark(self, ref: PluginRef) -> None:
        self._refs[ref.kind, ref.name, ref.distribution] = ref


def _unusable(ref: PluginRef, detail: str) -> str:
    return f"{ref.kind.label} {ref.name!r}: {detail}"


def _details(refs: Iterable[PluginRef]) -> list[str]:
    """Return each detail once: the rivals of a conflict all tell the same."""
    return list(dict.fromkeys(ref.detail for ref in refs))


def _told(error: BaseException) -> str:
    """Return what failed; in words only where they are Python's own: others may hold anything."""
    kind = type(error).__name__
    if not isinstance(error, ImportError | AttributeError | NameError | SyntaxError):
        return f"importing it raised {kind}{place_of(error)}"
    return f"{kind}: {' '.join(str(error).split())[:_TEXT_LIMIT]}"


def _imported(ref: PluginRef) -> object:
    # stdout carries the MCP protocol or a program's JSON, and modules print while imported.
    with contextlib.redirect_stdout(sys.stderr):
        found: object = ref.entry.load()
    return found
