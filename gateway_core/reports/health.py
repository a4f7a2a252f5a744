"""Whether the chain can answer now: probes side by side, each bounded, none of them paid for."""

import asyncio
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any, Final

from gateway_core.decide import Link
from gateway_core.errors import ConfigError
from gateway_core.provider import Provider
from gateway_core.reports.parts import GatewayParts
from gateway_core.schema.request import SCHEMA_VERSION
from gateway_core.types import ProbeResult
from gateway_core.version import __version__

PROBE_TIMEOUT_S: Final = 5.0


async def health_report(parts: GatewayParts, *, paused: bool) -> dict[str, Any]:
    """Probe every provider of the chain and say how it stands.

    Args:
        parts: the parts of the gateway.
        paused: whether deciding is switched off.
    """
    parts.refresh()
    closed = any(slot.faults for slot in parts.middleware)
    probes = await asyncio.gather(*(_probed(link, parts) for link in parts.chain))
    roles = ["primary", *["fallback"] * len(probes)]
    providers = [{"role": role} | probe for role, probe in zip(roles, probes, strict=False)]
    source = parts.loaded.config.source
    return {
        "status": "paused" if paused else _status([] if closed else probes),
        "gateway_version": __version__,
        "schema_version": SCHEMA_VERSION,
        "config_file": None if source is None else str(source),
        "config_errors": parts.config_errors,
        "chain_source": parts.chain_source,
        "providers": providers,
        "candidates": _candidates(parts),
        "middleware": parts.middleware_report,
        "warnings": parts.warnings,
    }


def _status(probes: Sequence[Mapping[str, Any]]) -> str:
    if not any(probe["ok"] for probe in probes):
        return "down"
    as_usual = probes[0]["ok"] and probes[0]["cooldown"] is None
    return "ok" if as_usual else "degraded"


def _candidates(parts: GatewayParts) -> list[dict[str, Any]]:
    plan = parts.registry.plan
    return [
        {"name": found.name, "in_chain": found.name in plan.chain, "why": found.reason}
        for found in plan.candidates
    ]


async def _probed(link: Link, parts: GatewayParts) -> dict[str, Any]:
    started = perf_counter()
    found = await _probe(link.provider)
    return {
        "name": link.name,
        "ok": found.ok,
        "latency_ms": round((perf_counter() - started) * 1000, 3),
        "detail": found.detail,
        "cooldown": _cooldown(link.provider, parts),
    }


def _cooldown(provider: Provider | ConfigError, parts: GatewayParts) -> str | None:
    """Say why questions pass the provider over now; None when it is asked as usual."""
    return parts.cooldowns.words(provider) if isinstance(provider, Provider) else None


async def _probe(provider: Provider | ConfigError) -> ProbeResult:
    if isinstance(provider, ConfigError):
        return ProbeResult(ok=False, detail=str(provider))
    if obstacle := provider.obstacle:
        return ProbeResult(ok=False, detail=str(obstacle))
    own = provider.endpoint.timeout_s
    return await provider.probe(PROBE_TIMEOUT_S if own is None else min(own, PROBE_TIMEOUT_S))
