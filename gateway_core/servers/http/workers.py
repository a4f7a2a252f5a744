"""The processes of ``--workers N``: they begin with their supervisor and end with it."""

import multiprocessing
import os
import signal
import threading
from multiprocessing.process import BaseProcess

from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess


class Workers(Multiprocess):
    """uvicorn's supervisor, which would go on listening while its workers finish."""

    def run(self) -> None:
        """Supervise until told to end; raise ``SystemExit`` when a worker could not start."""
        super().run()
        if any(process.exitcode == STARTUP_FAILURE for process in self.processes):
            raise SystemExit(STARTUP_FAILURE)

    def terminate_all(self) -> None:
        """Take no more connections, and have the workers finish."""
        for listener in self.sockets:
            listener.close()
        super().terminate_all()


def end_with_supervisor() -> None:
    """In a worker, drain and end as on SIGTERM once its supervisor is gone, however it went."""
    supervisor = multiprocessing.parent_process()
    if supervisor is not None:
        # Only a supervisor that was killed cannot tell its workers to end by itself.
        threading.Thread(target=_outlive, args=(supervisor,), daemon=True).start()


def _outlive(supervisor: BaseProcess) -> None:
    supervisor.join()
    os.kill(os.getpid(), signal.SIGTERM)
