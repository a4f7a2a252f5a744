"""The hooks of a provider, API version 1: all that an author needs to read.

A provider is a class, named by an entry point in the group ``gateway_core.providers.v1``. The
host builds one instance per configured provider, as ``ProviderClass(context)``, and asks it
the five questions below. ``decide``, ``probe`` and ``list_models`` are ``async def``;
``capabilities`` and ``build_url`` are ``def``. An implementation may take fewer arguments than
its specification. A hook with a name that is not here is an error when the provider is built.

    from gateway_core import Capabilities, DecisionReply, DecisionRequest, Format
    from gateway_core import Operation, ProviderContext, bearer, hookimpl


    class AcmeProvider:
        default_base_url = "https://api.acme.example"

        def __init__(self, context: ProviderContext[None]) -> None:
            self.context = context

        @hookimpl
        def capabilities(self) -> Capabilities:
            return Capabilities(formats=frozenset({Format.SYSTEMONE}))

        @hookimpl
        def build_url(self, operation: Operation) -> str:
            return self.context.url("/v1/systemone")

        @hookimpl
        async def decide(self, request: DecisionRequest, url: str) -> DecisionReply:
            headers = bearer(self.context.required_api_key(request))
            return await self.context.forward(request, url, headers=headers)
"""

from collections.abc import Sequence
from typing import Final, Protocol

import pluggy

from gateway_core.api import API_VERSION, CLAIMS_GROUP, PROVIDERS_GROUP
from gateway_core.types import (
    Capabilities,
    DecisionReply,
    DecisionRequest,
    ModelInfo,
    Operation,
    ProbeResult,
)

__all__ = [
    "API_VERSION",
    "CLAIMS_GROUP",
    "PROJECT",
    "PROVIDERS_GROUP",
    "ProviderSpec",
    "hookimpl",
    "hookspec",
]

PROJECT: Final = "s1gw"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


class ProviderSpec(Protocol):
    """What the host asks of each provider that is configured: five questions."""

    @hookspec(firstresult=True)
    async def decide(self, request: DecisionRequest, url: str) -> DecisionReply:
        """Send ``request.body`` to ``url``, once, and return the reply as it came.

        Required. The host has built or spliced the body, vetted ``url`` (what ``build_url``
        returned) and keeps the time; the provider authenticates and sends. The same hook
        serves a question put to the decide chain and a body that is relayed.

        Args:
            request: the body in bytes, its format, the model it names, and headers that may
                go along. ``context.api_key(request)`` gives the credential to use.
            url: where to send it.

        Returns:
            The reply's bytes, status and headers, unchanged.

        Raises:
            ProviderError: there is no answer, for one of the reasons that its subclasses name.
                ``context.forward`` and ``context.post`` raise the right one; anything else
                becomes ``ProviderCrashed``.
        """
        raise NotImplementedError

    @hookspec(firstresult=True)
    async def probe(self, url: str) -> ProbeResult:
        """Say whether the engine at ``url`` is up and is the one expected.

        Optional; the default reports that the provider is not probed. A probe costs nothing:
        it makes no inference that anyone pays for.

        Args:
            url: what ``build_url`` returned for ``Operation.HEALTH``.
        """
        raise NotImplementedError

    @hookspec(firstresult=True)
    def capabilities(self) -> Capabilities:
        """Say what this provider can be asked.

        Required. Called once when the provider is built; does no I/O and gives equal answers.
        """
        raise NotImplementedError

    @hookspec(firstresult=True)
    async def list_models(self) -> Sequence[ModelInfo]:
        """Name the models that this provider serves, without asking the upstream.

        Optional; the default lists the configured models. A provider whose format lists only
        models that a catalogue knows marks the others ``listed=False``.
        """
        raise NotImplementedError

    @hookspec(firstresult=True)
    def build_url(self, operation: Operation, model: str) -> str:
        """Return the upstream URL for ``operation``; no I/O, no credential in it.

        Required. The host vets the URL before any hook may send something to it, and may keep
        it: for equal arguments the hook returns equal URLs. ``context.url(path)`` joins the
        configured base URL and prefix by the gateway's rules.

        Args:
            operation: what the URL is for.
            model: the model that is asked, for an upstream that names it in the URL; escape it
                there. Empty for the other operations, and where no model is configured. A hook
                that does not need it leaves the argument out.

        Raises:
            DestinationUnusable: the endpoint is not configured, or not usable.
        """
        raise NotImplementedError
