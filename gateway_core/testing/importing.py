"""Import modules in an interpreter of its own and say what that did, as JSON after a NUL.

python -m gateway_core.testing.importing MODULE...
"""

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any, Final

import httpx  # noqa: F401  # what the host and most clients have imported anyway

from gateway_core import *  # noqa: F403  # what every provider imports costs the host, not it
from gateway_core.testing.watch.audit import Audit, Deed, watching
from gateway_core.testing.watch.state import changes, state_of_the_process

SERVERS: Final = ("mcp", "starlette", "uvicorn")


def seen(modules: list[str]) -> dict[str, Any]:
    """Import ``modules``, and return what was seen meanwhile.

    Returns:
        ``deeds`` by their kind, ``changed`` settings, ``servers`` that were imported, and the
        ``seconds`` it took, less those for which it waited for a processor.
    """
    threads = set(threading.enumerate())
    before, waited, started = state_of_the_process(), _waited_s(), time.perf_counter()
    with watching(Audit(sockets=True)) as audit:
        for module in modules:
            __import__(module)
        seconds = time.perf_counter() - started - (_waited_s() - waited)
    # Those of today's Python are known by their event, too; older ones have none.
    for thread in set(threading.enumerate()) - threads:
        audit.deeds.setdefault(Deed.THREAD, []).append(f"the thread {thread.name}")
    return {
        "deeds": {deed: audit.of(deed) for deed in audit.deeds},
        "changed": changes(before, state_of_the_process()),
        "servers": [name for name in SERVERS if name in sys.modules],
        "seconds": seconds,
    }


def _heed_signals() -> None:
    """Undo what a parent ignores, which processes inherit; two are ignored by Python itself."""
    pythons = {getattr(signal, name, None) for name in ("SIGPIPE", "SIGXFZ", "SIGXFSZ")}
    for number in signal.valid_signals() - pythons:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def _waited_s() -> float:
    try:
        return int(Path("/proc/thread-self/schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


if __name__ == "__main__":
    # Another way out than stdout, on which the modules may print or which they may close.
    with os.fdopen(os.dup(1), "w") as wire:
        _heed_signals()
        told = seen(sys.argv[1:])
        sys.stdout.flush()
        wire.write("\0" + json.dumps(told))
        wire.flush()
    # Threads that were started must not keep the interpreter.
    os._exit(0)
