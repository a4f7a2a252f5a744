# Compiled with mypyc; CONTRIBUTING.md, "The hot path", says what that asks of this file.
"""One configured provider, and the one step that both faces share: asking it."""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any, Final

import attrs

from gateway_core.context import Endpoint, ProviderContext, Sender
from gateway_core.errors import (
    ConfigError,
    CredentialUnusable,
    DestinationUnusable,
    MalformedResponse,
    Overloaded,
    PluginUnavailable,
    ProviderError,
    ProviderTimeout,
)
from gateway_core.hooks import (
    PluginCallGuard,
    checked_capabilities,
    checked_reply,
    direct_decide,
    make_hooks,
    plugin_build_guard,
    timeout_cause,
)
from gateway_core.hookspecs import ProviderSpec
from gateway_core.structure import PROCESS_SOURCES, Sources, plugin_settings
from gateway_core.time_limits import TimeLimit
from gateway_core.types import (
    Capabilities,
    DecisionReply,
    DecisionRequest,
    ModelInfo,
    Operation,
    ProbeResult,
)
from gateway_core.urls import IN_PROCESS, is_plain_http

_BUSY: Final = {"retry-after": "1"}
_MOST_URLS: Final = 64


class Provider:
    """A provider that is ready to be asked.

    Attributes:
        name: its name in the configuration.
        dialect: the plugin's dialect.
        hooks: the checked hooks; call ``ask``, ``probe`` and ``models`` instead.
        capabilities: what it can be asked, read once.
        endpoint: the common keys of its configuration.
        fault: what keeps it from being asked as it is configured; set by whoever builds it from
            a configuration, and None if it can be asked.
        path: where its table stands, for faults; set by whoever builds it from one.
        forbidden: why the policy for its destination turns every request away, as far as the
            text of its URLs tells; set by whoever builds it, and None if that may be allowed.
    """

    def __init__(
        self,
        *,
        name: str,
        dialect: str,
        hooks: ProviderSpec,
        capabilities: Capabilities,
        endpoint: Endpoint,
    ) -> None:
        """Work out once what every call needs."""
        self.name = name
        self.dialect = dialect
        self.hooks = hooks
        # A stranger's code returns anything, whatever its annotations say.
        self._hooks: Any = hooks
        self.capabilities = capabilities
        self.endpoint = endpoint
        self.fault: ConfigError | None = None
        self.path: str = f"providers.{name}"
        self.forbidden: ConfigError | None = None
        self._decide = direct_decide(hooks)
        self._guard = PluginCallGuard(name)
        self._longest_s = inf if endpoint.timeout_s is None else endpoint.timeout_s
        self._under_way = 0
        self._decide_urls: dict[str, str] = {}

    @property
    def model(self) -> str:
        """The model that the decide chain asks: the first configured one."""
        return self.endpoint.models[0] if self.endpoint.models else ""

    @property
    def usable(self) -> bool:
        """Whether it has the credential it needs."""
        return self.capabilities.keyless or self.endpoint.api_key is not None

    @property
    def obstacle(self) -> ConfigError | None:
        """What keeps the chain from asking it: its ``fault``, or a credential that it lacks."""
        if self.fault is not None or self.usable:
            return self.fault
        return CredentialUnusable(f'{self.path}: set api_key = {{ env = "NAME" }}')

    @property
    def hindrance(self) -> ConfigError | None:
        """Why every request to it fails, as far as that can be told without a network."""
        return self.obstacle or self.forbidden

    def url(self, operation: Operation, model: str = "") -> str:
        """Return the provider's URL for ``operation``, vetted.

        Args:
            operation: what the URL is for.
            model: the model that is asked for a decision; the provider's first when absent.

        Raises:
            DestinationUnusable: the provider names no usable URL.
            ProviderCrashed: the plugin raised something else.
        """
        if operation is Operation.DECIDE:
            model = model or self.model
        with self._guard:
            found: object = self._hooks.build_url(operation=operation, model=model)
        if not isinstance(found, str):
            raise DestinationUnusable(f"provider {self.name!r} did not name a URL")
        if found.startswith(IN_PROCESS) and not self.capabilities.remote:
            return found
        if not is_plain_http(found):
            raise DestinationUnusable(f"provider {self.name!r} did not name a plain http(s) URL")
        return found

    async def ask(self, request: DecisionRequest, timeout_s: float) -> DecisionReply:
        """Make one attempt at a decision.

        It takes at most ``timeout_s`` seconds, or the endpoint's own limit if that is less.

        Raises:
            ConfigError: its ``fault``; nothing was sent.
            ProviderError: the provider refused, failed, or gave something else than a reply.
        """
        url = self._decide_urls.get(request.model) or self._find_decide_url(request.model)
        bound = self.endpoint.max_concurrency
        if bound is not None and self._under_way >= bound:
            raise Overloaded(f"provider {self.name!r} is at its max_concurrency", headers=_BUSY)
        limit_s = min(timeout_s, self._longest_s)
        self._under_way += 1
        try:
            with TimeLimit(limit_s), self._guard:
                reply: object = await self._decide(request=request, url=url)
        except TimeoutError as error:
            raise ProviderTimeout(
                f"no answer within {limit_s:g} s", cause=timeout_cause(error)
            ) from None
        finally:
            self._under_way -= 1
        return checked_reply(reply)

    def _find_decide_url(self, model: str) -> str:
        # A provider with a fault has no URL that is kept, and so every request of it ends here.
        if self.fault is not None:
            raise type(self.fault)(*self.fault.faults)
        url = self.url(Operation.DECIDE, model)
        # Callers who bring a key of their own may name any model.
        if len(self._decide_urls) >= _MOST_URLS:
            self._decide_urls.clear()
        self._decide_urls[model] = url
        return url

    async def probe(self, timeout_s: float) -> ProbeResult:
        """Probe the provider; a failure of any kind is a result, not an exception."""
        limit_s = min(timeout_s, self._longest_s)
        if self.fault is not None:
            return ProbeResult(ok=False, detail=str(self.fault))
        try:
            url = self.url(Operation.HEALTH)
            with TimeLimit(limit_s), self._guard:
                found: object = await self._hooks.probe(url=url)
        except TimeoutError:
            return ProbeResult(ok=False, detail=f"no answer within {limit_s:g} s")
        except ProviderError as error:
            return ProbeResult(ok=False, detail=str(error))
        if isinstance(found, ProbeResult):
            return found
        return ProbeResult(ok=False, detail="the plugin did not return a ProbeResult")

    async def models(self) -> Sequence[ModelInfo]:
        """Return the models that the provider serves, without asking its upstream.

        Raises:
            ProviderError: the plugin failed, or returned something else than models.
        """
        with self._guard:
            found: object = await self._hooks.list_models()
        if not isinstance(found, Sequence) or not all(isinstance(m, ModelInfo) for m in found):
            raise MalformedResponse("the plugin did not return a list of ModelInfo")
        return found


