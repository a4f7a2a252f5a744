"""``s1gw health`` and ``s1gw capabilities``: what the gateway says of itself."""

from pathlib import Path
from typing import Any, Final

import click

from gateway_core.cli.terminal import plain, say, say_aside, say_json, table

_COLOURS: Final = {"ok": "green", "degraded": "yellow", "paused": "yellow", "down": "red"}


@click.command(
    epilog="Exit codes: 0 a question can be answered, 1 nobody can answer one; with --all-orgs, 1"
    " when that is so for any organization."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.option(
    "--all-orgs", is_flag=True, help="Probe every organization's providers, not the operator's."
)
@click.pass_obj
def health(config_path: Path | None, *, as_json: bool, all_orgs: bool) -> None:
    """Probe the providers of the chain; this costs nothing."""
    report = _report(config_path, "organizations" if all_orgs else "health")
    if as_json:
        say_json(report)
    elif all_orgs:
        _show_organizations(report)
    else:
        _show_health(report)
    raise SystemExit(1 if report["status"] == "down" else 0)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.pass_obj
def capabilities(config_path: Path | None, *, as_json: bool) -> None:
    """Say who answers, within which limits, and what is installed."""
    report = _report(config_path, "capabilities")
    if as_json:
        say_json(report)
    else:
        _show_capabilities(report)


def _report(config_path: Path | None, kind: str) -> dict[str, Any]:
    from gateway_core.cli.running import run
    from gateway_core.gateway import Gateway

    async def ask() -> dict[str, Any]:
        async with Gateway.open(config_path) as gateway:
            if kind == "organizations":
                from gateway_core.organizations import organizations_health

                return await organizations_health(gateway)
            return await (gateway.health() if kind == "health" else gateway.capabilities())

    return run(ask())


def _show_health(report: dict[str, Any]) -> None:
    say(report["status"], fg=_COLOURS[report["status"]], bold=True)
    say(f"configuration: {report['config_file'] or 'none, everything is a default'}\n")
    why = {found["name"]: found["why"] for found in report["candidates"]}
    if report["providers"]:
        table(
            [_probe_row(probe, why) for probe in report["providers"]],
            ("provider", "role", "state", "probe", "in the chain because"),
        )
    else:
        say("Nobody can be asked: install or configure a provider, such as s1gw-local.")
    out = [found for found in report["candidates"] if not found["in_chain"]]
    if out:
        say(f"\nnot in the {report['chain_source']} chain:", bold=True)
        for found in out:
            say(f"  {plain(found['name'])}: {plain(found['why'])}")
    _show_middleware(report)
    _show_faults(report)


def _show_organizations(report: dict[str, Any]) -> None:
    if not report["orgs"]:
        say("No organization is configured: add [orgs.NAME.providers.ID].")
    for org, own in report["orgs"].items():
        say(f"{plain(org)}: {own['status']}", fg=_COLOURS[own["status"]], bold=True)
        rows = [_probe_row(probe, {})[:4] for probe in own["providers"]]
        rows += [(name, "-", "out", why) for name, why in own["left_out"].items()]
        if rows:
            table(rows, ("provider", "role", "state", "probe"))
        else:
            say("  it has no provider")
        say()
    for fault in report["config_errors"]:
        say_aside(f"fault: {plain(fault)}", fg="red")


def _probe_row(probe: dict[str, Any], why: dict[str, str]) -> tuple[str, ...]:
    state = "up" if probe["ok"] else "down"
    return probe["name"], probe["role"], state, probe["detail"], why.get(probe["name"], "")


def _show_capabilities(report: dict[str, Any]) -> None:
    say(f"s1gw {report['gateway_version']}, schema {', '.join(report['schema_versions'])}")
    say(f"chain ({report['chain_source']}): {' > '.join(report['chain']) or 'nobody'}")
    say(
        f"{report['timeout_s']:g} s an attempt, {report['deadline_s']:g} s in all, "
        f"threshold {report['threshold']}\n"
    )
    for provider in report["providers"]:
        say(f"{plain(provider['name'])} ({plain(provider['dialect'])})", bold=True)
        for name, value in provider["capabilities"].items():
            if value not in (None, [], {}):
                say(f"  {name}: {plain(_words(value))}")
    say()
    _show_evidence(report)
    rows = [
        (found["dialect"], found["distribution"], found["version"], found["state"])
        for found in report["available_providers"]
    ]
    table(rows, ("dialect", "distribution", "version", "state"))
    _show_middleware(report)
    _show_faults(report)


def _show_evidence(report: dict[str, Any]) -> None:
    for row in report["evidence"]:
        stale = f", stale: {row['stale']}" if row["stale"] else ""
        say(
            f"threshold {row['threshold']} for {plain(row['name'])}, with "
            f"{plain(row['fit'] or 'no fit')}{plain(stale)}"
        )
    for fit in report["calibration"]:
        state = fit["stale"] or ("in force" if fit["in_force"] else "superseded")
        say(f"fit {plain(fit['id'])}: {plain(state)}")


def _show_middleware(report: dict[str, Any]) -> None:
    if report["middleware"]:
        say("\nevery question passes, in this order:", bold=True)
    for found in report["middleware"]:
        colour = None if found["ok"] else "red"
        say(f"  {plain(found['name'])}: {plain(found['detail'])}", fg=colour)


def _words(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {item}" for key, item in value.items())
    return str(value)


def _show_faults(report: dict[str, Any]) -> None:
    for fault in report["config_errors"]:
        say_aside(f"fault: {plain(fault)}", fg="red")
    for warning in report["warnings"]:
        say_aside(f"note: {plain(warning)}", fg="yellow")
