"""Checks of how a provider is built and what it says about itself."""

import asyncio
from collections.abc import Iterator
from time import perf_counter
from typing import Any, Final

import attrs

from gateway_core.provider import Provider
from gateway_core.testing.checks.check import Needs, check, require
from gateway_core.testing.checks.subject import KEY, Subject
from gateway_core.testing.checks.ways_out import NoWayOut
from gateway_core.testing.watch.audit import Audit, Deed, watching
from gateway_core.testing.watch.state import changes, state_of_the_process
from gateway_core.types import Operation

_LIMITS: Final = ("max_options", "max_questions", "max_question_length", "instructions_length")
_AT_ONCE_S: Final = 0.25


@check(
    "The class can be built: with its settings, and with hooks as the specification has them.",
    why="A misspelt or unmarked hook would be skipped; a sync one would block every other caller.",
    is_base=True,
)
def the_class_fits_the_specification(subject: Subject) -> None:
    """Build it; the host's own registration does the checking."""
    subject.build()


@check(
    "No repr shows a secret.",
    why="Reprs end up in logs and in tracebacks, and those in other people's hands.",
    needs=Needs.BUILDING,
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
    needs=Needs.BUILDING,
)
def capabilities_are_equal_twice(subject: Subject) -> None:
    """Of one instance, and of two."""
    provider = subject.build()
    again = provider.hooks.capabilities()
    require(provider.capabilities == again == subject.build().capabilities, "they differ")


@check(
    "Capabilities, URLs and models come without I/O.",
    why="They are asked for while the gateway starts and while it lists; neither may wait.",
    needs=Needs.BUILDING,
)
def describing_itself_does_no_io(subject: Subject) -> None:
    """Building it, its URLs and its models, under the interpreter's audit events."""
    sender = NoWayOut()
    before = state_of_the_process()
    with watching(Audit()) as audit:
        asyncio.run(_described(subject, sender))
    changed = changes(before, state_of_the_process())
    require(not sender.tried, "it tried to send something")
    for deed in Deed:
        require(not audit.of(deed), f"it caused {', '.join(audit.of(deed))}")
    require(not changed, f"it changed {', '.join(changed)}")


async def _described(subject: Subject, sender: NoWayOut) -> None:
    provider = subject.build(sender)
    for operation in Operation:
        provider.hooks.build_url(operation=operation, model=provider.model)
    await provider.models()


@check(
    "Capabilities, URLs and models come at once.",
    why="They are asked for on the gateway's one event loop; a model is loaded on first use.",
    needs=Needs.BUILDING,
)
def describing_itself_takes_no_time(subject: Subject) -> None:
    """The shortest of three times counts, because machines are busy now and then."""
    times = []
    for _ in range(3):
        started = perf_counter()
        asyncio.run(_described(subject, NoWayOut()))
        times.append(perf_counter() - started)
        if times[-1] < _AT_ONCE_S:
            return
    require(holds=False, found=f"it took {min(times):.1f} s")


@check(
    "Capabilities make sense.",
    why="The host puts questions by them: a wrong one turns into refusals by the upstream.",
    needs=Needs.BUILDING,
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
    needs=Needs.BUILDING,
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