def _with_defaults(endpoint: Endpoint, plugin_class: type, name: str) -> Endpoint:
    base_url: object = getattr(plugin_class, "default_base_url", None)
    models: object = getattr(plugin_class, "default_models", ())
    if not isinstance(base_url, str | None):
        raise PluginUnavailable(f"provider {name!r}: default_base_url must be text")
    if not isinstance(models, tuple) or not all(isinstance(model, str) for model in models):
        raise PluginUnavailable(f"provider {name!r}: default_models must be a tuple of texts")
    return attrs.evolve(
        endpoint,
        base_url=base_url if endpoint.base_url is None else endpoint.base_url,
        models=endpoint.models or models,
    )


def build_provider(
    plugin_class: type,
    *,
    name: str,
    dialect: str,
    endpoint: Endpoint,
    settings: Mapping[str, Any],
    sender: Sender,
    path: str | None = None,
    sources: Sources = PROCESS_SOURCES,
) -> Provider:
    """Build one provider from its class and its configuration, and check it.

    Args:
        plugin_class: what the dialect's entry point names.
        name: the provider's name in the configuration.
        dialect: the entry point's name.
        endpoint: the common keys of its table; its class has defaults for some.
        settings: its own keys.
        sender: its way out.
        path: where its table stands, for faults; ``providers.NAME`` when absent.
        sources: where credentials among its own keys are looked up.

    Raises:
        ConfigError: its settings have faults; each names its path.
        PluginUnavailable: the class breaks the hook specification or cannot be built.
    """
    where = f"{path or f'providers.{name}'}.settings"
    with plugin_build_guard(f"provider {name!r}: {plugin_class.__name__}"):
        own = plugin_settings(plugin_class, settings, where, sources)
        endpoint = _with_defaults(endpoint, plugin_class, name)
        context: ProviderContext[Any] = ProviderContext(
            name=name, dialect=dialect, endpoint=endpoint, settings=own, sender=sender
        )
        hooks = make_hooks(plugin_class(context), name, endpoint)
        return Provider(
            name=name,
            dialect=dialect,
            hooks=hooks,
            capabilities=checked_capabilities(hooks, name),
            endpoint=endpoint,
        )
