"""Services that are open, and what closes them."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Self

import attrs

from gateway_core.servers.http.services import Services

Opener = Callable[[], AbstractAsyncContextManager[Services]]


@attrs.frozen(eq=False)
class Opened:
    """Services that stay open until they are closed, from wherever that is done.

    Attributes:
        services: what handlers work with.
    """

    services: Services
    _stack: AsyncExitStack

    @classmethod
    async def by(cls, opener: Opener) -> Self:
        """Open services.

        Raises:
            GatewayError: they cannot be opened; nothing is left open then.
        """
        stack = AsyncExitStack()
        return cls(await stack.enter_async_context(opener()), stack)

    async def aclose(self) -> None:
        """Close their connections, tenants and shadows."""
        await self._stack.aclose()
