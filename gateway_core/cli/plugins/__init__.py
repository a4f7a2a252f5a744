"""``s1gw plugins``: what is installed, and whether it keeps the provider contract."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gateway_core.cli.plugins.new import new
from gateway_core.cli.terminal import plain, say, say_json, table

if TYPE_CHECKING:
    from gateway_core.catalog import PluginRef
    from gateway_core.testing.checks import CheckResult


@click.group()
def plugins() -> None:
    """List the installed plugins, check one, or start one."""


plugins.add_command(new)


@plugins.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.pass_obj
def list_plugins(config_path: Path | None, *, as_json: bool) -> None:
    """List providers and middleware from their metadata and source; none is imported."""
    from gateway_core.catalog import Catalog
    from gateway_core.config.file import disabled_plugins

    catalog = Catalog.installed(disabled_plugins(config_path))
    rows = [_described(ref) for ref in catalog.refs]
    if as_json:
        say_json(rows)
        return
    if not rows:
        say("No plugin is installed. Install one with pip, such as s1gw-local.")
        return
    columns = ("dialect", "kind", "distribution", "version", "state", "hooks", "homepage")
    shown = [[_cell(row[column]) for column in columns] for row in rows]
    table(shown, columns)
    # The rivals of a conflict all have the same to say.
    for name, reason in dict.fromkeys((row["dialect"], row["reason"]) for row in rows):
        if reason:
            say(f"{plain(name)}: {plain(reason)}", fg="yellow")
    for conflict in catalog.claims.conflicts:
        say(plain(conflict), fg="yellow")


def _described(ref: "PluginRef") -> dict[str, Any]:
    from gateway_core.catalog.source import declared_hooks

    return {
        "dialect": ref.name,
        "kind": ref.kind.value,
        "distribution": ref.distribution,
        "version": ref.version,
        "state": ref.state.value,
        "reason": ref.detail,
        "hooks": declared_hooks(ref),
        "homepage": ref.homepage,
    }


def _cell(value: object) -> str:
    if isinstance(value, list):
        return ",".join(value) or "-"
    return str(value or "-")


@plugins.command(epilog="Exit codes: 0 every check passed, 1 one failed.")
@click.argument("name")
@click.option("--live", is_flag=True, help="Also probe it and put one tiny question to it.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.pass_obj
def check(config_path: Path | None, name: str, *, live: bool, as_json: bool) -> None:
    """Check the provider contract of NAME: a dialect, or a configured provider."""
    from gateway_core.cli.plugins.contract import live_results, offline_results
    from gateway_core.cli.running import plugins_at_work, run

    with plugins_at_work():
        results = offline_results(config_path, name)
    if live:
        results += run(live_results(config_path, name))
    if as_json:
        say_json([_result(result) for result in results])
    else:
        _show(results)
    raise SystemExit(0 if all(result.passed for result in results) else 1)


def _result(result: "CheckResult") -> dict[str, Any]:
    rule = result.check
    return {
        "check": rule.name,
        "rule": rule.rule,
        "why": rule.why,
        "passed": result.passed,
        "found": result.found,
        "untried": result.untried,
    }


def _show(results: Iterable["CheckResult"]) -> None:
    for result in results:
        if result.passed:
            say(f"pass  {result.check.rule}", fg="green")
        elif result.untried is not None:
            say(f"----  {result.check.rule}", fg="yellow")
            say(f"      not tried: {result.untried}")
        else:
            say(f"FAIL  {result.check.rule}", fg="red", bold=True)
            say(f"      found: {plain(result.found)}")
            say(f"      why:   {result.check.why}")
    say("\nWhat needs an upstream is checked by the provider's own tests: see ProviderContract.")
