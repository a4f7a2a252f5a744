"""The gateway for programs: open it once, ask it as often as you like.

async with Gateway.open() as gateway:
    reply = await gateway.decide({"question": "Is this urgent?", "context": {...}})
"""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Final, Self

import attrs

from gateway_core.assembly import (
    chain_of_one,
    make_decider,
    operators_parts,
    organizations_parts,
)
from gateway_core.config.load import load_config
from gateway_core.config.loaded import Loaded
from gateway_core.config.model import Config
from gateway_core.config.paths import state_dir_to_read
from gateway_core.decide import Cooldowns, Decider, Observer
from gateway_core.decisionlog.watch import Watch, watching
from gateway_core.middleware import MiddlewareSlot
from gateway_core.outbound import Outbound, WayOut
from gateway_core.registry import Registry
from gateway_core.reports import GatewayParts, capabilities_report, health_report
from gateway_core.reports.faults import require_sound

_log: Final = logging.getLogger("s1gw.gateway")


@attrs.frozen(kw_only=True, eq=False)
class Gateway:
    """One configuration, ready to be asked; use ``open``.

    Attributes:
        parts: its parts.
        decider: the decide contract over its chain.
    """

    parts: GatewayParts = attrs.field(repr=False)
    decider: Decider = attrs.field(repr=False)

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        config_path: str | os.PathLike[str] | None = None,
        *,
        environ: Mapping[str, str] = os.environ,
        observers: Sequence[Observer] = (),
    ) -> AsyncIterator[Self]:
        """Read the configuration and keep the connections until the block ends.

        A broken configuration does not raise: ``health`` and ``capabilities`` list its errors,
        and ``decide`` answers ``config_error`` if nothing usable is left.

        Args:
            config_path: the configuration file, which may begin with ``~``; the usual place when
                absent.
            environ: the environment variables, which go over the file.
            observers: who else is told about every decision.

        Raises:
            ConfigError: something is wrong with the configuration or a plugin, and
                ``S1GW_STRICT_PLUGINS`` asks for that to be fatal.
        """
        async with cls.serving(load_config(config_path, environ), observers=observers) as found:
            yield found

    @classmethod
    @asynccontextmanager
    async def serving(
        cls, loaded: Loaded, *, observers: Sequence[Observer] = (), outbound: WayOut | None = None
    ) -> AsyncIterator[Self]:
        """Do as ``open`` does, for a configuration that has been read.

        Args:
            loaded: the configuration.
            observers: who else is told about every decision.
            outbound: the way out of its providers; the network's when absent.
        """
        outbound = outbound or Outbound(loaded.environ)
        try:
            # In threads: they import plugins, and a server has others to answer meanwhile.
            parts = await asyncio.to_thread(operators_parts, loaded, outbound)
            await asyncio.to_thread(require_sound, parts.registry)
            shadow = partial(chain_of_one, parts)
            state, settings = state_dir_to_read(loaded.environ), loaded.config.decision_log
            async with watching(settings, state, shadow) as watch, parts.cooldowns:
                yield cls._of(parts, watch, observers)
        finally:
            await outbound.aclose()

    @classmethod
    def _of(cls, parts: GatewayParts, watch: Watch, observers: Sequence[Observer]) -> Self:
        parts = attrs.evolve(parts, log_problems=watch.problems)
        for notice in (parts.registry.plan.announcement, *watch.problems()):
            if notice:
                _log.warning("%s", notice)
        return cls(parts=parts, decider=make_decider(parts, (*watch.observers, *observers)))

    @classmethod
    def over(
        cls, registry: Registry, middleware: Sequence[MiddlewareSlot], cooldowns: Cooldowns
    ) -> Self:
        """Return a gateway over the chain of ``registry``, and the operator's middleware.

        Neither calibration fits nor measured thresholds apply to it, since they were made for
        the operator's providers, and what is decided is not logged. What is wrong with the
        middleware is the operator's to know: here it only closes the gateway.

        Args:
            registry: those providers.
            middleware: what every call passes.
            cooldowns: what the process knows of providers that are down; whoever made it closes
                it.
        """
        parts = organizations_parts(registry, middleware, cooldowns)
        return cls(parts=parts, decider=make_decider(parts))

    @property
    def config(self) -> Config:
        """The configuration that is in use."""
        return self.parts.loaded.config

    async def decide(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Ask for one decision.

        Args:
            request: ``question``, and what else ``schema/request.json`` allows.

        Returns:
            The reply of ``schema/response.json``; every failure is told in it.
        """
        return await self.decider.decide(request)

    async def health(self) -> dict[str, Any]:
        """Probe the providers of the chain, side by side and at no cost."""
        return await health_report(self.parts, paused=self.decider.is_paused())

    async def capabilities(self) -> dict[str, Any]:
        """Say what can be asked, and who answers; nobody is asked for it."""
        return capabilities_report(self.parts)
