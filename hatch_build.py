"""Compiles the modules that every relayed request runs through, when ``S1GW_COMPILED=1`` asks.

mypyc makes machine code of typed Python; without it the same files run as they are. Which modules
they are stands in pyproject.toml, under ``tool.hatch.build.targets.wheel.hooks.custom``.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_ASKED: Final = os.environ.get("S1GW_COMPILED") == "1"
_COMPILERS: Final = ("mypy[mypyc]>=2.4,<3", "setuptools>=77")
_LIBRARY: Final = "s1gw"


class CompiledModules(BuildHookInterface[BuilderConfig]):
    """Puts compiled modules beside their sources in a wheel."""

    def dependencies(self) -> list[str]:
        """Return what compiling needs: the compiler, and the packages whose types are used."""
        return [*_COMPILERS, *self.metadata.core.dependencies] if _ASKED else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, unless nobody asked for it or the sources are used where they stand."""
        if not _ASKED or version == "editable":
            return
        self._folder = TemporaryDirectory()
        libraries = compiled(Path(self.root), self.config["modules"], Path(self._folder.name))
        build_data["force_include"].update(libraries)
        build_data.update(pure_python=False, infer_tag=True)

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what the wheel holds by now."""
        del build_data, artifact_path
        if _ASKED and version != "editable":
            self._folder.cleanup()


def compiled(root: Path, modules: Sequence[str], folder: Path) -> dict[str, str]:
    """Compile ``modules``, files below ``root``, in ``folder``.

    Returns:
        The libraries that came of it, each with its place in a wheel.
    """
    # Only there when compiling was asked for.
    from mypyc.build import mypycify
    from setuptools import Distribution

    os.chdir(root)
    extensions = mypycify(
        # The packages of extras are not there, and nothing that is compiled uses them.
        ["--ignore-missing-imports", f"--cache-dir={folder / 'types'}", *modules],
        group_name=_LIBRARY,
        target_dir=str(folder / "sources"),
        debug_level="0",
    )
    build = Distribution({"ext_modules": extensions}).get_command_obj("build_ext")
    built = folder / "libraries"
    build.build_lib, build.build_temp = str(built), str(folder / "objects")
    build.ensure_finalized()
    build.run()
    return {str(path): str(path.relative_to(built)) for path in built.rglob("*") if path.is_file()}
