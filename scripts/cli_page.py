"""Renders docs/cli.md from the commands themselves."""

from collections.abc import Iterator
from inspect import cleandoc
from typing import Final

import click
import markdown

from gateway_core.cli import main

HEAD: Final = """\
# The command line

Generated from the commands' own help; do not edit. `s1gw COMMAND --help` says the same.

Every command takes `--help`, and `s1gw` itself takes `--config FILE` and `--version` before the
command. What people read goes to stdout, what went wrong to stderr, one line a fault. `--json`,
where there is one, prints one JSON document and no colours.
"""
_VERBATIM: Final = "\b\n"


def render() -> str:
    """Return the page: one section a command, groups before what is in them."""
    return HEAD + "".join(_sections(main, click.Context(main, info_name="s1gw")))


def _sections(group: click.Group, context: click.Context) -> Iterator[str]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None:
            raise LookupError(name)
        below = click.Context(command, info_name=name, parent=context)
        yield _section(command, below)
        if isinstance(command, click.Group):
            yield from _sections(command, below)


def _section(command: click.Command, context: click.Context) -> str:
    level = context.command_path.count(" ") + 1
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    parts = [f"{'#' * level} `{context.command_path}`", _text(command.help or "")]
    if not isinstance(command, click.Group):
        parts += [f"```\n{usage}\n```", _options(command, context)]
    parts.append(_text(command.epilog or ""))
    return "".join(f"\n{part}\n" for part in parts if part)


def _text(text: str) -> str:
    """Return help as Markdown: what click leaves as it is, is fenced."""
    paragraphs = (block.strip("\n") for block in cleandoc(text).split("\n\n"))
    return "\n\n".join(
        f"```\n{block.removeprefix(_VERBATIM)}\n```" if block.startswith(_VERBATIM) else block
        for block in paragraphs
    ).strip()


def _options(command: click.Command, context: click.Context) -> str:
    options = (one for one in command.params if isinstance(one, click.Option))
    records = filter(None, (option.get_help_record(context) for option in options))
    rows = [f"| `{name}` | {markdown.cell(text)} |" for name, text in records]
    return "\n".join(["| option | meaning |", "|---|---|", *rows]) if rows else ""
