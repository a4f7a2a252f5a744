"""What the gateway can be asked, by whom it is answered, and under which limits."""

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

import attrs

from gateway_core.catalog import PluginKind
from gateway_core.provider import Provider
from gateway_core.reports.parts import GatewayParts
from gateway_core.schema import REQUEST, RESPONSE, SCHEMA_VERSION
from gateway_core.types import Capabilities, LabelRules
from gateway_core.version import __version__

TOOLS: Final = ("system1_decide", "system1_health", "system1_capabilities")


def capabilities_report(parts: GatewayParts) -> dict[str, Any]:
    """Say what the gateway can do; asks nobody."""
    parts.refresh()
    decide = parts.loaded.config.decide
    providers = [link.provider for link in parts.chain if isinstance(link.provider, Provider)]
    return {
        "gateway_version": __version__,
        "schema_versions": [SCHEMA_VERSION],
        "tools": list(TOOLS),
        "chain": [link.name for link in parts.chain],
        "chain_source": parts.chain_source,
        "timeout_s": decide.timeout_s,
        "deadline_s": decide.deadline_s,
        "threshold": decide.threshold,
        "thresholds": dict(decide.thresholds),
        "evidence": _evidence(parts),
        "providers": [_provider(provider) for provider in providers],
        "middleware": parts.middleware_report,
        "calibration": _fits(parts),
        "available_providers": _available(parts),
        "config_errors": parts.config_errors,
        "warnings": parts.warnings,
        "request_schema": REQUEST,
        "response_schema": RESPONSE,
    }


def _provider(provider: Provider) -> dict[str, Any]:
    return {
        "name": provider.name,
        "dialect": provider.dialect,
        "model": provider.model or None,
        "capabilities": _plain(provider.capabilities),
    }


def _plain(value: object) -> Any:
    """Return ``value`` as JSON has it: sets sorted, enumerations by their values."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Capabilities | LabelRules):
        return _plain(attrs.asdict(value, recurse=False))
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, frozenset):
        return sorted(_plain(item) for item in value)
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def _fits(parts: GatewayParts) -> list[dict[str, Any]]:
    stale = parts.calibrator.stale
    used = parts.calibrator.current | {row.fit for row in parts.thresholds.measured.values()}
    return [
        {
            "id": fit.id,
            "provider": fit.provider,
            "created": fit.created,
            "stale": stale.get(fit.id),
            "in_force": fit.id in used,
        }
        for fit in parts.calibrator.fits
    ]


def _evidence(parts: GatewayParts) -> list[dict[str, Any]]:
    """Return the measured thresholds in force, each with its fit."""
    stale = parts.calibrator.stale
    return [
        {
            "name": row.name,
            "threshold": row.threshold,
            "max_error": row.max_error,
            "error_bound": row.error_bound,
            "coverage": row.coverage,
            "examples": row.examples,
            "fit": row.fit,
            "created": row.created,
            "stale": stale.get(row.name),
        }
        for row in parts.thresholds.measured.values()
    ]


def _available(parts: GatewayParts) -> list[dict[str, Any]]:
    return [
        {
            "dialect": ref.name,
            "distribution": ref.distribution,
            "version": ref.version,
            "state": ref.state.value,
            "detail": ref.detail,
        }
        for ref in parts.registry.catalog.refs
        if ref.kind is PluginKind.PROVIDER
    ]
