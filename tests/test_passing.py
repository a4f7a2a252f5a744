"""Failures that pass by themselves are not kept."""

import errno
import os
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from gateway_core.catalog import Catalog
from gateway_core.config.load import load_config
from gateway_core.errors import ConfigError
from gateway_core.outbound import Outbound
from gateway_core.passing import is_passing
from gateway_core.registry import OrgRegistry, Registry

SHORT = OSError(errno.EMFILE, os.strerror(errno.EMFILE))
LIBRARY = ImportError("libx.so: cannot open shared object file: Too many open files")
CONFIG = """
[orgs.acme.providers.own]
api_format = "systemone"
base_url = "https://own.example"
models = ["m"]
"""


@pytest.mark.parametrize(
    "error",
    [SHORT, MemoryError(), LIBRARY, RuntimeError("can't start new thread"), TimeoutError()],
)
def test_a_shortage_passes_however_deep_it_lies(error: Exception) -> None:
    def fail() -> None:
        try:
            raise error
        except Exception as cause:
            raise ConfigError("it does not load") from cause

    with pytest.raises(ConfigError) as caught:
        fail()
    assert is_passing(caught.value)


@pytest.mark.parametrize("error", [FileNotFoundError(), ImportError("no module"), ValueError()])
def test_what_is_wrong_with_an_installation_lasts(error: Exception) -> None:
    assert not is_passing(error)


@pytest.mark.parametrize("error", [SHORT, MemoryError(), LIBRARY])
@pytest.mark.anyio
async def test_an_organizations_chain_works_once_a_shortage_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    path = tmp_path / "config.toml"
    path.write_text(CONFIG)
    outbound = Outbound({})
    whole = Registry(load_config(path, {}), Catalog.installed(), outbound)
    registry = OrgRegistry(whole, "acme", lambda _provider, _model: True)

    def fail(_: EntryPoint) -> Any:
        raise error

    with monkeypatch.context() as short:
        short.setattr(EntryPoint, "load", fail)
        for ask in (lambda: registry.provider("own"), lambda: registry.plan):
            with pytest.raises(ConfigError):
                ask()
    assert registry.provider("own").name == "own"
    assert registry.plan.problems == ()
    await outbound.aclose()
