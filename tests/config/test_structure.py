"""Every fault of a table at once, each with its path, and no secret in any."""

from collections.abc import Mapping
from enum import Enum, StrEnum
from pathlib import Path
from typing import Any

import attrs
import pytest

from gateway_core.config.model import DecideConfig, HttpConfig, OrgConfig, ProviderConfig
from gateway_core.errors import ConfigError
from gateway_core.secret import Secret
from gateway_core.structure import Sources, structure

WAY_OUT = 'a secret is never written out in the configuration; use { env = "NAME" } or { file ='


class Server(StrEnum):
    OLLAMA = "ollama"
    VLLM = "vllm"


@attrs.frozen(kw_only=True)
class PluginSettings:
    region: str
    server: Server = Server.VLLM
    max_options: int = attrs.field(default=20, validator=attrs.validators.ge(2))
    tags: frozenset[str] = frozenset()


def faults(cls: type, table: Any, **environ: str) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        structure(cls, table, "at", Sources(environ=environ))
    return tuple(caught.value.faults)


@pytest.mark.parametrize(
    ("cls", "table", "fault"),
    [
        (
            DecideConfig,
            {"timeout_s": "fast"},
            'at.timeout_s: expected a positive number, got "fast"',
        ),
        (DecideConfig, {"timeout_s": True}, "at.timeout_s: expected a positive number, got true"),
        (DecideConfig, {"timeout_s": 0}, "at.timeout_s: expected a positive number, got 0"),
        (DecideConfig, {"deadline_s": float("nan")}, "expected a positive number, got nan"),
        (DecideConfig, {"deadline_s": float("inf")}, "expected a positive number, got inf"),
        (DecideConfig, {"threshold": 1.5}, "at.threshold: expected a number from 0 to 1, got 1.5"),
        (DecideConfig, {"thresholds": {"laya": 2}}, "at.thresholds: expected a table of numbers"),
        (DecideConfig, {"thresholds": {"laya": "x"}}, "at.thresholds.laya: expected a number"),
        (
            DecideConfig,
            {"chain": "laya"},
            "at.chain: expected a list of names, none blank and none",
        ),
        (DecideConfig, {"chain": ["a", "a"]}, "at.chain: expected a list of names, none blank"),
        (DecideConfig, {"chain": ["a", 1]}, "at.chain.1: expected text, got 1"),
        (DecideConfig, {"abstain_when_truncated": 1}, "expected true or false, got 1"),
        (DecideConfig, {"treshold": 0.5}, 'at.treshold: unknown key; did you mean "threshold"?'),
        (DecideConfig, {"zzz": 1}, "at.zzz: unknown key; known here: chain, middleware, timeout_s"),
        (HttpConfig, {"port": 65536}, "at.port: expected a port from 0 to 65535, got 65536"),
        (HttpConfig, {"port": 80.0}, "at.port: expected a port from 0 to 65535, got 80.0"),
        (HttpConfig, {"auth": "none"}, 'at.auth: expected one of "keys", "disabled", got "none"'),
        (
            ProviderConfig,
            {"api_format": "opena"},
            'expected one of "systemone", "typesafe", "openai"',
        ),
        (ProviderConfig, {"headers": {"x y": "1"}}, "at.headers: expected a table of header names"),
        (
            ProviderConfig,
            {"headers": {"x": "a\nb"}},
            "at.headers: expected a table of header names",
        ),
        (ProviderConfig, {"settings": []}, "at.settings: expected a table, got a list"),
        (ProviderConfig, {"api_key": "hunter2"}, f"at.api_key: {WAY_OUT}"),
        (ProviderConfig, {"headers": {"x": 4}}, f"at.headers.x: {WAY_OUT}"),
        (ProviderConfig, {"api_key": {"env": "A", "file": "b"}}, "expected one place of a secret"),
        (ProviderConfig, {"api_key": {}}, "at.api_key: expected one place of a secret"),
        (ProviderConfig, {"api_key": {"env": "NO_KEY"}}, "environment variable NO_KEY is not set"),
        (ProviderConfig, {"api_key": {"file": "/no/key"}}, "file /no/key cannot be read: No such"),
        (
            OrgConfig,
            {"limits": {"rpm": 0}},
            "at.limits.rpm: expected a positive whole number, got 0",
        ),
        (OrgConfig, {"limits": 5}, "at.limits: expected a table, got 5"),
        (PluginSettings, {}, "at.region: missing; it is required"),
        (
            PluginSettings,
            {"region": "e", "server": "ollam"},
            'one of "ollama", "vllm", got "ollam"',
        ),
        (PluginSettings, {"region": "e", "max_options": 1}, "'max_options' must be >= 2: 1"),
        (PluginSettings, {"region": "e", "tags": "abc"}, 'at.tags: expected a list, got "abc"'),
    ],
)
def test_a_fault_names_its_path_and_what_is_expected(cls: type, table: Any, fault: str) -> None:
    (found,) = faults(cls, table)

    assert found.startswith("at.")
    assert fault in found


def test_every_fault_is_reported_at_once() -> None:
    table = {"timeout_s": -1, "threshold": "x", "deadline_s": None, "chian": []}

    assert [fault.partition(":")[0] for fault in faults(DecideConfig, table)] == [
        "at.timeout_s",
        "at.deadline_s",
        "at.threshold",
        "at.chian",
    ]


