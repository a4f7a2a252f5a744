"""``s1gw keys``: the gateway's own keys, made, listed, revoked and replaced."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import click

from gateway_core.cli.terminal import say, say_json, table
from gateway_core.errors import ConfigError

_UNITS: Final = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_HEADING: Final = ("id", "org", "kind", "name", "state", "created", "expires", "limits")

_LIMITS: Final = (("rpm", "a minute"), ("concurrency", "at once"))
_LISTS: Final = ("models", "providers", "addresses")


@click.group()
def keys() -> None:
    """Make, list, revoke and replace the keys of the HTTP gateway.

    Only hashes are kept, in keys.json in the state folder. Running servers see every change
    within a second.
    """


def _expiry(_: click.Context, __: click.Parameter, text: str | None) -> datetime | None:
    if text is None:
        return None
    now = datetime.now(UTC)
    moment = _moment(text, now)
    if moment <= now:
        raise click.BadParameter("the key would have expired already; use a time that is to come")
    return moment


def _moment(text: str, now: datetime) -> datetime:
    spoken = re.fullmatch(r"(\d{1,5})([mhdw])", text)
    if spoken:
        return now + timedelta(**{_UNITS[spoken[2]]: int(spoken[1])})
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter("use 30m, 12h, 90d, 4w or a date such as 2027-01-31") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _words(_: click.Context, __: click.Parameter, text: str | None) -> tuple[str, ...]:
    if text is None:
        return ()
    found = tuple(filter(None, re.split(r"[,\s]+", text)))
    if not found:
        # A variable that is empty must not make a key that may do everything.
        raise click.BadParameter("names nothing; leave the option out to allow all")
    return found


@keys.command()
@click.option("--org", help="The organization, [orgs.NAME] in the configuration.")
@click.option("--internal", "kind", flag_value="internal", help="For an internal platform.")
@click.option("--managed", "kind", flag_value="managed", help="A managed-service token.")
@click.option("--name", default="", help="What you call it.")
@click.option("--models", callback=_words, help="The only models, by commas.")
@click.option("--providers", callback=_words, help="The only providers, by commas.")
@click.option("--addresses", callback=_words, help="The only networks to call from.")
@click.option("--rpm", type=click.IntRange(min=1), help="Requests a minute.")
@click.option("--concurrency", type=click.IntRange(min=1), help="Requests at once.")
@click.option("--expires", callback=_expiry, metavar="WHEN", help="30m, 12h, 90d, 4w or a date.")
@click.option("--force", is_flag=True, help="Although the configuration lacks the organization.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.pass_obj
def create(
    config_path: Path | None, /, *, kind: str | None, force: bool, as_json: bool, **settings: Any
) -> None:
    """Make a key and show it, once.

    The key of an organization uses that organization's providers. An internal key brings a
    customer's provider key with each call. A managed token is refused with byok_required.
    """
    from gateway_core.door.keys.manage import create_key, described
    from gateway_core.door.keys.record import KeySettings
    from gateway_core.door.rights import CallerKind

    wanted = KeySettings(kind=CallerKind(kind or "org"), **settings)
    if wanted.org is not None and not force:
        _require_configured(wanted.org, config_path)
    record, key = create_key(wanted)
    _show_once(described(record), key.reveal(), as_json=as_json)


def _require_configured(org: str, config_path: Path | None) -> None:
    """Refuse an organization without which the key could use nothing."""
    from gateway_core.config.load import load_config

    known = load_config(config_path).config.orgs
    if org not in known:
        those = f"it has {', '.join(known)}" if known else "it has no organization"
        raise ConfigError(
            f"--org: the configuration has no usable [orgs.{org}] ({those});"
            " add the table first, or say --force to make the key all the same"
        )


@keys.command("list")
@click.option("--org", help="Only this organization's.")
@click.option("--all", "show_all", is_flag=True, help="Revoked and expired ones too.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
def list_keys(org: str | None, *, show_all: bool, as_json: bool) -> None:
    """List keys, which are never shown again themselves."""
    from gateway_core.door.keys.manage import list_keys

    found = list_keys(org, show_all=show_all)
    if as_json:
        say_json(found)
    elif found:
        table([_row(key) for key in found], _HEADING)
    else:
        say("There are no keys. Make one: s1gw keys create --org NAME")


@keys.command()
@click.argument("key_id", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
def revoke(key_id: str, *, as_json: bool) -> None:
    """Stop a key, named by its ID or by itself, in running servers too."""
    from gateway_core.door.keys.manage import described, revoke_key

    record = revoke_key(key_id)
    if as_json:
        say_json(described(record))
    else:
        say(f"Key {record.id} is revoked.")


@keys.command()
@click.argument("key_id", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
def rotate(key_id: str, *, as_json: bool) -> None:
    """Give a key a new secret and show it, once; the old one stops working."""
    from gateway_core.door.keys.manage import described, rotate_key

    record, key = rotate_key(key_id)
    _show_once(described(record), key.reveal(), as_json=as_json)


def _show_once(described: dict[str, Any], key: str, *, as_json: bool) -> None:
    if as_json:
        say_json({"key": key, **described})
        return
    # The key alone goes to stdout, so that a script can take it from there.
    say(key)
    click.echo(f"Key {described['id']}. It is not shown again: store it now.", err=True)


def _row(key: dict[str, Any]) -> list[str]:
    limits = [f"{key[name]} {unit}" for name, unit in _LIMITS if key[name] is not None]
    limits += [f"{name}: {', '.join(key[name])}" for name in _LISTS if key[name]]
    named = [str(key[name] or "-") for name in ("id", "org", "kind", "name", "state")]
    return [*named, key["created"], key["expires"] or "never", "; ".join(limits) or "-"]
