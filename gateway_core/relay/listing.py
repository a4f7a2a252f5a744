"""``GET /v1/decisions/models``: what a caller may name, asked of no upstream."""

import logging
from collections.abc import Iterable, Mapping
from typing import Any, Final

from gateway_core.errors import ProviderError
from gateway_core.provider import Provider
from gateway_core.relay.callers import Caller
from gateway_core.relay.targets import Table, Target
from gateway_core.types import ModelInfo, Operation

_log: Final = logging.getLogger("s1gw.relay")


async def list_models(table: Table, caller: Caller) -> dict[str, Any]:
    """Return the listing of the usable targets of ``table`` that the caller's key allows."""
    infos: dict[str, Mapping[str, ModelInfo]] = {}
    for target in table.targets:
        if target.id not in infos:
            infos[target.id] = await _known(target.provider) if _usable(target) else {}
    return {"object": "list", "data": list(_entries(table.targets, infos, caller))}


def _entries(
    targets: Iterable[Target], infos: Mapping[str, Mapping[str, ModelInfo]], caller: Caller
) -> Iterable[dict[str, Any]]:
    for target in targets:
        info = infos[target.id].get(target.model)
        if info is not None and info.listed and caller.may_use(target.id, target.model):
            yield {
                "id": f"{target.id}/{target.model}",
                "object": "model",
                "created": 0,
                "owned_by": target.id,
                "provider": target.id,
                "format": info.format.value,
            }


def _usable(target: Target) -> bool:
    if not target.right_format or not target.provider.usable:
        return False
    try:
        target.provider.url(Operation.DECIDE)
    except ProviderError:
        return False
    return True


async def _known(provider: Provider) -> Mapping[str, ModelInfo]:
    """Return what a provider says of its models: at least those that are configured."""
    try:
        return {info.id: info for info in await provider.models()}
    except ProviderError as error:
        _log.warning("provider %s lists no models: %s", provider.name, error)
        return {}
