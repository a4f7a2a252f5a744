"""``s1gw keys`` as people and scripts use it."""

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gateway_core.cli import main
from gateway_core.door.keys.file import changing_keys
from gateway_core.door.keys.record import KeySettings, make_key
from gateway_core.door.keys.store import KeyStore
from gateway_core.door.rights import CallerKind

Run = Callable[..., Result]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "keys.json"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    (tmp_path / "config.toml").write_text("[orgs.acme]\n[orgs.other]\n")

    def call(*words: str, code: int = 0) -> Result:
        environ = {
            **os.environ,
            "S1GW_STATE_DIR": str(tmp_path),
            "S1GW_CONFIG": str(tmp_path / "config.toml"),
        }
        result = CliRunner(env=environ).invoke(main, ["keys", *words])
        assert result.exit_code == code, result.output
        return result

    return call


def created(run: Run, *words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("create", "--json", *words).stdout)
    return found


def test_a_key_is_shown_once_and_alone_on_stdout(run: Run, path: Path) -> None:
    result = run("create", "--org", "acme")
    key = result.stdout.strip()
    assert KeyStore(path).find(key) is not None
    assert "not shown again" in result.stderr
    assert key not in run("list", "--all").output
    assert key not in run("list", "--json").output


def test_every_setting_reaches_the_key(run: Run, path: Path) -> None:
    words = ["--org", "acme", "--models", "a,b/c", "--providers", "openai", "--addresses"]
    words += ["10.0.0.0/8,::1", "--rpm", "5", "--concurrency", "2", "--name", "ci"]
    made = created(run, *words, "--expires", "12h")
    caller = KeyStore(path).find(made["key"])
    assert caller is not None
    assert caller.models == {"a", "b/c"}
    assert caller.providers == {"openai"}
    assert caller.may_call_from("10.1.2.3")
    assert caller.may_call_from("::ffff:10.1.2.3")
    assert not caller.may_call_from("192.0.2.1")
    assert not caller.may_call_from("nonsense")
    assert (caller.limits.rpm, caller.limits.concurrency) == (5, 2)


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (["--org", "acme"], CallerKind.ORG),
        (["--internal"], CallerKind.INTERNAL),
        (["--org", "acme", "--internal"], CallerKind.INTERNAL),
        (["--org", "acme", "--managed"], CallerKind.MANAGED),
    ],
)
def test_each_kind_of_key_can_be_made(
    run: Run, path: Path, words: list[str], kind: CallerKind
) -> None:
    made = created(run, *words)
    caller = KeyStore(path).find(made["key"])
    assert caller is not None
    assert caller.kind is kind


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("30m", timedelta(minutes=30)),
        ("12h", timedelta(hours=12)),
        ("90d", timedelta(days=90)),
        ("4w", timedelta(weeks=4)),
    ],
)
def test_a_key_can_expire_after_a_while(run: Run, text: str, span: timedelta) -> None:
    expires = datetime.fromisoformat(created(run, "--org", "acme", "--expires", text)["expires"])
    assert abs(expires - datetime.now(UTC) - span) < timedelta(minutes=1)


def test_a_key_can_expire_on_a_date(run: Run) -> None:
    made = created(run, "--org", "acme", "--expires", "2999-01-31")
    assert made["expires"] == "2999-01-31T00:00:00+00:00"


def test_a_revoked_key_stops_working_and_is_listed_only_on_request(run: Run, path: Path) -> None:
    made = created(run, "--org", "acme")
    run("revoke", made["id"])
    assert KeyStore(path).find(made["key"]) is None
    assert json.loads(run("list", "--json").stdout) == []
    assert "revoked" in run("list", "--all").stdout
    run("revoke", made["id"])


def test_a_leaked_key_can_be_revoked_by_itself(run: Run, path: Path) -> None:
    made = created(run, "--org", "acme")
    assert made["key"] not in run("revoke", made["key"]).output
    assert KeyStore(path).find(made["key"]) is None


