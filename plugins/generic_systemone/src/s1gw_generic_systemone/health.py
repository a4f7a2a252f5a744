"""Free ways to find out whether a server is up."""

from collections.abc import Mapping
from typing import Any, Final

from gateway_core import DecisionReply, ProbeResult, ProviderContext
from gateway_core.errors import MalformedResponse, ModelNotFound, ProviderError
from s1gw_generic_systemone.server import Listing

_KEYS: Final = {Listing.TYPESAFE: ("models", "name"), Listing.OPENAI: ("data", "id")}
_NO_LIST: Final = "something answers; it has no list of models to know it by"


async def check_up(
    context: ProviderContext[Any], url: str, headers: Mapping[str, str]
) -> ProbeResult:
    """Fetch a health route, whose status is all it says.

    Raises:
        ProviderError: nothing listens, or it is not well.
    """
    await context.get(url, headers=headers)
    return ProbeResult(ok=True, detail="its health route answers")


async def check_listing(
    context: ProviderContext[Any], url: str, headers: Mapping[str, str], listing: Listing
) -> ProbeResult:
    """Fetch the list of models and look for the configured one.

    Raises:
        ProviderError: nothing listens, or it does not take the key.
    """
    try:
        names = _names(await context.get(url, headers=headers), listing)
    except ModelNotFound:
        return ProbeResult(ok=True, detail=_NO_LIST)
    except ProviderError as error:
        if error.status != 405:
            raise
        return ProbeResult(ok=True, detail=_NO_LIST)
    missing = [model for model in context.endpoint.models if model not in names]
    if missing:
        return ProbeResult(ok=True, detail=f"up, but its list of models lacks {missing[0]!r}")
    return ProbeResult(ok=True, detail=f"up, with {len(names)} models")


def _names(reply: DecisionReply, listing: Listing) -> list[str]:
    """Read either shape, the expected one first: servers change and some have both."""
    found = reply.json_object()
    for items_key, name_key in (_KEYS[listing], *_KEYS.values()):
        items = found.get(items_key)
        if isinstance(items, list):
            return [str(item.get(name_key)) for item in items if isinstance(item, dict)]
    raise MalformedResponse("something answers, but with no list of models")
