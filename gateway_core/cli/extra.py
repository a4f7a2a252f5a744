"""Commands that need the extra ``s1gw[calibration]`` say so when it is not installed."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from gateway_core.errors import ConfigError

_PARTS: Final = ("numpy", "scipy")


@contextmanager
def calibration_extra() -> Iterator[None]:
    """Turn the lack of numpy or scipy inside the block into what to install.

    Raises:
        ConfigError: one of them is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _PARTS:
            raise
        raise ConfigError(f"this needs {error.name}: pip install 's1gw[calibration]'") from error
