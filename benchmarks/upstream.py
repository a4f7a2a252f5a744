"""A provider that always answers the same: `python -m benchmarks.upstream PORT BYTES SECONDS`."""

import asyncio
import json
import sys
from typing import Any, ClassVar, Final

import httptools
import uvloop

_ANSWERS: Final = {
    "model": "jev-1.13.0",
    "answers": {"decision": {"type": "noul", "noul": 0.95}},
    "usage": {"input_tokens": 296, "output_tokens": 20},
}


class Upstream(asyncio.Protocol):
    """One connection; the reply is the same bytes each time."""

    reply: ClassVar = b""
    delay_s: ClassVar = 0.0

    def connection_made(self, transport: Any) -> None:
        """Keep the transport and start a parser."""
        self.transport = transport
        self.parser = httptools.HttpRequestParser(self)

    def data_received(self, data: bytes) -> None:
        """Read what came."""
        self.parser.feed_data(data)

    def on_message_complete(self) -> None:
        """Answer a whole request."""
        if self.delay_s:
            asyncio.get_running_loop().call_later(self.delay_s, self._answer)
        else:
            self._answer()

    def _answer(self) -> None:
        self.transport.write(self.reply)


def reply_of(size: int) -> bytes:
    """Return an HTTP reply whose JSON body has about ``size`` bytes of structured content."""
    answers: dict[str, Any] = dict(_ANSWERS)
    rows = max(0, size - 200) // 60
    answers["audit"] = [
        {"row": row, "score": row / 7, "label": f"item {row}"} for row in range(rows)
    ]
    body = json.dumps(answers, separators=(",", ":")).encode()
    head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    return (head % len(body)).encode() + body


async def serve(port: int, size: int, delay_s: float) -> None:
    """Answer on loopback until killed, each request after ``delay_s``."""
    Upstream.reply, Upstream.delay_s = reply_of(size), delay_s
    server = await asyncio.get_running_loop().create_server(
        Upstream, "127.0.0.1", port, backlog=2048
    )
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])))
