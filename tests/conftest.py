"""What every test of the host shares."""

import logging
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import settings

# A person at work waits for the quick one; --hypothesis-profile=full looks longer.
settings.register_profile("quick", max_examples=100, deadline=None)
settings.register_profile("full", max_examples=1500, deadline=None)
settings.load_profile("quick")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def _logging() -> Iterator[None]:
    """Undo what a command, run in this process, does to the log."""
    loggers = [logging.getLogger(name) for name in ("s1gw", "")]
    before = [(one, one.handlers[:], one.level, one.propagate) for one in loggers]
    yield
    for one, handlers, level, propagate in before:
        one.handlers[:], one.level, one.propagate = handlers, level, propagate


class Site:
    """A folder on ``sys.path`` where distributions can be put as an installer would."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.modules: set[str] = set()

    def module(self, name: str, source: str) -> None:
        (self.folder / f"{name}.py").write_text(source)
        self.modules.add(name)

    def distribution(
        self,
        name: str,
        entries: Mapping[str, Mapping[str, str]],
        *,
        version: str = "1.0",
        requires: Sequence[str] = (),
    ) -> None:
        """Write the metadata of a distribution whose ``entries`` are groups of entry points."""
        info = self.folder / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        lines = ["Metadata-Version: 2.4", f"Name: {name}", f"Version: {version}"]
        lines.append(f"Project-URL: Homepage, https://example.com/{name}")
        lines += [f"Requires-Dist: {line}" for line in requires]
        (info / "METADATA").write_text("\n".join(lines) + "\n")
        groups = [
            f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in table.items())
            for group, table in entries.items()
        ]
        (info / "entry_points.txt").write_text("\n".join(groups))


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    made = Site(folder)
    yield made
    for module in made.modules:
        sys.modules.pop(module, None)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name bytes by their argument: what is in them may differ from one process to the next."""
    return argname if isinstance(val, bytes) else None
