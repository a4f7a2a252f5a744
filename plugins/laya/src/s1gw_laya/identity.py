"""Which of the two Laya servers listens, if it is one of them at all.

The server of the ``laya`` package has ``/health``, which tells where a model runs, and no list
of models. ``laya-serve`` has ``/healthz``, which says only that something is up, and a list.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway_core import ProbeResult, ProviderContext, bearer
from gateway_core.errors import MalformedResponse, ProviderError

_STRANGER: Final = "something answers, but not as a Laya server does"
_BEHIND_KEY: Final = "something is up; if it is a Laya server that wants a key, set api_key"


async def identify(context: ProviderContext[Any], health_url: str) -> ProbeResult:
    """Ask ``health_url``, then what only ``laya-serve`` has.

    Raises:
        ProviderError: nothing listens, or it is not well.
    """
    health = await _answer(context, health_url)
    if "loaded" in health and "device" in health:
        return ProbeResult(ok=health.get("status") == "ok", detail=_running(health))
    if health:
        return ProbeResult(ok=False, detail=_BEHIND_KEY if _is_up(health) else _STRANGER)
    if not _is_up(await _answer(context, context.site_url("/healthz"))):
        return ProbeResult(ok=False, detail=_STRANGER)
    names = _names(await _answer(context, context.url("/v1/models")))
    if any(name.startswith("laya") for name in names):
        return ProbeResult(ok=True, detail=f"laya-serve, which takes {len(names)} model names")
    return ProbeResult(ok=False, detail=_STRANGER)


async def _answer(context: ProviderContext[Any], url: str) -> Mapping[str, Any]:
    """Fetch a JSON object; what is not there, or no JSON, says as little as an empty one."""
    try:
        return (await context.get(url, headers=bearer(context.api_key()))).json_object()
    except MalformedResponse:
        return {}
    except ProviderError as error:
        if error.status != 404:
            raise
        return {}


def _is_up(health: Mapping[str, Any]) -> bool:
    return health.get("status") == "ok"


def _running(health: Mapping[str, Any]) -> str:
    loaded = ", ".join(str(name) for name in health["loaded"] or ()) or "no model yet"
    return f"Laya on {health['device']}, loaded: {loaded}"


def _names(listing: Mapping[str, Any]) -> list[str]:
    models = listing.get("models")
    found = models if isinstance(models, list) else []
    return [str(model["name"]) for model in found if isinstance(model, dict) and "name" in model]
