"""Whether a client has sent what was not read yet."""

import asyncio
import select


def unread(transport: asyncio.BaseTransport) -> bool:
    """Say whether the kernel holds bytes of the client's, or the end of its stream."""
    found = transport.get_extra_info("socket")
    if found is None or found.fileno() < 0:
        return False
    if not hasattr(select, "poll"):
        return bool(select.select([found.fileno()], [], [], 0)[0])
    # Not select, which takes no descriptor beyond 1023.
    poll = select.poll()
    poll.register(found.fileno(), select.POLLIN)
    return bool(poll.poll(0))
