"""``s1gw decide``: one question, one answer."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from gateway_core.cli.terminal import bar, percent, plain, say, say_aside, say_json
from gateway_core.errors import InvalidJson
from gateway_core.strict_json import read_json
from gateway_core.user_paths import expanded

EXIT_CODES: Final = {"decided": 0, "abstained": 3, "error": 1}
USAGE: Final = 2


_CODES: Final = "Exit codes: 0 decided, 3 abstained, 1 no answer, 2 the call itself is at fault."


@click.command(epilog=_CODES)
@click.argument("question")
@click.option("-o", "--option", "options", multiple=True, help="An answer to choose; repeat it.")
@click.option(
    "--context", metavar="JSON|@FILE", help="A JSON object that the answer depends on; @- is stdin."
)
@click.option("--min-confidence", type=float, help="Abstain below this, from 0 to 1.")
@click.option(
    "--order-check/--no-order-check",
    default=None,
    help="Ask twice, the second time with the options reversed; instead of as configured.",
)
@click.option(
    "--tournament/--no-tournament",
    default=None,
    help="Ask about more options than a provider takes, in groups; instead of as configured.",
)
@click.option(
    "--opposite",
    metavar="QUESTION",
    help="The same yes/no question in the opposite wording, which is asked as well.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the reply object for programs.")
@click.pass_obj
def decide(
    config_path: Path | None,
    question: str,
    *,
    options: tuple[str, ...],
    context: str | None,
    min_confidence: float | None,
    order_check: bool | None,
    tournament: bool | None,
    opposite: str | None,
    as_json: bool,
) -> None:
    """Ask one QUESTION; without options it is answered yes or no."""
    request: dict[str, Any] = {"question": question}
    if options:
        request["options"] = list(options)
    if context is not None:
        request["context"] = read_context(context)
    switches = {
        "min_confidence": min_confidence,
        "order_check": order_check,
        "tournament": tournament,
        "opposite": opposite,
    }
    request |= {name: value for name, value in switches.items() if value is not None}
    reply = _ask(config_path, request, say_json if as_json else partial(show, question))
    raise SystemExit(exit_code(reply))


def _ask(
    config_path: Path | None, request: dict[str, Any], tell: Callable[[dict[str, Any]], None]
) -> dict[str, Any]:
    import asyncio

    from gateway_core.cli.running import GuardedStdout, plugins_at_work
    from gateway_core.gateway import Gateway

    async def ask(answering: GuardedStdout) -> dict[str, Any]:
        async with Gateway.open(config_path) as gateway:
            reply = await gateway.decide(request)
            # To close the gateway is to wait for its shadows, which the answer does not.
            with answering.now():
                tell(reply)
            return reply

    with plugins_at_work() as answering:
        return asyncio.run(ask(answering))


def read_context(text: str) -> dict[str, Any]:
    """Return the context that a command line gives: JSON, or ``@FILE`` with JSON in it.

    Raises:
        click.BadParameter: it is not a JSON object, or the file cannot be read.
    """
    try:
        if text.startswith("@"):
            text = (
                sys.stdin.read() if text == "@-" else expanded(text[1:]).read_text(encoding="utf-8")
            )
        found = read_json(text, "the context")
    except OSError as error:
        raise _bad_context(f"the file cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise _bad_context("the file is not UTF-8") from None
    except InvalidJson as error:
        raise _bad_context(f"{error}; expected JSON, or @FILE with JSON in it") from None
    if not isinstance(found, dict):
        raise _bad_context("expected a JSON object")
    return found


def _bad_context(message: str) -> click.BadParameter:
    return click.BadParameter(message, param_hint="--context")


def exit_code(reply: dict[str, Any]) -> int:
    """Return the exit code that tells a shell how a decision ended."""
    if reply["status"] == "error" and reply["error"]["code"] == "invalid_request":
        return USAGE
    return EXIT_CODES[reply["status"]]


def show(question: str, reply: dict[str, Any]) -> None:
    """Print a reply for a person."""
    say(f"\n  {plain(question)}\n", bold=True)
    for option, share in (reply["probabilities"] or {}).items():
        chosen = option == reply["decision"]
        mark, colour = (">", "green") if chosen else (" ", None)
        say(f"  {mark} {bar(share)} {percent(share):>6}  {plain(option)}", fg=colour, bold=chosen)
    if reply["probabilities"]:
        say()
    _show_outcome(reply)
    for warning in reply.get("warnings") or ():
        say_aside(f"  note: {plain(warning)}", fg="yellow")


def _show_outcome(reply: dict[str, Any]) -> None:
    match reply["status"]:
        case "decided":
            say(f"  {plain(reply['decision'])}", fg="green", bold=True, nl=False)
            say(f"  {_sureness(reply['confidence'])}", nl=False)
            say(f", by {plain(reply['provider'])}{_model(reply)} in {reply['latency_ms']:.0f} ms")
        case "abstained":
            say("  abstained: ", fg="yellow", bold=True, nl=False)
            say(plain(reply["rationale"] or "reason it through yourself"))
        case _:
            for attempt in reply["attempts"]:
                say(f"  {plain(attempt['provider'])}: {plain(attempt['detail'] or '')}")
            say_aside("  error: ", fg="red", bold=True, nl=False)
            click.echo(f"{reply['error']['code']}: {plain(reply['error']['message'])}", err=True)


def _sureness(confidence: float | None) -> str:
    if confidence is None:
        return "with no known confidence"
    return f"with confidence {percent(confidence)}"


def _model(reply: dict[str, Any]) -> str:
    return f" ({plain(reply['model'])})" if reply.get("model") else ""
