"""How much of a message is read at most, in bytes; the same for requests and replies."""

from typing import Final

MAX_HEAD_BYTES: Final = 64 * 1024
"""The first line and all headers of one message."""

MAX_FRAMING_BYTES: Final = 1024 * 1024
"""How much chunk heads and trailers may take beyond the size of the body that they frame."""

MAX_REPLY_BYTES: Final = 10 * 1024 * 1024
"""The body of a reply, as it comes in and as it is decoded."""
