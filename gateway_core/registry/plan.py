"""Which providers answer questions, in which order, and why."""

from collections.abc import Callable
from urllib.parse import urlsplit

import attrs

from gateway_core.errors import ConfigError
from gateway_core.passing import is_passing
from gateway_core.provider import Provider
from gateway_core.types import Operation
from gateway_core.urls import is_loopback_url


@attrs.frozen(kw_only=True)
class Candidate:
    """A provider that could take part, and why it does or does not.

    Attributes:
        name: the provider's name.
        included: whether it can be asked.
        reason: why, in words.
        destination: the host that its requests go to, if they leave the machine.
    """

    name: str
    included: bool
    reason: str
    destination: str | None = None


@attrs.frozen(kw_only=True)
class Plan:
    """The chain that answers questions.

    Attributes:
        automatic: whether no chain is configured, so that this one was made up.
        chain: provider names in the order in which they are asked.
        candidates: every provider that was considered, those of the chain first.
        problems: what the configured chain names that cannot be asked.
    """

    automatic: bool
    chain: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    problems: tuple[str, ...] = ()

    @property
    def announcement(self) -> str | None:
        """What to say once on stderr: where an automatic chain sends questions, if anywhere."""
        if not self.automatic:
            return None
        leaving = [f"{c.name} ({c.destination})" for c in self.candidates if c.destination]
        if not leaving:
            return None
        return (
            f"no chain is configured: questions may leave this machine to {', '.join(leaving)}; "
            "set [decide].chain to choose who is asked"
        )


def assess_provider(name: str, get: Callable[[str], Provider]) -> Candidate:
    """Return whether a provider can be asked as it stands, without asking it.

    Raises:
        ConfigError: that cannot be told now, for a shortage that may be over soon.
    """
    try:
        provider = get(name)
    except ConfigError as error:
        if is_passing(error):
            raise
        return excluded(name, "; ".join(error.faults))
    if obstacle := provider.obstacle:
        return excluded(name, "; ".join(obstacle.faults))
    url = provider.url(Operation.DECIDE)
    remote = provider.capabilities.remote and not is_loopback_url(url)
    keyless = provider.endpoint.api_key is None
    return Candidate(
        name=name,
        included=True,
        reason="it needs no credential" if keyless else "it has a credential",
        destination=urlsplit(url).hostname if remote else None,
    )


def excluded(name: str, reason: str) -> Candidate:
    """Return a candidate that is not asked."""
    return Candidate(name=name, included=False, reason=reason)


def configured_plan(chain: tuple[str, ...], get: Callable[[str], Provider]) -> Plan:
    """Return the plan of a chain that the configuration names."""
    candidates = tuple(assess_provider(name, get) for name in chain)
    problems = tuple(found.reason for found in candidates if not found.included)
    return Plan(automatic=False, chain=chain, candidates=candidates, problems=problems)
