"""Environment variables in base URLs, and nowhere else."""

from pathlib import Path

import pytest

from gateway_core.config.load import Loaded, load_config

ENVIRON = {"HOST": "a.example", "URL": "https://b.example:8/x", "EMPTY": " ", "KEY": "sk"}


def load(tmp_path: Path, lines: str, *, secrets: bool = True) -> Loaded:
    path = tmp_path / "config.toml"
    path.write_text(f"[orgs.o.providers.p]\napi_format = 'systemone'\n{lines}\n")
    return load_config(path, ENVIRON, secrets=secrets)


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("https://${HOST}/v1", "https://a.example/v1"),
        ("${URL}", "https://b.example:8/x"),
        ("https://${HOST}/${HOST}", "https://a.example/a.example"),
        ("https://x.example/$metadata", "https://x.example/$metadata"),
    ],
)
def test_variables_in_a_base_url_are_replaced(tmp_path: Path, written: str, url: str) -> None:
    loaded = load(tmp_path, f"base_url = '{written}'")
    assert loaded.faults == ()
    assert loaded.config.orgs["o"].providers["p"].base_url == url


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        ("base_url = '${GONE}'", "base_url: environment variable GONE is not set"),
        ("base_url = 'https://${EMPTY}'", "base_url: environment variable EMPTY is not set"),
        ("base_url = '${HOST:-x}'", "base_url: only ${NAME} is replaced"),
        ("base_url = 'https://${HOST'", "base_url: only ${NAME} is replaced"),
        ("base_url = 'https://$HOST/v1'", "base_url: only ${NAME} is replaced"),
        ("base_url = '$URL'", "base_url: only ${NAME} is replaced"),
        ("prefix = '${HOST}'", "prefix: ${NAME} is replaced in base_url alone"),
        ("models = ['m', '${HOST}']", "models.1: ${NAME} is replaced in base_url alone"),
        ("headers = { x = 'a ${KEY}' }", "headers.x: ${NAME} is replaced in base_url alone; use {"),
        ("base_url = 3", "base_url: expected text"),
    ],
)
def test_any_other_use_is_a_fault_and_leaves_the_provider_out(
    tmp_path: Path, lines: str, fault: str
) -> None:
    loaded = load(tmp_path, lines)
    (line,) = loaded.faults
    assert line.startswith(f"orgs.o.providers.p.{fault}")
    assert loaded.config.orgs["o"].providers == {}
    assert "p" in loaded.dropped_of["o"]


@pytest.mark.parametrize("url", ["${GONE}", "https://${GONE}.example", "${GONE}/v1"])
def test_where_no_credentials_are_read_variables_may_be_missing(tmp_path: Path, url: str) -> None:
    assert load(tmp_path, f"base_url = '{url}'", secrets=False).faults == ()
