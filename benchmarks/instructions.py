"""Counting the interpreter's bytecode instructions."""

import sys
from collections import Counter
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, Final, Self

_TOOL: Final = "s1gw bench"


class InstructionCounter:
    """Counts instructions by function inside its block, in one thread."""

    def __init__(self, ignored: tuple[str, ...] = ()) -> None:
        """Count all functions but those in files whose paths begin with one of ``ignored``."""
        self._ignored = ignored
        self.counts: Counter[CodeType] = Counter()

    @property
    def total(self) -> int:
        """All instructions so far."""
        return sum(self.counts.values())

    def __enter__(self) -> Self:
        """Begin to count."""
        if sys.version_info >= (3, 12):
            monitoring = sys.monitoring
            monitoring.use_tool_id(monitoring.PROFILER_ID, _TOOL)
            instruction = monitoring.events.INSTRUCTION
            monitoring.register_callback(monitoring.PROFILER_ID, instruction, self._executed)
            monitoring.set_events(monitoring.PROFILER_ID, instruction)
        else:
            sys.settrace(self._called)
        return self

    def __exit__(self, *_: object) -> None:
        """Count no more."""
        if sys.version_info >= (3, 12):
            monitoring = sys.monitoring
            monitoring.set_events(monitoring.PROFILER_ID, 0)
            monitoring.free_tool_id(monitoring.PROFILER_ID)
        else:
            sys.settrace(None)

    def _executed(self, code: CodeType, _offset: int) -> None:
        if not code.co_filename.startswith(self._ignored):
            self.counts[code] += 1

    def _called(self, frame: FrameType, _event: str, _: Any) -> Callable[..., Any] | None:
        if frame.f_code.co_filename.startswith(self._ignored):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._stepped

    def _stepped(self, frame: FrameType, event: str, _: Any) -> Callable[..., Any]:
        if event == "opcode":
            self.counts[frame.f_code] += 1
        return self._stepped
