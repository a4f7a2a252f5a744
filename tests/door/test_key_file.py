"""The state file of the keys: what is read, what is refused, and many who write at once."""

import json
import multiprocessing
from pathlib import Path
from typing import Any

import pytest

from gateway_core.door.keys.file import changing_keys, read_keys
from gateway_core.door.keys.record import KeySettings, make_key
from gateway_core.door.keys.store import KeyStore
from gateway_core.door.rights import CallerKind
from gateway_core.errors import ConfigError, InvalidRequest


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A key file that is not there yet."""
    return tmp_path / "state" / "keys.json"


def add(path: Path) -> None:
    record, _ = make_key(KeySettings(org="acme"))
    with changing_keys(path) as keys:
        keys[record.id] = record


WRITTEN = {
    "id": "a",
    "sha256": "ab" * 32,
    "kind": "org",
    "org": "acme",
    "name": "",
    "models": ["m"],
    "providers": [],
    "addresses": ["10.0.0.0/8"],
    "rpm": 5,
    "concurrency": None,
    "created": "2026-01-01T00:00:00Z",
    "expires": "2027-01-01T00:00:00Z",
    "revoked": None,
}
"""A key as the first version of the file has it."""


def test_the_first_version_of_the_file_is_read_and_written_again(path: Path) -> None:
    path.parent.mkdir()
    path.write_text(json.dumps({"version": 1, "keys": [WRITTEN]}))
    with changing_keys(path) as keys:
        assert keys["a"].models == ("m",)
    assert json.loads(path.read_text()) == {"version": 1, "keys": [WRITTEN]}


@pytest.mark.parametrize(
    "content",
    [
        "[]",
        '{"version": 2, "keys": []}',
        '{"version": 1, "keys": [{"id": "a"}]}',
        *(
            json.dumps({"version": 1, "keys": [WRITTEN | fault]})
            for fault in (
                {"sha256": "zz"},
                {"org": None},
                {"rpm": 0},
                {"addresses": ["x"]},
                {"expires": "2027-01-01T00:00:00"},
            )
        ),
    ],
)
def test_a_file_of_something_else_is_a_clear_fault(path: Path, content: str) -> None:
    path.parent.mkdir()
    path.write_text(content)
    with pytest.raises(ConfigError, match="the key file"):
        KeyStore(path)


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"org": None}, "org"),
        ({"org": None, "kind": CallerKind.MANAGED}, "org"),
        ({"rpm": 0}, "rpm"),
        ({"concurrency": -1}, "concurrency"),
        ({"addresses": ("10.0.0.0/33",)}, "addresses"),
        ({"addresses": ("10.0.0.1/8",)}, "addresses"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        KeySettings(**{"org": "acme", **settings})
    assert caught.value.field == field


def _add_many(path: Path, count: int) -> None:
    for _ in range(count):
        add(path)


def test_processes_that_write_at_once_lose_nothing(path: Path) -> None:
    workers = [
        multiprocessing.get_context("spawn").Process(target=_add_many, args=(path, 10))
        for _ in range(3)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=60)
        assert worker.exitcode == 0
    assert len(read_keys(path)) == 30


def test_a_failed_change_leaves_the_file_as_it_was(path: Path) -> None:
    add(path)
    before = path.read_bytes()

    def fail() -> None:
        with changing_keys(path) as keys:
            keys.clear()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert path.read_bytes() == before
    assert {file.name for file in path.parent.iterdir()} <= {"keys.json", "keys.lock"}
