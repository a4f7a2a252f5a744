"""Providers that are written while the test runs and installed like a stranger's."""

import importlib
import textwrap
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

Install = Callable[[str], type]
_numbers = count(1)


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Write a distribution with one provider, the class ``Kit``, and return the class."""

    def write(source: str, dialect: str = "kit") -> type:
        module = f"kit_provider_{next(_numbers)}"
        (tmp_path / f"{module}.py").write_text(textwrap.dedent(source))
        info = tmp_path / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        entry = f"[gateway_core.providers.v1]\n{dialect} = {module}:Kit\n"
        (info / "entry_points.txt").write_text(entry)
        monkeypatch.syspath_prepend(tmp_path)
        importlib.invalidate_caches()
        found = importlib.import_module(module).Kit
        assert isinstance(found, type)
        return found

    return write
