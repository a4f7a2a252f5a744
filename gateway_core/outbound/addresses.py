"""Which addresses a destination may have, each judged by what it means, not how it is spelt."""

from collections.abc import Iterator
from functools import lru_cache
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_network,
)
from typing import Final

from gateway_core.loopback import Address

Network = IPv4Network | IPv6Network


def _networks(text: str) -> tuple[Network, ...]:
    return tuple(map(ip_network, text.split()))


# Loopback, unspecified, link-local, site-local, multicast, broadcast, cloud metadata services.
FORBIDDEN: Final = _networks(
    "0.0.0.0/8 127.0.0.0/8 169.254.0.0/16 224.0.0.0/4 255.255.255.255/32 "
    "100.100.100.200/32 168.63.129.16/32 192.0.0.192/32 "
    "::/128 ::1/128 fe80::/10 fec0::/10 ff00::/8 fd00:ec2::254/128 fd20:ce::254/128"
)
# What is set aside for a special purpose and not globally reachable, by IANA's IPv4 and IPv6
# Special-Purpose Address Registries; the IPv4 documentation networks stay, which lead nowhere.
NOT_GLOBAL: Final = _networks(
    "192.0.0.0/24 192.88.99.0/24 198.18.0.0/15 240.0.0.0/4 "
    "100::/64 100:0:0:1::/64 2001::/23 2001:db8::/32 3fff::/20 5f00::/16"
)
_GLOBAL_WITHIN: Final = _networks(
    "192.0.0.9/32 192.0.0.10/32 2001::/32 2001:1::1/128 2001:1::2/128 2001:1::3/128 "
    "2001:3::/32 2001:4:112::/48 2001:20::/28 2001:30::/28"
)
_UNICAST: Final = _networks(
    "2000::/3 64:ff9b::/96 64:ff9b:1::/48 fc00::/7 ::/96 ::ffff:0:0/96 ::ffff:0:0:0/96"
)
PRIVATE: Final = _networks("10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10 fc00::/7")

# IPv4-compatible (RFC 4291), IPv4-mapped, IPv4-translated (RFC 2765) and NAT64 (RFC 6052, RFC
# 8215) carry the IPv4 address in their last four bytes; NAT64 for local use may have a prefix of
# 48, 56 or 64 bits, too, and then carries it around bits 64 to 71 (RFC 6052, section 2.2). 6to4
# (RFC 3056) carries it right after its prefix, and Teredo (RFC 4380) inverted at the end.
_EMBEDDING: Final = _networks("::/96 ::ffff:0:0/96 ::ffff:0:0:0/96 64:ff9b::/96 64:ff9b:1::/48")
_LOCAL_NAT64: Final = IPv6Network("64:ff9b:1::/48")
_SIX_TO_FOUR: Final = IPv6Network("2002::/16")
_TEREDO: Final = IPv6Network("2001::/32")


@lru_cache(maxsize=4096)
def allowed(address: Address, *, allow_private: bool) -> bool:
    """Whether a destination may have ``address``, in each of its meanings."""
    refused = FORBIDDEN if allow_private else FORBIDDEN + PRIVATE
    return not any(
        _is_in(refused, meaning) or _leads_nowhere(meaning) for meaning in _meanings(address)
    )


def _is_in(networks: tuple[Network, ...], address: Address) -> bool:
    return any(address in each for each in networks if each.version == address.version)


def _leads_nowhere(address: Address) -> bool:
    """Whether no host of the Internet has ``address``, and none of a private network either."""
    if _is_in(NOT_GLOBAL, address):
        return not _is_in(_GLOBAL_WITHIN, address)
    # The rest of IPv6 is not handed out (RFC 4291, section 2.4).
    return isinstance(address, IPv6Address) and not _is_in(_UNICAST, address)


def _meanings(address: Address) -> Iterator[Address]:
    """Yield the address itself and every IPv4 address that it embeds."""
    yield address
    if isinstance(address, IPv4Address):
        return
    packed = address.packed
    if any(address in network for network in _EMBEDDING):
        yield IPv4Address(packed[12:])
    if address in _LOCAL_NAT64:
        without_gap = packed[:8] + packed[9:]
        yield from (IPv4Address(without_gap[start : start + 4]) for start in (6, 7, 8))
    if address in _SIX_TO_FOUR:
        yield IPv4Address(packed[2:6])
    if address in _TEREDO:
        yield IPv4Address(bytes(byte ^ 0xFF for byte in packed[12:]))
