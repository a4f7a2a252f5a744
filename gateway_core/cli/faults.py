"""Failures that no command can help, told in a line: a library or a file that is not there."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from gateway_core.errors import ConfigError

_PARTS: Final = ("numpy", "scipy")


@contextmanager
def told_plainly() -> Iterator[None]:
    """Turn the lack of numpy or scipy, and a file that cannot be used, into what to do.

    Raises:
        ConfigError: inside the block one of them was not installed, or a file failed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library not in _PARTS:
            raise
        raise ConfigError(f"this needs {library}: pip install 's1gw[calibration]'") from error
    except OSError as error:
        raise ConfigError(f"{error.filename or 'a file'}: {error.strerror}") from error
