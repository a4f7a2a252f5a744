"""A scripted HTTP/1.1 server on loopback: what a provider is tested against.

It is a real server over real sockets, in a thread of its own, so that the same object serves
tests that block and tests that await. Every reply is one write on a socket without Nagle's
delay, and timings through it mean something.

    with ScriptedUpstream() as upstream:
        upstream.answer(Reply(body={"answers": {}}))
        ...                                    # send something to upstream.url
        assert upstream.requests[0].json() == {...}
"""

import asyncio
import inspect
import ssl
import threading
from collections import deque
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from gateway_core.testing.messages import (
    Gate,
    Raw,
    Received,
    Reply,
    Script,
    ScriptedAnswer,
    Tally,
    read_request,
)
from gateway_core.testing.watch.audit import kit_threads

T = TypeVar("T")
__all__ = ["Gate", "Raw", "Received", "Reply", "ScriptedUpstream"]
_PATIENCE_S: Final = 30.0
_NOT_SCRIPTED: Final = Reply(status=599, body={"detail": "the test scripted no answer"})


class ScriptedUpstream:
    """Records what it is sent and answers from a script."""

    def __init__(
        self, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None, *, port: int = 0
    ) -> None:
        """Prepare a server of ``host``; it listens inside a ``with`` block.

        Args:
            host: the address.
            tls: its certificate, to serve TLS.
            port: the port; a free one when it is 0.
        """
        self._host = host
        self._tls = tls
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._received = Tally()
        self._left = Tally()
        self._queue: deque[Script] = deque()
        self._always: Script = _NOT_SCRIPTED
        self._tasks: set[asyncio.Task[None]] = set()
        self.connections = 0
        self.port = port

    @property
    def url(self) -> str:
        """Its base URL, without a trailing slash."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"{'https' if self._tls else 'http'}://{host}:{self.port}"

    @property
    def host(self) -> str:
        """The address that it listens on."""
        return self._host

    @property
    def requests(self) -> Sequence[Received]:
        """Every request so far, in the order they were whole."""
        return self._received.items

    @property
    def disconnects(self) -> Sequence[Received]:
        """The requests whose client left before it had the reply."""
        return self._left.items

    def answer(self, script: Script) -> None:
        """Answer every request from now on with ``script``: a reply or what makes one."""
        self._always = script

    def queue(self, *scripts: Script) -> None:
        """Answer the next requests with ``scripts``, in order, before the standing answer."""
        self._queue.extend(scripts)

    def unqueue(self) -> None:
        """Forget the answers that are queued and were not asked for."""
        self._queue.clear()

    async def received(self, count: int = 1, timeout_s: float = _PATIENCE_S) -> Sequence[Received]:
        """Wait until ``count`` requests have come in all; raise ``TimeoutError`` if they do not."""
        return await asyncio.to_thread(self._received.wait, count, timeout_s)

    async def disconnected(
        self, count: int = 1, timeout_s: float = _PATIENCE_S
    ) -> Sequence[Received]:
        """Wait until the clients of ``count`` requests have left without a reply."""
        return await asyncio.to_thread(self._left.wait, count, timeout_s)

    def wait_received(self, count: int = 1, timeout_s: float = _PATIENCE_S) -> Sequence[Received]:
        """Block until ``count`` requests have come in all."""
        return self._received.wait(count, timeout_s)

    def close_idle(self) -> None:
        """Close every connection now, as servers do with those idle for long."""
        self._run(self._stop_tasks())

    def stop(self) -> None:
        """Stop listening and close every connection: from now on nothing is there."""
        self._run(self._stop())

    def __enter__(self) -> Self:
        self._thread.start()
        kit_threads.add(self._thread.ident)
        self._server = self._run(self._listen())
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._run(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        kit_threads.discard(self._thread.ident)
        self._loop.close()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=30)

    async def _listen(self) -> asyncio.Server:
        return await asyncio.start_server(self._connected, self._host, self.port, ssl=self._tls)

    async def _stop(self) -> None:
        self._server.close()
        await self._stop_tasks()

    async def _stop_tasks(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = self._loop.create_task(self._serve(reader, writer, self.connections))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int
    ) -> None:
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                while received := await read_request(reader, number):
                    self._received.add(received)
                    if not await self._reply(received, reader, writer):
                        return
        except asyncio.CancelledError:
            writer.transport.abort()
            raise
        finally:
            writer.close()

    async def _reply(
        self, received: Received, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Answer one request; say whether the connection goes on."""
        answer = await self._scripted(received)
        if answer.gate is not None and await _client_left(reader, answer.gate):
            self._left.add(received)
            return False
        if isinstance(answer, Raw):
            writer.write(answer.data)
            await writer.drain()
            if answer.hold and await _client_left(reader, Gate()):
                self._left.add(received)
            return False
        writer.write(answer.head() + (b"" if received.method == "HEAD" else answer.content))
        await writer.drain()
        return not answer.close

    async def _scripted(self, received: Received) -> ScriptedAnswer:
        script = self._queue.popleft() if self._queue else self._always
        if isinstance(script, Reply | Raw):
            return script
        try:
            made = script(received)
            return await made if inspect.isawaitable(made) else made
        except Exception as error:  # noqa: BLE001  # the test sees it as the reply
            return Reply(status=599, body={"detail": f"the script raised {error!r}"})


async def _client_left(reader: asyncio.StreamReader, gate: Gate) -> bool:
    """Wait for the gate or for the client to close, whichever is first."""
    passed = asyncio.ensure_future(gate.passed())
    ended = asyncio.ensure_future(reader.read(1))
    try:
        await asyncio.wait((passed, ended), return_when=asyncio.FIRST_COMPLETED)
        return not passed.done()
    finally:
        passed.cancel()
        ended.cancel()
        # A reset is a way of leaving: it must not surface as an exception nobody took.
        await asyncio.gather(passed, ended, return_exceptions=True)