@pytest.mark.parametrize(
    "table",
    [
        {"api_key": "sk-live-0123456789"},
        {"api_key": {"env": "sk-live-0123456789"}},
        {"api_key": {"file": "sk-live-0123456789"}},
        {"api_key": {"env": "BLANK", "extra": "sk-live-0123456789"}},
        {"api_key": {"env": "LINES"}},
        {"timeout_s": "sk-live-0123456789"},
        {"models": "sk-live-0123456789"},
        {"api_format": "sk-live-0123456789"},
        {"headers": {"x": "sk-live-0123456789\n"}},
    ],
)
def test_no_fault_shows_what_may_be_a_secret(table: Mapping[str, Any]) -> None:
    found = faults(ProviderConfig, table, BLANK=" ", LINES="sk-live-0123456789\nx")

    assert found
    assert "sk-live" not in " ".join(found)


def test_a_blank_variable_is_a_fault() -> None:
    assert faults(ProviderConfig, {"api_key": {"env": "BLANK"}}, BLANK=" ") == (
        "at.api_key: environment variable BLANK is blank",
    )


def test_values_and_secrets_are_read(tmp_path: Path) -> None:
    (tmp_path / "key.txt").write_text("from-file\n")
    table = {
        "api_key": {"env": "KEY"},
        "headers": {"x-team": "a", "x-key": {"file": "key.txt"}},
        "models": ["m1", "m2"],
        "timeout_s": 3,
        "settings": {"anything": [1]},
    }

    found = structure(ProviderConfig, table, "at", Sources(environ={"KEY": "k"}, folder=tmp_path))

    assert found.api_key == Secret("k")
    assert found.headers == {"x-team": "a", "x-key": Secret("from-file")}
    assert found.models == ("m1", "m2")
    assert isinstance(found.timeout_s, float)
    assert found.settings == {"anything": [1]}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("\u201csk-hunter2\u201d", "holds characters that are not ASCII"),
        ("sk\u2013hunter2", "holds characters that are not ASCII"),
        ("sk-hunter2\u200b", "holds characters that are not ASCII"),
        ("sk-hunter2\u00e9", "holds characters that are not ASCII"),
        ('"sk-hunter2"', "has quotes around the key"),
        ("'sk-hunter2'", "has quotes around the key"),
        (" `sk-hunter2` ", "has quotes around the key"),
        ("\ufeff sk-hunter2", "holds a byte order mark"),
        ("sk-hunter2\nsk-other", "holds control characters or several lines"),
        ("  ", "is blank"),
    ],
)
@pytest.mark.parametrize("place", ["env", "file"])
def test_a_credential_that_no_header_can_carry_is_refused(
    tmp_path: Path, text: str, reason: str, place: str
) -> None:
    # An editor's own mark is taken off, and what is meant here is one in the key's text.
    (tmp_path / "key.txt").write_text(f"\ufeff{text}", encoding="utf-8")
    table = {"api_key": {"env": "KEY"} if place == "env" else {"file": "key.txt"}}
    sources = Sources(environ={"KEY": text}, folder=tmp_path)
    where = "environment variable KEY" if place == "env" else "file key.txt"

    with pytest.raises(ConfigError, match=f"at.api_key: {where} {reason}") as caught:
        structure(ProviderConfig, table, "at", sources)
    assert "hunter2" not in str(caught.value)


def test_a_byte_order_mark_that_an_editor_put_before_a_key_is_taken_off(tmp_path: Path) -> None:
    (tmp_path / "key.txt").write_bytes(b"\xef\xbb\xbfsk-1\r\n")
    sources = Sources(environ={}, folder=tmp_path)

    found = structure(ProviderConfig, {"api_key": {"file": "key.txt"}}, "at", sources)

    assert found.api_key == Secret("sk-1")


@pytest.mark.parametrize("text", ["a'b\"c", "'", "sk-1'", "x" * 4096, "Basic dTpw=="])
def test_a_credential_may_hold_any_visible_ascii(text: str) -> None:
    sources = Sources(environ={"KEY": text})

    found = structure(ProviderConfig, {"api_key": {"env": "KEY"}}, "at", sources)

    assert found.api_key == Secret(text)


def test_a_plugins_own_settings_class_is_structured() -> None:
    found = structure(PluginSettings, {"region": "eu", "server": "ollama", "tags": ["a"]}, "at")

    assert found == PluginSettings(region="eu", server=Server.OLLAMA, tags=frozenset({"a"}))


@attrs.frozen
class Pair:
    low: int = 0
    high: int = 1

    def __attrs_post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError("low must not be above high")


def test_a_rule_of_a_class_about_several_keys_is_told() -> None:
    assert faults(Pair, {"low": 2}) == ("at: low must not be above high",)


class Plain:
    """Not an attrs class, as a plugin's author might have it."""


@attrs.frozen
class Unresolved:
    key: "NowhereDefined" = None  # noqa: F821


@pytest.mark.parametrize(
    ("cls", "fault"),
    [
        (Plain, "at: Plain is not an attrs class"),
        (Unresolved, "at: Unresolved has a type that cannot be configured"),
    ],
)
def test_a_settings_class_that_cannot_be_read_is_a_fault_too(cls: type, fault: str) -> None:
    assert faults(cls, {"key": 1}) == (fault,)


class Word(str, Enum):  # noqa: UP042  # the older kind is what is tested
    """An enum of the older kind."""

    YES = "yes"


@attrs.frozen
class OldEnum:
    word: Word


@attrs.frozen
class OneOfTwo:
    word: str = attrs.field(validator=attrs.validators.in_([Word.YES, Word.YES]))


def test_a_member_of_an_enumeration_is_told_as_users_write_it() -> None:
    assert faults(OneOfTwo, {"word": "no"}) == (
        "at.word: 'word' must be in ['yes', 'yes'] (got \"no\")",
    )


def test_enums_of_every_kind_become_members() -> None:
    assert structure(OldEnum, {"word": "yes"}, "at").word is Word.YES
    assert faults(OldEnum, {"word": "no"}) == ('at.word: expected one of "yes", got "no"',)
