"""Keys are random, kept as hashes, and stop working when they should."""

import hashlib
import os
import resource
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import attrs
import pytest

from benchmarks.instructions import InstructionCounter
from gateway_core.door.keys.file import changing_keys
from gateway_core.door.keys.record import KeyRecord, KeySettings, make_key, renew_key
from gateway_core.door.keys.store import LOOK_S, KeyStore
from gateway_core.door.rights import CallerKind
from gateway_core.errors import ConfigError, RelayRefused


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "keys.json"


def add(path: Path, **settings: Any) -> tuple[KeyRecord, str]:
    record, key = make_key(KeySettings(**{"org": "acme", **settings}))
    with changing_keys(path) as keys:
        keys[record.id] = record
    return record, key.reveal()


def change(path: Path, record: KeyRecord) -> None:
    with changing_keys(path) as keys:
        keys[record.id] = record


def test_a_key_is_found_with_what_it_may_do(path: Path) -> None:
    record, key = add(path, models=("m",), providers=("OpenAI",), rpm=5, concurrency=2)
    caller = KeyStore(path).find(key)
    assert caller is not None
    assert (caller.kind, caller.org, caller.key_id) == (CallerKind.ORG, "acme", record.id)
    assert (caller.limits.rpm, caller.limits.concurrency) == (5, 2)
    assert caller.may_use("openai", "m")
    assert not caller.may_use("openai", "n")
    assert not caller.may_use("typesafe", "m")


def test_a_model_may_be_allowed_with_its_providers_id(path: Path) -> None:
    _, key = add(path, models=("typesafe/m",))
    caller = KeyStore(path).find(key)
    assert caller is not None
    assert caller.may_use("typesafe", "m")
    assert not caller.may_use("other", "m")


def test_only_a_hash_is_kept_and_only_the_owner_may_read_it(path: Path) -> None:
    _, key = add(path)
    text = path.read_text()
    assert key not in text
    assert key.rpartition("_")[2] not in text
    assert hashlib.sha256(key.encode()).hexdigest() in text
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_keys_are_long_and_all_different() -> None:
    made = {make_key(KeySettings(org="acme"))[1].reveal() for _ in range(200)}
    assert len(made) == 200
    assert all(len(key) >= 43 and key.startswith("s1gw_") for key in made)


@pytest.mark.parametrize("change_key", [lambda k: k + "x", lambda k: k[:-1], str.upper, str.title])
def test_another_secret_with_a_known_id_is_not_a_key(path: Path, change_key: Any) -> None:
    _, key = add(path)
    assert KeyStore(path).find(change_key(key)) is None


@pytest.mark.parametrize("text", ["", "s1gw", "s1gw__", "sk-1", "s1gw_\ud800_x", "é" * 50])
def test_what_is_no_key_at_all_is_not_found(path: Path, text: str) -> None:
    add(path)
    assert KeyStore(path).find(text) is None


def test_an_id_alone_is_not_a_key(path: Path) -> None:
    record, _ = add(path)
    assert KeyStore(path).find(record.id) is None


def test_an_expired_key_is_not_found(path: Path) -> None:
    now = datetime.now(UTC)
    _, over = add(path, expires=now - timedelta(seconds=1))
    _, lasting = add(path, expires=now + timedelta(hours=1))
    store = KeyStore(path)
    assert store.find(over) is None
    assert store.find(lasting) is not None


def test_a_store_that_is_open_sees_a_revocation_within_a_second(path: Path) -> None:
    record, key = add(path)
    _, other = add(path)
    store = KeyStore(path)
    assert store.find(key) is not None
    change(path, attrs.evolve(record, revoked=datetime.now(UTC)))
    # How long this machine takes is its own affair: the second is the store's.
    assert LOOK_S < 1
    until = time.monotonic() + 60
    while store.find(key) is not None:
        assert time.monotonic() < until
    assert store.find(other) is not None


def test_a_store_that_is_open_sees_new_keys_and_the_loss_of_the_file(path: Path) -> None:
    store = KeyStore(path, look_s=0)
    _, key = add(path)
    assert store.find(key) is not None
    path.unlink()
    assert store.find(key) is None


def test_a_renewed_key_replaces_the_old_one_under_the_same_id(path: Path) -> None:
    record, old = add(path, rpm=7)
    renewed, new = renew_key(record)
    change(path, renewed)
    store = KeyStore(path)
    assert store.find(old) is None
    caller = store.find(new.reveal())
    assert caller is not None
    assert (caller.key_id, caller.limits.rpm) == (record.id, 7)


def test_damage_from_outside_leaves_an_open_store_with_what_it_has(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    _, key = add(path)
    store = KeyStore(path, look_s=0)
    path.write_text("{")
    assert store.find(key) is not None
    assert store.find(key) is not None
    assert caplog.text.count("the key file cannot be read") == 1
    with pytest.raises(ConfigError):
        KeyStore(path)


@contextmanager
def no_descriptor_left() -> Iterator[None]:
    """Let this process open no more files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest_free = os.dup(0)
    os.close(lowest_free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_revocation_that_could_not_be_read_at_first_is_seen_later(path: Path) -> None:
    record, key = add(path)
    store = KeyStore(path, look_s=0)
    change(path, attrs.evolve(record, revoked=datetime.now(UTC)))
    with no_descriptor_left():
        assert store.find(key) is not None
    assert store.find(key) is None


def test_a_key_that_could_not_be_read_yet_is_not_called_unknown(path: Path) -> None:
    add(path)
    store = KeyStore(path, look_s=0)
    _, new = add(path)
    with no_descriptor_left(), pytest.raises(RelayRefused, match="short of descriptors") as caught:
        store.find(new)
    assert caught.value.headers == {"retry-after": "1"}
    assert store.find(new) is not None
    assert store.find(f"{new}x") is None


def test_five_thousand_keys_are_found_as_quickly_as_one(path: Path) -> None:
    _, only = add(path)
    one = KeyStore(path)
    with changing_keys(path) as keys:
        for number in range(5000):
            record, key = make_key(KeySettings(org=f"org-{number % 500}"))
            keys[record.id] = record
    many = KeyStore(path)
    assert len(many) == 5001

    def cost(store: KeyStore, token: str) -> int:
        assert store.find(token) is not None
        with InstructionCounter() as counter:
            for _ in range(50):
                assert store.find(token) is not None
        return counter.total

    # A search through all of them would cost thousands of times as much.
    # (Compiled, the store has no instructions to be counted.)
    assert cost(many, key.reveal()) <= 3 * cost(one, only)
