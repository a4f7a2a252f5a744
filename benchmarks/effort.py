"""How much a run of the bench measures."""

import attrs


@attrs.frozen(kw_only=True)
class Effort:
    """How often and how long.

    Attributes:
        rounds: how often each cell is measured; the targets take turns within a round.
        seconds: how long each run of ``wrk`` takes.
        connections: the columns of the relay's matrix.
        litellm: at which of these LiteLLM is measured, which is slow.
        requests: after how many requests memory is compared.
        calls: questions asked of the decide path.
        starts: how often each command is started.
    """

    rounds: int
    seconds: int
    connections: tuple[int, ...]
    litellm: tuple[int, ...]
    requests: tuple[int, int]
    calls: int
    starts: int


FULL = Effort(
    rounds=5,
    seconds=3,
    connections=(1, 16, 64, 256),
    litellm=(1, 16, 64, 256),
    requests=(10_000, 100_000),
    calls=2_000,
    starts=15,
)
QUICK = Effort(
    rounds=1,
    seconds=1,
    connections=(1, 16, 256),
    litellm=(16,),
    requests=(2_000, 10_000),
    calls=200,
    starts=3,
)
