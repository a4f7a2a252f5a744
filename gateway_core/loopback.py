"""What counts as this machine: one definition, for every part that asks.

Judged by the text, without DNS: an address of the loopback networks in any spelling that a
resolver takes, or ``localhost`` and the names below it (RFC 6761, section 6.3).
"""

from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final

Address = IPv4Address | IPv6Address
_NAME: Final = "localhost"


@lru_cache(maxsize=4096)
def literal(host: str) -> Address | None:
    """Return the address that ``host`` spells, or None when it is a name.

    Takes every spelling that a resolver takes: dotted, one to four parts, octal, hexadecimal
    (``inet_aton``), IPv6 with or without a zone, and a trailing dot.
    """
    text = host.rstrip(".").partition("%")[0]
    try:
        return ip_address(text)
    except ValueError:
        pass
    # Most hosts are names or plain addresses of a configuration that sends nothing yet.
    from socket import inet_aton

    try:
        return IPv4Address(inet_aton(text))
    except (OSError, ValueError):
        return None


def is_loopback(host: str) -> bool:
    """Say whether ``host``, a name or an address without brackets, is this machine."""
    address = literal(host)
    if address is not None:
        mapped = getattr(address, "ipv4_mapped", None)
        return (mapped or address).is_loopback
    name = host.rstrip(".").lower()
    return name == _NAME or name.endswith(f".{_NAME}")
