"""What the contributors' page names is there."""

import re
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PATH: Final = re.compile(r"`((?:[\w.-]+/)+(?:[\w.-]+\.\w+)?|[\w-]+\.(?:toml|md|py))`")
NAME: Final = re.compile(r"`([\w./]+\.py)`[^`\n]*?(?:\n +)?\(?`(_?[A-Z][A-Z_]+)`")
PATHS: Final = sorted({path for path in PATH.findall(PAGE) if not re.search("NAME|/X", path)})
RECIPES: Final = (
    "A configuration key",
    "A configuration section",
    "An error code",
    "A route",
    "A command",
    "A hook",
    "A compiled module",
    "A known server",
)


def recipe(name: str) -> str:
    (text,) = re.findall(rf"^### {name}\n(.*?)(?=^##)", PAGE, re.MULTILINE | re.DOTALL)
    return str(text)


@pytest.mark.parametrize("path", PATHS)
def test_a_path_that_is_named_exists(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_names_files_in_numbered_steps(name: str) -> None:
    steps = re.findall(r"^(\d+)\. ", recipe(name), re.MULTILINE)
    assert steps == [str(number) for number in range(1, len(steps) + 1)]
    assert len(PATH.findall(recipe(name))) >= 2


def test_the_constants_that_recipes_name_are_in_their_files() -> None:
    named = [pair for name in RECIPES for pair in NAME.findall(recipe(name))]
    assert ("gateway_core/cli/__init__.py", "COMMANDS") in named
    missing = [pair for pair in named if pair[1] not in (ROOT / pair[0]).read_text("utf-8")]
    assert missing == []


def test_every_target_that_is_named_is_in_the_makefile() -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert set(re.findall(r"`make ([a-z-]+)", PAGE)) <= set(targets)


def test_every_room_of_the_host_has_its_place_in_the_table() -> None:
    rooms = {path.parent.name for path in (ROOT / "gateway_core").glob("*/__init__.py")}
    small = {"decisionlog", "middleware", "reports", "schema"}
    assert {room for room in rooms if f"`gateway_core/{room}/`" not in PAGE} == small
