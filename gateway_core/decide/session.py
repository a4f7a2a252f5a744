"""What one provider's attempt takes: mostly one call, each within the time that is left."""

from time import perf_counter

import attrs

from gateway_core.decide.ask import ask
from gateway_core.errors import ProviderTimeout
from gateway_core.provider import Provider
from gateway_core.wire import Answer, Question


@attrs.define(eq=False, kw_only=True)
class ProviderSession:
    """Asks one provider for one request, and keeps what the verdict has to say of that.

    Attributes:
        provider: who is asked.
        request_id: the id under which the calls are logged.
        timeout_s: the time one call may take, in seconds.
        until: when the whole request must be done, on ``perf_counter``'s clock.
        calls: how many calls were made.
        limit_s: the time that the last call might take, in seconds.
        truncated: whether the provider cut the input of any of them.
        unstable: whether the answer changes with the order of the options.
        conflict: whether the answers to a question and to its opposite contradict each other.
        note: what was done beyond asking once; None when nothing was.
    """

    provider: Provider
    request_id: str
    timeout_s: float
    until: float
    calls: int = 0
    limit_s: float = 0.0
    truncated: bool = False
    unstable: bool = False
    conflict: bool = False
    note: str | None = None

    async def ask(self, question: Question) -> Answer:
        """Put ``question`` to the provider, once.

        Raises:
            ConfigError: the provider cannot be asked as it is configured; no call was made.
            ProviderError: it failed, its answer does not add up, or no time is left.
        """
        if obstacle := self.provider.obstacle:
            raise obstacle
        left = self.until - perf_counter()
        if left <= 0:
            raise ProviderTimeout("no time is left for another call")
        self.calls += 1
        self.limit_s = min(left, self.timeout_s)
        answer = await ask(
            self.provider,
            question,
            timeout_s=self.limit_s,
            request_id=self.request_id,
        )
        self.truncated = self.truncated or answer.truncated
        return answer
