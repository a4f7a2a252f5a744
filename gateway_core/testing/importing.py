"""Import modules in an interpreter of its own and say what that did, as JSON after a NUL.

python -m gateway_core.testing.importing MODULE...
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any, Final

import httpx  # noqa: F401  # what the host and most clients have imported anyway

from gateway_core import *  # noqa: F403  # what every provider imports costs the host, not it
from gateway_core.testing.watch.audit import Audit, watching
from gateway_core.testing.watch.state import changes, state_of_the_process

SERVERS: Final = ("mcp", "starlette", "uvicorn")


def seen(modules: list[str]) -> dict[str, Any]:
    """Import ``modules``, and return what was seen meanwhile.

    Returns:
        ``deeds`` by their kind, ``changed`` settings, ``servers`` that were imported, and the
        ``seconds`` it took, less those for which it waited for a processor.
    """
    before, waited, started = state_of_the_process(), _waited_s(), time.perf_counter()
    with watching(Audit()) as audit:
        for module in modules:
            __import__(module)
        seconds = time.perf_counter() - started - (_waited_s() - waited)
    return {
        "deeds": {deed: audit.of(deed) for deed in audit.deeds},
        "changed": changes(before, state_of_the_process()),
        "servers": [name for name in SERVERS if name in sys.modules],
        "seconds": seconds,
    }


def _waited_s() -> float:
    try:
        return int(Path("/proc/thread-self/schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


if __name__ == "__main__":
    # Another way out than stdout, on which the modules may print or which they may close.
    with os.fdopen(os.dup(1), "w") as wire:
        told = seen(sys.argv[1:])
        sys.stdout.flush()
        wire.write("\0" + json.dumps(told))
        wire.flush()
    # Threads that were started must not keep the interpreter.
    os._exit(0)
