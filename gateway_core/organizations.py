"""How the providers of all organizations stand: for the operator, who sees every one."""

import asyncio
from typing import Any, Final

from gateway_core.config.model import OrgConfig
from gateway_core.decide import Cooldowns
from gateway_core.gateway import Gateway
from gateway_core.registry import OrgRegistry

_AT_ONCE: Final = 16
"""How many organizations are looked at side by side."""


async def organizations_health(gateway: Gateway) -> dict[str, Any]:
    """Probe every organization's providers at no cost, as ``Gateway.health`` does its own.

    Args:
        gateway: the operator's.

    Returns:
        ``status``, which is the worst of them, or ``none`` without any; ``config_errors``; and
        ``orgs``, with the health report of each, in which ``left_out`` says which of its
        providers are not asked, and why.
    """
    turns = asyncio.Semaphore(_AT_ONCE)

    async def look(org: str) -> dict[str, Any]:
        async with turns:
            return await _report(gateway, org)

    names = list(dict.fromkeys((*gateway.config.orgs, *gateway.parts.loaded.dropped_of)))
    reports = await asyncio.gather(*map(look, names))
    return {
        "status": _worst([report["status"] for report in reports]),
        "config_file": str(gateway.config.source) if gateway.config.source else None,
        "config_errors": gateway.parts.config_errors,
        "orgs": dict(zip(names, reports, strict=True)),
    }


async def _report(gateway: Gateway, org: str) -> dict[str, Any]:
    registry = OrgRegistry(gateway.parts.registry, org, lambda _provider, _model: True)
    report = await Gateway.over(registry, gateway.parts.middleware, Cooldowns()).health()
    tables = gateway.config.orgs.get(org, OrgConfig()).providers
    left_out = {
        name: "enabled = false" if not table.enabled else "it lists no models"
        for name, table in tables.items()
        if not table.enabled or not table.models
    }
    return {**report, "left_out": left_out}


def _worst(statuses: list[str]) -> str:
    order = ("paused", "down", "degraded", "ok")
    return next((status for status in order if status in statuses), "none")
