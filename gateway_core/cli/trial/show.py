"""What the trial tells a person or a pipeline."""

from gateway_core.cli.running import run
from gateway_core.cli.terminal import plain, say
from gateway_core.cli.trial.run import Trial, try_out
from gateway_core.servers.http.checked import Checked, Options


def show_trial(options: Options) -> None:
    """Check what would be served, try it out, and say what came of it.

    Raises:
        ConfigError: the server would not start.
        SystemExit: with 1 when a request was not served, else with 0.
    """
    loaded = options.load()
    Checked.of(options, loaded)
    trials = run(try_out(loaded))
    if not trials:
        say("No organization is configured; the server starts.")
    for trial in trials:
        _show(trial)
    raise SystemExit(0 if all(trial.ok for trial in trials) else 1)


def _show(trial: Trial) -> None:
    colour, state = ("green", "served") if trial.ok else ("red", "not served")
    say(f"{plain(trial.who)}: {state}: {plain(trial.told)}", fg=colour)
