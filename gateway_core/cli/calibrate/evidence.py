"""What is in force: ``s1gw calibrate list``, ``show``, ``rm`` and ``rollback``."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import click

from gateway_core.cli.faults import told_plainly
from gateway_core.cli.terminal import percent, plain, say, say_json, table
from gateway_core.errors import ConfigError

if TYPE_CHECKING:
    from gateway_core.calibration import Calibrator, Thresholds

_FITS: Final = ("fit", "provider", "model", "type", "options", "temperature", "examples", "state")
_RECORDS: Final = ("threshold", "from", "budget", "coverage", "bound", "fit", "created", "state")


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
def listing(*, as_json: bool) -> None:
    """List fits and thresholds, and which of them are in force."""
    with told_plainly():
        fits, thresholds = _in_force()
    if as_json:
        say_json(_plain(fits, thresholds))
        return
    _list_thresholds(fits, thresholds)
    _list_fits(fits, thresholds)
    for problem in (*fits.problems, *thresholds.problems):
        click.echo(f"note: {plain(problem)}", err=True)


@click.command()
@click.argument("name", required=False)
def show(name: str | None) -> None:
    """Print all that is known of a fit or threshold, as JSON; of all of them without NAME."""
    with told_plainly():
        found = _plain(*_in_force())
    every = [*found["thresholds"], *found["fits"]]
    if name is None:
        say_json(found)
        return
    wanted = [one for one in every if name in (one.get("id"), one.get("name"))]
    if not wanted:
        raise ConfigError(f"there is no fit or threshold {name!r}; s1gw calibrate list")
    say_json(wanted[0] if len(wanted) == 1 else wanted)


@click.command("rm")
@click.argument("names", nargs=-1, required=True)
def remove(names: tuple[str, ...]) -> None:
    """Take fits and thresholds out of force, by the names that list gives them.

    A threshold takes its fit with it, and comes back with rollback; a fit's file is deleted.
    """
    with told_plainly():
        fits, thresholds = _in_force()
        known = {row.name for row in thresholds.measured.values()}
        files = {file.id for file in fits.fits}
        for name in names:
            if name not in known | files:
                raise ConfigError(f"there is no fit or threshold {name!r}; s1gw calibrate list")
        _remove(known & set(names), files & set(names))
    say(f"Removed: {plain(', '.join(names))}.")


def _remove(thresholds: set[str], fits: set[str]) -> None:
    from gateway_core.calibration.thresholdfile import remove_thresholds
    from gateway_core.config.paths import state_dir

    if thresholds:
        remove_thresholds(state_dir(), thresholds, datetime.now(UTC))
    for name in fits:
        (state_dir() / "calibration" / f"{name}.json").unlink()


@click.command("rollback")
@click.argument("name")
def roll_back(name: str) -> None:
    """Put the threshold that was in force before back in force, together with its fit."""
    with told_plainly():
        from gateway_core.calibration.thresholdfile import rollback
        from gateway_core.config.paths import state_dir

        row = rollback(state_dir(), name, datetime.now(UTC))
    say(f"{plain(row.name)}: {row.threshold} with {plain(row.fit or 'no fit')} is in force again.")


def _in_force() -> "tuple[Calibrator, Thresholds]":
    from gateway_core.calibration import Calibrator
    from gateway_core.cli.calibrate.inforce import thresholds_in_force
    from gateway_core.config.paths import state_dir

    return Calibrator.load(state_dir() / "calibration"), thresholds_in_force()


def _plain(fits: "Calibrator", thresholds: "Thresholds") -> dict[str, Any]:
    import attrs

    return {
        "thresholds": [
            {"name": row.name, **attrs.asdict(row), "stale": fits.stale.get(row.name)}
            for row in thresholds.measured.values()
        ],
        "fits": [{**attrs.asdict(file), "stale": fits.stale.get(file.id)} for file in fits.fits],
    }


def _list_thresholds(fits: "Calibrator", thresholds: "Thresholds") -> None:
    rows = [
        [
            row.name,
            str(row.threshold),
            f"{row.max_error:g}",
            percent(row.coverage),
            f"≤ {percent(row.error_bound)}",
            row.fit or "none",
            row.created[:10] or "unknown",
            "stale: another model answers" if row.name in fits.stale else "in force",
        ]
        for row in thresholds.measured.values()
    ]
    if rows:
        table(rows, _RECORDS)
        say()
    else:
        say("No measured threshold is in force.")


def _list_fits(fits: "Calibrator", thresholds: "Thresholds") -> None:
    rows = [
        [
            file.id,
            file.provider,
            fit.model,
            fit.question_type,
            fit.bucket,
            f"{fit.temperature:.3f}",
            str(fit.examples),
            _state(
                fits, thresholds, file.id, (file.provider, fit.question_type, fit.bucket), fit.model
            ),
        ]
        for file in fits.fits
        for fit in file.fits
    ]
    if rows:
        table(rows, _FITS)
    else:
        say("There is no fit.")


def _state(
    fits: "Calibrator",
    thresholds: "Thresholds",
    fit_id: str,
    kind: tuple[str, str, str],
    model: str,
) -> str:
    record = thresholds.measured.get((kind, model))
    if fit_id in fits.stale:
        return "stale: another model answers"
    if record is not None and record.fit == fit_id:
        return "in force"
    if not fits.is_last(fit_id, kind, model):
        return "superseded"
    return "in force" if record is None else "waits for a threshold of its own"
