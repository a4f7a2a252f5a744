"""The calls that one attempt at a provider makes: mostly one, each within the time left."""

from time import perf_counter

import attrs

from gateway_core.decide.ask import ask
from gateway_core.errors import ProviderTimeout
from gateway_core.provider import Provider
from gateway_core.wire import Answer, Question


@attrs.define(eq=False, kw_only=True)
class Calls:
    """Asks one provider and counts how often.

    Attributes:
        provider: who is asked.
        request_id: the id under which the calls are logged.
        timeout_s: the time one call may take, in seconds.
        until: when the whole request must be done, on ``perf_counter``'s clock.
        made: how many calls were made.
        truncated: whether the provider cut the input of any of them.
    """

    provider: Provider
    request_id: str
    timeout_s: float
    until: float
    made: int = 0
    truncated: bool = False

    async def ask(self, question: Question) -> Answer:
        """Put ``question`` to the provider, once.

        Raises:
            ConfigError: the provider has no credential and needs one.
            ProviderError: it failed, its answer does not add up, or no time is left.
        """
        left = self.until - perf_counter()
        if left <= 0:
            raise ProviderTimeout("no time is left for another call")
        self.made += 1
        answer = await ask(
            self.provider,
            question,
            timeout_s=min(left, self.timeout_s),
            request_id=self.request_id,
        )
        self.truncated = self.truncated or answer.truncated
        return answer
