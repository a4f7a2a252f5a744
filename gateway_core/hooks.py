"""From a plugin's class to checked, typed hooks: one plugin manager per provider.

With a manager of its own nothing else can ever answer for a provider, whatever is registered
later; and two providers of one dialect are told apart by their instances, with no dispatching.
"""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Final, cast

import attrs
import pluggy

from gateway_core.api import HOOKS
from gateway_core.causes import CONNECTING, Cause
from gateway_core.context import Endpoint
from gateway_core.errors import (
    ConfigError,
    MalformedResponse,
    PluginUnavailable,
    ProviderCrashed,
    ProviderError,
    ProviderTimeout,
)
from gateway_core.hookspecs import PROJECT, ProviderSpec, hookimpl
from gateway_core.places import place_of
from gateway_core.types import Capabilities, DecisionReply, Format, ModelInfo, ProbeResult

_log: Final = logging.getLogger("s1gw.provider")
_REQUIRED: Final = ("decide", "capabilities", "build_url")
_DEFAULTS: Final = "host-defaults"


@attrs.define(eq=False)
class DefaultHooks:
    """What the host answers where a provider has no hook of its own."""

    endpoint: Endpoint
    manager: pluggy.PluginManager

    @hookimpl(trylast=True)
    async def probe(self) -> ProbeResult:
        """Report that nothing was tried, rather than claim that all is well."""
        return ProbeResult(ok=True, detail="not probed")

    @hookimpl(trylast=True)
    async def list_models(self) -> Sequence[ModelInfo]:
        """List the configured models in the provider's first format."""
        formats = cast("ProviderSpec", self.manager.hook).capabilities().formats
        wire = next(iter(sorted(formats)), Format.SYSTEMONE)
        return [ModelInfo(id=model, format=wire) for model in self.endpoint.models]


def make_hooks(plugin: object, name: str, endpoint: Endpoint) -> ProviderSpec:
    """Register one provider and check it against the specification.

    Raises:
        PluginUnavailable: a hook is missing, misspelt, not marked with ``@hookimpl``, takes an
            argument that the specification does not have, or is sync where it must be async.
    """
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(ProviderSpec)
    manager.register(DefaultHooks(endpoint, manager), _DEFAULTS)
    try:
        manager.register(plugin, name)
        manager.check_pending()
    except pluggy.PluginValidationError as error:
        # The text shows the plugin, whose repr may hold anything.
        told = str(error).replace(repr(plugin), type(plugin).__name__)
        raise PluginUnavailable(f"provider {name!r}: {told}") from error
    faults = [fault for hook in HOOKS if (fault := _fault(manager, plugin, name, hook))]
    if faults:
        raise PluginUnavailable(*(f"provider {name!r}: {fault}" for fault in faults))
    return cast("ProviderSpec", manager.hook)


def _fault(manager: pluggy.PluginManager, plugin: object, name: str, hook: str) -> str | None:
    caller = getattr(manager.hook, hook)
    own = [found for found in caller.get_hookimpls() if found.plugin_name == name]
    if not own:
        # Without its mark a method is no hook, and the host's default would answer for it.
        if callable(getattr(type(plugin), hook, None)):
            return f"its method {hook!r} is not marked as a hook; put @hookimpl above it"
        return f"it has no {hook!r} hook" if hook in _REQUIRED else None
    wants_async = inspect.iscoroutinefunction(getattr(ProviderSpec, hook))
    if any(found.hookwrapper or found.wrapper for found in own):
        return f"hook {hook!r} must not be a wrapper"
    if inspect.iscoroutinefunction(own[0].function) == wants_async:
        return None
    return f"hook {hook!r} must be {'async def' if wants_async else 'def'}"


def checked_capabilities(hooks: ProviderSpec, name: str) -> Capabilities:
    """Ask for the capabilities once and make sure that they are capabilities.

    Raises:
        PluginUnavailable: they are something else, or the plugin raised.
    """
    with plugin_build_guard(f"provider {name!r}: 'capabilities'"):
        found: object = hooks.capabilities()
    if not isinstance(found, Capabilities) or not found.formats:
        raise PluginUnavailable(
            f"provider {name!r}: 'capabilities' must return Capabilities with at least one format"
        )
    return found


def checked_reply(found: object) -> DecisionReply:
    """Make sure that what ``decide`` returned is a reply, and a success.

    Raises:
        MalformedResponse: it is something else.
    """
    if not isinstance(found, DecisionReply) or not isinstance(found.body, bytes):
        raise MalformedResponse("the plugin did not return a DecisionReply")
    if not isinstance(found.status, int) or not 200 <= found.status < 300:
        raise MalformedResponse("the plugin returned a failure as if it were a reply")
    return found


@contextmanager
def plugin_build_guard(what: str) -> Iterator[None]:
    """A block in which a plugin is built; whatever it raises becomes ``PluginUnavailable``.

    A ``ConfigError`` is kept, and of the rest the type and the place alone are told: a stranger's
    code may raise anything, even a panic that is no ``Exception``, and its text may hold anything.
    """
    try:
        yield
    except (ConfigError, KeyboardInterrupt):
        raise
    except BaseException as error:
        told = f"{what} raised {type(error).__name__}{place_of(error)}"
        raise PluginUnavailable(told) from error


def interrupts(error: BaseException) -> bool:
    """Say whether ``error`` is no failure of a plugin's: the process or this call is given up."""
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        # When nobody cancelled this call, the plugin lost a task of its own.
        return task is None or task.cancelling() > 0
    return isinstance(error, KeyboardInterrupt | GeneratorExit)


def timeout_cause(error: TimeoutError) -> Cause:
    """Say what the time was spent on, by the note on the cancellation; see ``CONNECTING``."""
    # Compiled code keeps what an error comes from as its context alone.
    notes = getattr(error.__cause__ or error.__context__, "__notes__", ())
    return Cause.CONNECT_TIMEOUT if CONNECTING in notes else Cause.READ_TIMEOUT


class PluginCallGuard:
    """A block in which a provider's hook runs; whatever it raises becomes a ``ProviderError``.

    The hook's own ``ProviderError`` is kept; a ``TimeoutError`` is told as ``ProviderTimeout``
    and the rest as ``ProviderCrashed``, by the type alone: the text may hold anything. The log
    names the file and the line, too.
    """

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        """Take the provider's name."""
        self._name = name

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Raise the ``ProviderError`` that ``error`` means."""
        if error is None or isinstance(error, ProviderError) or interrupts(error):
            return
        if isinstance(error, TimeoutError):
            _log.info("provider %s gave up waiting%s", self._name, place_of(error))
            raise ProviderTimeout("the plugin gave up waiting") from None
        raise _crashed(self._name, error) from error


def direct_decide(hooks: ProviderSpec) -> Callable[..., Awaitable[object]]:
    """Return what calling ``hooks.decide`` comes to, without what pluggy does for many plugins.

    A provider's manager has no second implementation and no wrapper of this hook.
    """
    (own,) = cast("pluggy.HookCaller", hooks.decide).get_hookimpls()
    kinds = {parameter.kind for parameter in inspect.signature(own.function).parameters.values()}
    takes_all = len(own.argnames) == 2 and kinds == {inspect.Parameter.POSITIONAL_OR_KEYWORD}
    return cast("Callable[..., Awaitable[object]]", own.function if takes_all else hooks.decide)


def _crashed(name: str, error: BaseException) -> ProviderCrashed:
    kind = type(error).__name__
    _log.warning("provider %s crashed: %s%s", name, kind, place_of(error))
    return ProviderCrashed(f"the plugin raised {kind}")
