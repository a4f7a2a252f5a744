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
from typing import TYPE_CHECKING, Final, TypeVar

import attrs

from s1gw_local.fitted import shipped_fit
from s1gw_local.native import raw_vector, token_count

if TYPE_CHECKING:
    from s1gw_local.native import Vector

T = TypeVar("T")
WINDOW: Final = 1_500
"""Characters of a state that are embedded at once: under the model's 512 tokens in most texts."""
WINDOWS: Final = 4
"""The most windows of a state that are read, so that a long one takes seconds at the most."""
_PORTION: Final = 3_000
_WORKERS: Final = ThreadPoolExecutor(min(4, os.cpu_count() or 1), thread_name_prefix="s1gw-local")


@attrs.frozen(eq=False)
class Embedding:
    """The meaning of one text.

    Attributes:
        vector: 384 floats of length 1, centred.
        tokens: how many tokens the model read.
        whole: whether it read all of the text.
    """

    vector: "Vector"
    tokens: int
    whole: bool = True


class Engine:
    """Embeds states and options; keeps the options' embeddings, which tend to come again.

    Args:
        cache_size: how many embeddings are kept, about 1.6 KB each.
    """

    def __init__(self, cache_size: int) -> None:
        self._option = lru_cache(maxsize=cache_size)(_embed_option)

    async def state(self, text: str) -> Embedding:
        """Embed a text of any length: the mean of its windows, weighted by their tokens.

        Of a long text some windows are read, spread evenly from its first to its last.

        Raises:
            ProviderError: the engine cannot be loaded; the text says what to do.
        """
        windows = [text[start : start + WINDOW] for start in range(0, len(text), WINDOW)]
        parts = [await _in_thread(_embed_state, window) for window in _spread(windows)]
        mean = parts[0] if len(parts) == 1 else _mean(parts)
        return attrs.evolve(mean, whole=len(parts) == len(windows))

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


def _spread(windows: list[str]) -> list[str]:
    last = len(windows) - 1
    if last < WINDOWS:
        return windows
    return [windows[round(step * last / (WINDOWS - 1))] for step in range(WINDOWS)]


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
    return Embedding(vector, token_count(text))


def _unit(vector: "Vector") -> "Vector":
    length = float(vector @ vector) ** 0.5
    return vector / (length or 1.0)
