"""Whether anything stops an event loop: its pulse is felt from another thread.

A busy machine stops every thread now and then. So a stop counts only while a plugin's code is seen
at work, and less the time that the loop's thread was ready and had to wait for a processor, where
the system tells that (Linux, ``/proc/…/schedstat``). Code that keeps Python's lock lets nobody
look; it shows by the processor time between two beats.
"""

import asyncio
import sys
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import attrs

from gateway_core.places import strangers_line

_BEAT_S: Final = 0.01
STOPPED_S: Final = 0.25
"""A loop that stands still for this long has been stopped, in seconds."""


@attrs.frozen
class Stop:
    """The longest time that the loop stood still.

    Attributes:
        seconds: how long.
        place: the plugin's line that was seen at work then; empty when nobody could look.
    """

    seconds: float = 0.0
    place: str = ""


@attrs.define(eq=False)
class Pulse:
    """Feels the pulse of one loop.

    Attributes:
        longest: the longest stop so far.
    """

    longest: Stop = attrs.field(factory=Stop, init=False)
    _beats: int = attrs.field(default=0, init=False)
    _ended: threading.Event = attrs.field(factory=threading.Event, init=False)
    _thread: int = attrs.field(factory=threading.get_ident, init=False)
    _waits: Path = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        """Find where the system tells how long this thread waited for a processor."""
        self._waits = Path(f"/proc/self/task/{threading.get_native_id()}/schedstat")

    async def beat(self) -> None:
        """Let the loop show that it turns, until it is cancelled."""
        while True:
            spent = time.thread_time()
            await asyncio.sleep(_BEAT_S)
            self._beats += 1
            self._stopped(Stop(time.thread_time() - spent))

    def feel(self) -> None:
        """Look for stops until the end; for a thread of its own."""
        while not self._ended.is_set():
            beats = self._beats
            time.sleep(2 * _BEAT_S)
            if self._beats == beats:
                self._wait_out(beats)

    def end(self) -> None:
        """Stop looking."""
        self._ended.set()

    def _wait_out(self, beats: int) -> None:
        """Measure one stop to its end, looking at what the loop's thread does."""
        seconds, place, waited, last = 0.0, "", self._waited_s(), time.perf_counter()
        while self._beats == beats and not self._ended.is_set():
            found = strangers_line(sys._current_frames().get(self._thread))  # noqa: SLF001
            time.sleep(_BEAT_S)
            now = time.perf_counter()
            place, seconds = found or place, seconds + (now - last if found else 0.0)
            last = now
        self._stopped(Stop(seconds - (self._waited_s() - waited), place))

    def _stopped(self, stop: Stop) -> None:
        if stop.seconds > self.longest.seconds:
            self.longest = stop

    def _waited_s(self) -> float:
        try:
            return int(self._waits.read_text().split()[1]) / 1e9
        except (OSError, IndexError, ValueError):
            return 0.0


@asynccontextmanager
async def feeling_the_pulse() -> AsyncIterator[Pulse]:
    """A block in which the running loop's pulse is felt."""
    pulse = Pulse()
    beating = asyncio.create_task(pulse.beat())
    feeling = threading.Thread(target=pulse.feel, daemon=True)
    feeling.start()
    try:
        yield pulse
    finally:
        pulse.end()
        beating.cancel()
        await asyncio.to_thread(feeling.join)
