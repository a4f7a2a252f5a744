"""The reference pages name everything that there is, however they were written."""

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import attrs
import click
import pytest

import gateway_core
from gateway_core import DecideRequest, MiddlewareContext, Outcome, Verdict, errors
from gateway_core.api import HOOKS
from gateway_core.cli import main
from gateway_core.context import Endpoint, ProviderContext
from gateway_core.door.status import ERRORS, REFUSALS
from gateway_core.errors import GatewayError
from gateway_core.hookspecs import ProviderSpec
from gateway_core.types import (
    Capabilities,
    DecisionReply,
    DecisionRequest,
    LabelRules,
    ModelInfo,
    ProbeResult,
)
from gateway_core.wire import Question

ROOT: Final = Path(__file__).parents[2]
RECORDS: Final = (
    Capabilities,
    LabelRules,
    DecisionRequest,
    DecisionReply,
    ProbeResult,
    ModelInfo,
    Endpoint,
    MiddlewareContext,
    DecideRequest,
    Question,
    Outcome,
    Verdict,
)


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def section(text: str, heading: str) -> str:
    """Return what stands below a heading, up to the next one of any level."""
    found = re.search(
        rf"^#+ `{re.escape(heading)}`\n(.*?)(?=^#|\Z)", text, re.MULTILINE | re.DOTALL
    )
    assert found, f"there is no heading {heading!r}"
    return found[1]


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_has_a_heading_with_its_exact_arguments(hook: str) -> None:
    function = getattr(ProviderSpec, hook)
    found = re.search(
        rf"^## `(async )?def {hook}\((.*)\) -> (.+)`$", page("hooks.md"), re.MULTILINE
    )

    assert found, f"{hook} has no heading"
    described = [argument.partition(":")[0] for argument in found[2].split(", ") if argument]
    assert ["self", *described] == list(inspect.signature(function).parameters)
    assert bool(found[1]) == inspect.iscoroutinefunction(function)


def test_every_hook_of_the_specification_is_listed() -> None:
    public = {name for name in vars(ProviderSpec) if not name.startswith("_")}

    assert public == set(HOOKS)


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_every_field_of_a_record_is_described(record: type[Any]) -> None:
    described = section(page("hooks.md"), record.__name__)

    for field in attrs.fields(record):
        row = re.search(rf"^\| `{field.name}` \| .+ \| (.+) \|$", described, re.MULTILINE)
        assert row, f"{record.__name__}.{field.name} has no row"
        assert row[1].endswith("."), f"{record.__name__}.{field.name} is not explained"


def test_every_public_member_of_the_context_has_a_heading() -> None:
    members = [name for name in vars(ProviderContext) if not name.startswith("_")]
    fields = {field.name for field in attrs.fields(ProviderContext)}

    assert "post" in members
    for name in set(members) - fields:
        assert re.search(rf"^### `(await )?context\.{name}\b", page("hooks.md"), re.MULTILINE), name


def commands(group: click.Group, context: click.Context) -> Iterator[click.Context]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None, name
        below = click.Context(command, info_name=name, parent=context)
        yield below
        if isinstance(command, click.Group):
            yield from commands(command, below)


@pytest.mark.parametrize(
    "context",
    list(commands(main, click.Context(main, info_name="s1gw"))),
    ids=lambda context: context.command_path,
)
def test_every_command_is_described_with_its_options(context: click.Context) -> None:
    described = section(page("cli.md"), context.command_path)

    assert inspect.cleandoc(context.command.help or "").splitlines()[0] in described
    for parameter in context.command.params:
        for option in filter(lambda text: text.startswith("-"), parameter.opts):
            assert option in described, f"{context.command_path} {option}"


def kinds(kind: type[GatewayError]) -> Iterator[type[GatewayError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from kinds(child)


def test_every_error_is_in_the_tree_and_every_decide_code_is_named() -> None:
    tree, text = page("errors.md").partition("```\n")[0], page("errors.md")

    for kind in kinds(GatewayError):
        if kind.__module__ == errors.__name__:
            assert kind.__name__ in tree
            assert f"`{kind.code}`" in text, kind.__name__


def test_every_http_code_has_a_row_with_its_status() -> None:
    rows = page("errors.md")

    for kind, told in ERRORS.items():
        assert f"| `{kind.__name__}` | `{kind.code}` | {told.status} | `{told.code}` |\n" in rows
    for code, status in REFUSALS.items():
        assert f"| {status} | `{code}` |\n" in rows


def refusals() -> Iterator[str]:
    """Yield the code of every refusal that the source makes."""
    for path in Path(gateway_core.__path__[0]).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "RelayRefused":
                first = node.args[0]
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    yield first.value


def test_every_code_that_the_relay_refuses_with_has_a_status_of_its_own() -> None:
    found = set(refusals())

    assert "byok_required" in found
    assert found <= REFUSALS.keys()
