"""The file itself: whatever is there instead of TOML is one fault that names it."""

from pathlib import Path

import pytest

from gateway_core.config.load import load_config
from gateway_core.config.paths import config_path, state_dir

UNREADABLE = {
    "a table that is not closed": (b"[decide\n", "is not TOML: "),
    "another encoding": (b"# caf\xe9\n", "is not UTF-8 text"),
    "a wider encoding": ("[decide]".encode("utf-16"), "is not UTF-8 text"),
    "a NUL": (b"[decide]\n\0", "is not TOML: "),
    "endless nesting": (b"a=" + b"[" * 5_000, "is not TOML: "),
    "an endless number": (b"a=" + b"9" * 6_000, "more digits than can be read"),
    "an endless file": (b"#" * (9 * 1024 * 1024), "is larger than "),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_is_no_toml_is_one_fault_that_names_the_file(name: str, tmp_path: Path) -> None:
    content, told = UNREADABLE[name]
    path = tmp_path / "config.toml"
    path.write_bytes(content)

    loaded = load_config(path, {})

    (fault,) = loaded.faults
    assert fault.startswith(f"{path}: ")
    assert told in fault
    assert loaded.config.decide.chain == ()


def test_a_byte_order_mark_is_not_part_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"\xef\xbb\xbf[decide]\nthreshold = 0.5\n")
    loaded = load_config(path, {})

    assert (loaded.faults, loaded.config.decide.threshold) == ((), 0.5)


def test_a_circle_of_links_and_a_folder_are_faults(tmp_path: Path) -> None:
    circle = tmp_path / "circle.toml"
    circle.symlink_to(circle)

    for path in (circle, tmp_path):
        (fault,) = load_config(path, {}).faults
        assert fault.startswith(f"{path}: cannot be read: ")


def test_the_home_of_nobody_is_a_place_where_nothing_is() -> None:
    environ = {"S1GW_CONFIG": "~no-such-user/c.toml", "S1GW_STATE_DIR": "~no-such-user/state"}

    assert config_path(environ) == Path("~no-such-user/c.toml")
    assert state_dir(environ) == Path("~no-such-user/state")
    assert load_config(None, environ).faults == ("~no-such-user/c.toml: there is no such file",)


def test_a_credential_in_the_home_of_nobody_is_a_fault_with_its_reason(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("[providers.acme]\napi_key = { file = '~no-such-user/key' }\n")
    (fault,) = load_config(path, {}).faults

    assert fault == "providers.acme.api_key: the home folder that it begins with is unknown"