def test_a_rotated_key_keeps_its_settings(run: Run, path: Path) -> None:
    made = created(run, "--org", "acme", "--rpm", "9")
    renewed = json.loads(run("rotate", made["id"], "--json").stdout)
    store = KeyStore(path)
    assert store.find(made["key"]) is None
    caller = store.find(renewed["key"])
    assert caller is not None
    assert (caller.key_id, caller.limits.rpm) == (made["id"], 9)


def test_the_list_can_be_of_one_organization(run: Run) -> None:
    made = [created(run, "--org", org)["id"] for org in ("acme", "other")]
    listed = json.loads(run("list", "--org", "acme", "--json").stdout)
    assert [key["id"] for key in listed] == made[:1]
    assert "sha256" not in listed[0]


@pytest.mark.parametrize(
    ("words", "message", "code"),
    [
        (["create"], "needs an organization", 1),
        (["create", "--managed"], "needs an organization", 1),
        (["create", "--org", "acme", "--expires", "soon"], "use 30m, 12h, 90d, 4w or a date", 2),
        (
            ["create", "--org", "acme", "--expires", "2020-01-01"],
            "the key would have expired already",
            2,
        ),
        (["create", "--org", "acme", "--expires", "0d"], "the key would have expired already", 2),
        (["create", "--org", "acme", "--expires", "0m"], "'--expires'", 2),
        (["create", "--org", "acme", "--models", ""], "'--models': names nothing", 2),
        (["create", "--org", "acme", "--addresses", " , "], "'--addresses': names nothing", 2),
        (["create", "--org", "acme", "--rpm", "0"], "--rpm", 2),
        (["create", "--org", "acme", "--addresses", "10.0.0.1/8"], "not an address or network", 1),
        (["revoke", "nobody"], "no such key", 1),
        (["rotate", "nobody"], "no such key", 1),
    ],
)
def test_a_mistake_is_told_with_the_way_out(
    run: Run, words: list[str], message: str, code: int
) -> None:
    output = run(*words, code=code).output
    assert message in output
    assert "Traceback" not in output


def test_a_revoked_key_is_not_rotated_back_to_life(run: Run) -> None:
    made = created(run, "--org", "acme")
    run("revoke", made["id"])
    assert "make a new key" in run("rotate", made["id"], code=1).output


def test_a_damaged_file_is_told_and_left_alone(run: Run, path: Path) -> None:
    path.write_text("{")
    assert "cannot be read" in run("create", "--org", "acme", code=1).output
    assert path.read_text() == "{"


def test_an_expired_key_is_not_rotated(run: Run, path: Path) -> None:
    record, _ = make_key(KeySettings(org="acme", expires=datetime(2020, 1, 1, tzinfo=UTC)))
    with changing_keys(path) as keys:
        keys[record.id] = record
    assert "is expired: make a new key" in run("rotate", record.id, code=1).output


def test_no_key_is_made_for_an_organization_that_nobody_configured(run: Run, path: Path) -> None:
    for kind in ([], ["--managed"], ["--internal"]):
        said = run("create", "--org", "acne", *kind, code=1)
        assert "no usable [orgs.acne] (it has acme, other)" in said.stderr
        assert "--force" in said.stderr
        assert said.stdout == ""
    assert not path.exists()


def test_a_key_can_be_made_before_its_organization(run: Run, path: Path) -> None:
    made = created(run, "--org", "acne", "--force")
    assert KeyStore(path).find(made["key"]) is not None


@pytest.mark.parametrize("change", ["create", "revoke", "rotate", "rotate that key"])
def test_what_a_later_version_wrote_is_kept_by_every_change(
    run: Run, path: Path, change: str
) -> None:
    own, other = created(run, "--org", "acme")["id"], created(run, "--org", "acme")["id"]
    kept = json.loads(path.read_text())
    only_between = {"from": "08:00", "to": "18:00"}
    kept["keys"][0]["only_between"] = only_between
    kept["written_by"] = "9.0"
    path.write_text(json.dumps(kept))
    words = {
        "create": ["create", "--org", "other"],
        "revoke": ["revoke", other],
        "rotate": ["rotate", other],
        "rotate that key": ["rotate", own],
    }
    run(*words[change])
    written = json.loads(path.read_text())
    assert written["written_by"] == "9.0"
    assert [key.get("only_between") for key in written["keys"]][:2] == [only_between, None]
