"""What can be done with keys; running servers see it within a second."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import attrs

from gateway_core.door.keys.file import changing_keys, keys_path, read_keys
from gateway_core.door.keys.record import KeyRecord, KeySettings, id_of, make_key, renew_key
from gateway_core.errors import InvalidRequest
from gateway_core.secret import Secret


def create_key(settings: KeySettings) -> tuple[KeyRecord, Secret]:
    """Make a key and keep its hash; the key itself is returned this once."""
    record, key = make_key(settings)
    with changing_keys(keys_path()) as known:
        known[record.id] = record
    return record, key


def revoke_key(key: str) -> KeyRecord:
    """Stop a key, named by its id or by itself.

    Raises:
        InvalidRequest: there is no such key.
    """
    with changing_keys(keys_path()) as known:
        record = _found(known, key)
        revoked = attrs.evolve(record, revoked=record.revoked or datetime.now(UTC))
        known[record.id] = revoked
    return revoked


def rotate_key(key: str) -> tuple[KeyRecord, Secret]:
    """Give a key a new secret under its old id and settings; the old one stops working.

    Raises:
        InvalidRequest: there is no such key, or it is revoked or expired.
    """
    with changing_keys(keys_path()) as known:
        record = _found(known, key)
        if (state := record.state(datetime.now(UTC))) != "active":
            # A new secret would not work either.
            raise InvalidRequest(f"{record.id} is {state}: make a new key instead", "id")
        renewed, fresh = renew_key(record)
        known[record.id] = renewed
    return renewed, fresh


def list_keys(org: str | None = None, *, show_all: bool = False) -> list[dict[str, Any]]:
    """Describe the active keys, or all, of one organization or of all."""
    found = [described(key) for key in read_keys(keys_path()) if org in (None, key.org)]
    return [key for key in found if show_all or key["state"] == "active"]


def described(record: KeyRecord) -> dict[str, Any]:
    """Return what may be shown of a key: everything but the key and its hash."""
    shown = attrs.asdict(record, filter=attrs.filters.exclude("sha256"), value_serializer=_plain)
    return {"id": record.id, **shown, "state": record.state(datetime.now(UTC))}


def _plain(_: object, __: object, value: Any) -> Any:
    return value.isoformat(timespec="seconds") if isinstance(value, datetime) else value


def _found(known: Mapping[str, KeyRecord], key: str) -> KeyRecord:
    record = known.get(id_of(key))
    if record is None:
        raise InvalidRequest("there is no such key; s1gw keys list --all shows them", "id")
    return record
