"""``NO_PROXY``: which destinations are reached directly."""

import re
from collections.abc import Callable
from ipaddress import ip_network
from typing import Final

from gateway_core.loopback import Address, is_loopback, literal
from gateway_core.outbound.addresses import Network
from gateway_core.outbound.target import Target

_PORT: Final = re.compile(r"[0-9]{1,5}")
_Rule = Callable[[str, int, Address | None], bool]


class NoProxy:
    """The entries of ``NO_PROXY``; what is no entry is passed over.

    An entry is ``*``, a host (which covers its subdomains, as in curl), ``.suffix``,
    ``*.suffix``, any of these with ``:port``, an address, bare or in brackets, or a network in
    CIDR notation, which counts for hosts that are literal addresses.
    """

    def __init__(self, text: str) -> None:
        entries = (entry.strip().lower() for entry in text.replace(",", " ").split())
        self._rules = [rule for entry in entries if (rule := _rule(entry)) is not None]

    def covers(self, target: Target) -> bool:
        """Whether ``target`` is to be reached directly; loopback always is."""
        if is_loopback(target.host):
            return True
        address = literal(target.host)
        host = target.host.rstrip(".")
        return any(rule(host, target.port, address) for rule in self._rules)


def _rule(entry: str) -> _Rule | None:
    if entry == "*":
        return lambda _host, _port, _address: True
    network = _network(entry)
    if network is not None:
        return lambda _host, _port, address: _within(address, network)
    name, port = _split_port(entry)
    own = literal(name)
    if own is not None:
        return lambda _host, at, address: address == own and port in (None, at)
    suffix = name.removeprefix("*").strip(".")
    if not suffix:
        return None
    bare = not name.startswith((".", "*"))
    return lambda host, at, _address: _named(host, suffix, bare=bare) and port in (None, at)


def _named(host: str, suffix: str, *, bare: bool) -> bool:
    return host.endswith("." + suffix) or (bare and host == suffix)


def _within(address: Address | None, network: Network) -> bool:
    return address is not None and address.version == network.version and address in network


def _network(entry: str) -> Network | None:
    if "/" not in entry:
        return None
    try:
        return ip_network(entry.replace("[", "").replace("]", ""), strict=False)
    except ValueError:
        return None


def _split_port(entry: str) -> tuple[str, int | None]:
    """Split ``host:port``; a bare IPv6 address has no port, and a bad port leaves no entry."""
    if entry.startswith("["):
        name, _, rest = entry[1:].partition("]")
        port = rest.removeprefix(":")
    else:
        name, colon, port = entry.rpartition(":")
        if not colon or ":" in name:
            return entry, None
    if not port:
        return name, None
    return (name, int(port)) if _PORT.fullmatch(port) else ("", None)
