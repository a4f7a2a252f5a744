"""Every distribution builds, and holds what whoever installs or reads it needs."""

import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email import message_from_string
from pathlib import Path
from typing import Any, Final

import attrs
import pytest

ROOT: Final = Path(__file__).parents[2]
FOLDERS: Final = (".", *sorted(f"plugins/{path.name}" for path in ROOT.glob("plugins/*")))


@attrs.frozen
class Built:
    """A distribution, and the names of what its two archives hold."""

    project: dict[str, Any]
    package: str
    wheel: set[str]
    source: set[str]
    metadata: str
    entry_points: str


@pytest.fixture(scope="module", params=FOLDERS)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder, target = ROOT / request.param, tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(target)]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=60)
    described = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    package = Path(described["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"][0]).name
    (wheel,), (source,) = target.glob("*.whl"), target.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive, tarfile.open(source) as sources:
        info = f"{wheel.name.rsplit('-', 3)[0]}.dist-info"
        names = {name.replace(info, "INFO") for name in archive.namelist()}
        return Built(
            project=described["project"],
            package=package,
            wheel=names,
            source={name.partition("/")[2] for name in sources.getnames()},
            metadata=archive.read(f"{info}/METADATA").decode(),
            entry_points=archive.read(f"{info}/entry_points.txt").decode(),
        )


def test_the_wheel_holds_the_package_its_types_and_its_licence(built: Built) -> None:
    assert {f"{built.package}/__init__.py", f"{built.package}/py.typed"} <= built.wheel
    assert "INFO/licenses/LICENSE" in built.wheel
    assert {name.partition("/")[0] for name in built.wheel} == {built.package, "INFO"}


def test_the_source_archive_can_be_built_and_read(built: Built) -> None:
    assert {"LICENSE", "README.md", "pyproject.toml"} <= built.source
    assert any(name.endswith("/py.typed") for name in built.source)
    assert not any("__pycache__" in name for name in built.source)


def test_the_metadata_describe_the_distribution(built: Built) -> None:
    found = message_from_string(built.metadata)

    assert found["Name"] == built.project["name"]
    assert found["Author"] == "The s1gw contributors"
    assert found["License-Expression"] == "Apache-2.0"
    assert "Typing :: Typed" in found.get_all("Classifier", [])
    assert found.get_payload(), "there is no description"


def test_a_plugin_names_its_class_and_takes_one_minor_release_of_the_host(built: Built) -> None:
    if built.package == "gateway_core":
        assert "s1gw = gateway_core.cli:main" in built.entry_points
        return
    assert "[gateway_core.providers.v1]" in built.entry_points
    assert "s1gw>=0.1,<0.2" in built.project["dependencies"]
