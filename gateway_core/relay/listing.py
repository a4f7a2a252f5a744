"""What a caller may name, asked of no upstream: for OpenAI's clients and for System One's."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from gateway_core.door.callers import Caller
from gateway_core.errors import ProviderError
from gateway_core.provider import Provider
from gateway_core.relay.targets import RelayTarget, Table
from gateway_core.types import Format, ModelInfo

_log: Final = logging.getLogger("s1gw.relay")


async def list_models(table: Table, caller: Caller) -> dict[str, Any]:
    """Return the listing of the usable targets of ``table`` that the caller's key allows."""
    known: dict[str, Mapping[str, Format]] = {}
    for target in table.targets:
        if target.id not in known:
            known[target.id] = (
                await _formats(table, target) if target.provider.obstacle is None else {}
            )
    return {"object": "list", "data": list(_entries(table.targets, known, caller))}


def names(entries: Iterable[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return the entries of a listing in the form that System One's clients read.

    They want a release date of each, which no configuration says.
    """
    return [
        {
            "name": entry["id"],
            "description": f"{entry['format']} model of {entry['provider']}",
            "release_date": "unknown",
        }
        for entry in entries
    ]


def _entries(
    targets: Iterable[RelayTarget], known: Mapping[str, Mapping[str, Format]], caller: Caller
) -> Iterable[dict[str, Any]]:
    for target in targets:
        wire = known[target.id].get(target.model)
        if wire is not None and caller.may_use(target.id, target.model):
            yield {
                "id": f"{target.id}/{target.model}",
                "object": "model",
                "created": 0,
                "owned_by": target.id,
                "provider": target.id,
                "format": wire.value,
            }


async def _formats(table: Table, target: RelayTarget) -> Mapping[str, Format]:
    """Return the models of a target's provider that are listed, and their formats.

    Of System One that is every configured model; a catalogue is for the format of OpenAI alone.
    """
    if target.provider.capabilities.formats == {Format.SYSTEMONE}:
        configured = (other.model for other in table.targets if other.id == target.id)
        return dict.fromkeys(configured, Format.SYSTEMONE)
    return {info.id: info.format for info in await _told(target.provider) if info.listed}


async def _told(provider: Provider) -> Sequence[ModelInfo]:
    try:
        return await provider.models()
    # A plugin that fails must not hide the others' models.
    except ProviderError as error:
        _log.warning("provider %s lists no models: %s", provider.name, error)
        return ()
