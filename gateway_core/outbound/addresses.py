"""Which addresses a destination may have, each judged by what it means, not how it is spelt."""

from collections.abc import Iterator
from functools import lru_cache
from ipaddress import (
    IPv4Address,
    IPv4Network,
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
PRIVATE: Final = _networks("10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10 fc00::/7")

# IPv4-compatible (RFC 4291), IPv4-mapped, IPv4-translated (RFC 2765) and NAT64 (RFC 6052, RFC
# 8215) carry the IPv4 address in their last four bytes; NAT64 under a 48-bit prefix may carry
# it around bits 64 to 71 (RFC 6052, section 2.2), 6to4 (RFC 3056) right after its prefix, and
# Teredo (RFC 4380) inverted at the end.
_EMBEDDING: Final = _networks("::/96 ::ffff:0:0/96 ::ffff:0:0:0/96 64:ff9b::/96 64:ff9b:1::/48")
_LOCAL_NAT64: Final = IPv6Network("64:ff9b:1::/48")
_SIX_TO_FOUR: Final = IPv6Network("2002::/16")
_TEREDO: Final = IPv6Network("2001::/32")


@lru_cache(maxsize=4096)
def allowed(address: Address, *, allow_private: bool) -> bool:
    """Whether a destination may have ``address``, in each of its meanings."""
    refused = FORBIDDEN if allow_private else FORBIDDEN + PRIVATE
    return not any(
        meaning in network
        for meaning in _meanings(address)
        for network in refused
        if network.version == meaning.version
    )


def _meanings(address: Address) -> Iterator[Address]:
    """Yield the address itself and every IPv4 address that it embeds."""
    yield address
    if isinstance(address, IPv4Address):
        return
    packed = address.packed
    if any(address in network for network in _EMBEDDING):
        yield IPv4Address(packed[12:])
    if address in _LOCAL_NAT64:
        yield IPv4Address(packed[6:8] + packed[9:11])
    if address in _SIX_TO_FOUR:
        yield IPv4Address(packed[2:6])
    if address in _TEREDO:
        yield IPv4Address(bytes(byte ^ 0xFF for byte in packed[12:]))
