"""Whether a store of limits still knows what it was told."""

import secrets
from typing import Any, Final

from redis.exceptions import RedisError

_KEY: Final = "s1gw:epoch"
_MARK: Final = """
redis.call('SET', KEYS[1], ARGV[1], 'NX')
return redis.call('GET', KEYS[1])
"""


class StoreForgot(RedisError):
    """The store answers, and has lost what it was told: it was started anew, or emptied."""


class Epoch:
    """A mark in the store, which lives as long as the data there.

    Every new connection looks at the mark before its first command. A store that was restarted
    between two requests would otherwise let in as many again as are under way.
    """

    def __init__(self) -> None:
        """Begin without a mark: the first one that is seen is the right one."""
        self._known: object = None

    async def check(self, connection: Any) -> None:
        """Set up a connection of redis-py's, and look at the mark.

        Raises:
            StoreForgot: it is another one than before.
        """
        await connection.on_connect()
        await connection.send_command("EVAL", _MARK, 1, _KEY, secrets.token_hex(8))
        found = await connection.read_response()
        if self._known is None:
            self._known = found
        elif found != self._known:
            raise StoreForgot

    async def read(self, client: Any) -> bool:
        """Take the mark that is there now for the right one; say whether it is another one.

        Args:
            client: a client of redis-py's whose connections are not checked.
        """
        known = self._known
        self._known = await client.eval(_MARK, 1, _KEY, secrets.token_hex(8))
        return known not in (None, self._known)
