"""A provider that answers every request at once: `python -m benchmarks.upstream PORT BYTES`."""

import asyncio
import json
import sys
from typing import Final

import httptools
import uvloop

_ANSWERS: Final = {
    "model": "jev-1.13.0",
    "answers": {"decision": {"type": "noul", "noul": 0.95}},
    "usage": {"input_tokens": 296, "output_tokens": 20},
}


class Upstream(asyncio.Protocol):
    """One connection; the reply is the same bytes each time."""

    reply: bytes = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport and start a parser."""
        self.transport = transport
        self.parser = httptools.HttpRequestParser(self)

    def data_received(self, data: bytes) -> None:
        """Read what came."""
        self.parser.feed_data(data)

    def on_message_complete(self) -> None:
        """Answer a whole request."""
        self.transport.write(self.reply)  # type: ignore[attr-defined]


def reply_of(size: int) -> bytes:
    """Return an HTTP reply whose JSON body has about ``size`` bytes of structured content."""
    answers = dict(_ANSWERS)
    rows = max(0, size - 200) // 60
    answers["audit"] = [
        {"row": row, "score": row / 7, "label": f"item {row}"} for row in range(rows)
    ]
    body = json.dumps(answers, separators=(",", ":")).encode()
    head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    return (head % len(body)).encode() + body


async def serve(port: int, size: int) -> None:
    """Answer on loopback until killed."""
    Upstream.reply = reply_of(size)
    server = await asyncio.get_running_loop().create_server(Upstream, "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve(int(sys.argv[1]), int(sys.argv[2])))
