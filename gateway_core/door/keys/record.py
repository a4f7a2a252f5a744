"""What is kept of a key: everything but the key."""

import secrets
from datetime import UTC, datetime
from hashlib import sha256
from ipaddress import ip_network
from sys import intern
from typing import Final

import attrs

from gateway_core.config.model import LimitsConfig
from gateway_core.door.callers import Caller
from gateway_core.door.rights import CallerKind
from gateway_core.errors import InvalidRequest
from gateway_core.secret import Secret

PREFIX: Final = "s1gw"
_ID_BYTES: Final = 6
_SECRET_BYTES: Final = 32
_ID_BEGINS: Final = len(PREFIX) + 1
ID_PART: Final = slice(_ID_BEGINS, _ID_BEGINS + 2 * _ID_BYTES)
"""Where a key has its id."""
_ALL: Final[frozenset[str]] = frozenset()
"""One object for all keys without a list, since every request looks at it."""
_NEVER: Final = float("inf")


@attrs.frozen(kw_only=True)
class KeySettings:
    """What a key is allowed.

    Attributes:
        kind: whose credentials its calls use.
        org: its organization; an internal key may have none.
        name: what a person calls it.
        models: the models it may name; empty for all.
        providers: the provider ids it may use; empty for all.
        addresses: the networks it may call from; empty for all.
        rpm: its requests a minute.
        concurrency: its requests under way at once.
        expires: when it stops working by itself.
    """

    kind: CallerKind = CallerKind.ORG
    org: str | None = None
    name: str = ""
    models: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    rpm: int | None = None
    concurrency: int | None = None
    expires: datetime | None = None

    def __attrs_post_init__(self) -> None:
        """Check the settings; raise ``InvalidRequest`` naming the one at fault."""
        if self.org is None and self.kind is not CallerKind.INTERNAL:
            raise InvalidRequest("a key needs an organization, unless it is internal", "org")
        for field, value in (("rpm", self.rpm), ("concurrency", self.concurrency)):
            if value is not None and value < 1:
                raise InvalidRequest(f"{field} must be at least 1", field)
        if self.expires is not None and self.expires.tzinfo is None:
            raise InvalidRequest("expires needs a time zone, such as Z at its end", "expires")
        for address in self.addresses:
            _check_network(address)


@attrs.define(kw_only=True, eq=False, weakref_slot=False)
class KeyHolder(Caller):
    """A caller with a key.

    Attributes:
        digest: the hash of its key.
        expires: when the key stops working, in seconds of the epoch.
    """

    digest: bytes = attrs.field(repr=False)
    expires: float


@attrs.frozen(kw_only=True)
class KeyRecord(KeySettings):
    """One key, as the state file has it: its settings, and what the gateway keeps of it.

    Attributes:
        id: what names it in logs and commands; part of the key, and no secret.
        sha256: the hash of the whole key, in hex.
        created: when its secret was made.
        revoked: when it was revoked.
    """

    id: str
    sha256: str
    created: datetime
    revoked: datetime | None = None

    def state(self, now: datetime) -> str:
        """Return ``active``, ``expired`` or ``revoked``."""
        if self.revoked is not None:
            return "revoked"
        return "expired" if self.expires is not None and self.expires <= now else "active"

    def holder(self) -> KeyHolder:
        """Return who calls with this key; raise ``ValueError`` if its hash is none."""
        return KeyHolder(
            kind=self.kind,
            key_id=self.id,
            org=None if self.org is None else intern(self.org),
            models=frozenset(self.models) or _ALL,
            providers=frozenset(map(str.casefold, self.providers)) or _ALL,
            addresses=tuple(map(ip_network, self.addresses)),
            limits=LimitsConfig(rpm=self.rpm, concurrency=self.concurrency),
            digest=bytes.fromhex(self.sha256),
            expires=self.expires.timestamp() if self.expires else _NEVER,
        )


def make_key(settings: KeySettings) -> tuple[KeyRecord, Secret]:
    """Return a new key's record, and the key, which is never seen again."""
    key_id = secrets.token_hex(_ID_BYTES)
    key = _new_key(key_id)
    record = KeyRecord(
        id=key_id,
        sha256=digest(key).hex(),
        created=datetime.now(UTC),
        **attrs.asdict(settings),
    )
    return record, Secret(key)


def renew_key(record: KeyRecord) -> tuple[KeyRecord, Secret]:
    """Return the record with a new key in place of the old one, and that key."""
    key = _new_key(record.id)
    renewed = attrs.evolve(record, sha256=digest(key).hex(), created=datetime.now(UTC))
    return renewed, Secret(key)


def digest(key: str) -> bytes:
    """Return the hash that is kept of a key: it is random, so that no salt is needed."""
    return sha256(key.encode()).digest()


def id_of(text: str) -> str:
    """Return the id in a key; an id is returned as it is."""
    parts = text.split("_", 2)
    return parts[1] if len(parts) == 3 and parts[0] == PREFIX else text


def _new_key(key_id: str) -> str:
    return f"{PREFIX}_{key_id}_{secrets.token_urlsafe(_SECRET_BYTES)}"


def _check_network(address: str) -> None:
    try:
        ip_network(address)
    except ValueError:
        raise InvalidRequest(
            f"addresses: {address!r} is not an address or network such as 10.1.0.0/16", "addresses"
        ) from None
