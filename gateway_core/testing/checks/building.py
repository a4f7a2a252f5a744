"""Checks of how a provider is built and what it says about itself."""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, Final

import attrs

from gateway_core.errors import ConfigError
from gateway_core.provider import Provider
from gateway_core.testing.checks.check import check, require
from gateway_core.testing.checks.subject import KEY, Subject
from gateway_core.testing.checks.ways_out import NoWayOut
from gateway_core.types import Operation

_events: ContextVar[list[str] | None] = ContextVar("audit_events", default=None)
_LIMITS: Final = ("max_options", "max_questions", "max_question_length", "instructions_length")
_WATCHED: Final = ("socket.", "subprocess.", "os.exec", "os.posix_spawn", "os.system")


@check(
    "The class has the required hooks, with the arguments and the async of the specification.",
    why="A misspelt or sync hook would be skipped, or would block every other caller.",
)
def the_class_fits_the_specification(subject: Subject) -> None:
    """Build it; the host's own registration does the checking."""
    subject.build()


@check(
    "The settings it is given are taken, and unknown ones are refused.",
    why="A misspelt key that is ignored leaves the user with a default they did not choose.",
)
def unknown_settings_are_refused(subject: Subject) -> None:
    """With the settings of the contract's subject, then with one key more."""
    subject.build()
    try:
        subject.build(settings={**subject.settings, "s1gw_no_such_key": 1})
    except ConfigError:
        return
    require(holds=False, found="the key s1gw_no_such_key was accepted")


@check(
    "No repr shows a secret.",
    why="Reprs end up in logs and in tracebacks, and those in other people's hands.",
)
def no_repr_shows_a_secret(subject: Subject) -> None:
    """The provider, the plugin, and everything that the plugin keeps."""
    provider = subject.build()
    plugin = _plugin(provider)
    for shown in (provider, plugin, *_kept(plugin)):
        require(KEY.reveal() not in repr(shown), f"repr of a {type(shown).__name__} shows the key")


@check(
    "Capabilities are equal whenever they are asked for.",
    why="The host reads them once, when the provider is built.",
)
def capabilities_are_equal_twice(subject: Subject) -> None:
    """Of one instance, and of two."""
    provider = subject.build()
    again = provider.hooks.capabilities()
    require(provider.capabilities == again == subject.build().capabilities, "they differ")


@check(
    "Capabilities, URLs and models come without I/O.",
    why="They are asked for while the gateway starts and while it lists; neither may wait.",
)
def describing_itself_does_no_io(subject: Subject) -> None:
    """Building it, its URLs and its models, under the interpreter's audit events."""
    sender = NoWayOut()
    with _audit() as events:
        provider = subject.build(sender)
        for operation in Operation:
            provider.url(operation)
    asyncio.run(provider.models())
    require(not sender.tried, "it tried to send something")
    require(not events, f"it caused {', '.join(sorted(set(events)))}")


@check(
    "Capabilities make sense.",
    why="The host puts questions by them: a wrong one turns into refusals by the upstream.",
)
def capabilities_make_sense(subject: Subject) -> None:
    """Every value is one that the host can act on."""
    found = subject.build().capabilities
    limits = {name: getattr(found, name) for name in _LIMITS}
    for name, limit in limits.items():
        require(limit is None or limit >= 1, f"{name} is {limit}")
    require(found.max_options != 1, "max_options is 1, and a question has at least two")
    names = {*found.feature_headers, found.request_id_header or ""}
    require(all(name == name.lower() for name in names), "header names are not in lower case")
    known = ("model", "estimated", "none")
    require(found.probabilities in known, f"probabilities is {found.probabilities!r}")


@check(
    "Every configured model is listed, each once, in a format of the capabilities.",
    why="The listing is what clients choose from; it names what a call can be made with.",
)
def models_are_listed_in_its_formats(subject: Subject) -> None:
    """Others may be listed beside those that are configured."""
    provider = subject.build()
    models = asyncio.run(provider.models())
    ids = [model.id for model in models]
    require(len(set(ids)) == len(ids), "a model is listed twice")
    for model in models:
        require(model.format in provider.capabilities.formats, f"{model.id!r} is in {model.format}")
    missing = set(provider.endpoint.models) - set(ids)
    require(not missing, f"configured models are missing: {', '.join(sorted(missing))}")


def _plugin(provider: Provider) -> object:
    hooks: Any = provider.hooks
    return hooks.decide.get_hookimpls()[-1].plugin


def _kept(plugin: object) -> Iterator[object]:
    kind: type = type(plugin)
    if attrs.has(kind):
        yield from (getattr(plugin, field.name) for field in attrs.fields(kind))
    yield from getattr(plugin, "__dict__", {}).values()


@cache
def _install_audit_hook() -> None:
    # An audit hook cannot be removed, so there is one, and it is idle outside _audit.
    def note(event: str, _: tuple[object, ...]) -> None:
        events = _events.get()
        if events is not None and event.startswith(_WATCHED):
            events.append(event)

    sys.addaudithook(note)


@contextmanager
def _audit() -> Iterator[list[str]]:
    _install_audit_hook()
    events: list[str] = []
    token = _events.set(events)
    try:
        yield events
    finally:
        _events.reset(token)
