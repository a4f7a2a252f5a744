"""What a question meets: the chain, its middleware, and the log of decisions."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import attrs

from gateway_core.config import rules

UNREADABLE: Final = "*"
"""What stands in ``decide.middleware`` when it cannot be read; nothing is ever called so."""


@attrs.frozen(kw_only=True)
class DecideConfig:
    """``[decide]``: the chain that answers a question.

    Attributes:
        chain: provider names in the order in which they are asked; when absent, whatever is
            usable as it stands.
        middleware: what every question passes through on its way to the chain, outermost first.
        timeout_s: the time one attempt may take, in seconds.
        deadline_s: the time the whole call may take, in seconds.
        cooldown: whether a provider that is down is passed over for a while, as long as another
            can be asked.
        hedge_after_s: ask the next provider too when one has not answered after this time, in
            seconds, and take the first answer; never when absent. Both calls may cost.
        threshold: the confidence below which the gateway abstains, in [0, 1].
        thresholds: thresholds of single providers, by name.
        abstain_when_truncated: abstain when a provider says it cut the input.
        order_check: providers asked a second time with the options reversed.
        tournament: providers asked about more options than they take, in groups.
        order_unstable: what an answer that changes with the options' order comes to:
            ``abstain``, or the ``mean`` of the probabilities.
        when_stale: what an answer comes to whose fit or measured threshold is of another model:
            ``abstain``, or go on with the ``last_fit``, or with ``raw`` confidence.
    """

    chain: tuple[str, ...] | None = attrs.field(default=None, validator=rules.distinct)
    middleware: tuple[str, ...] = attrs.field(default=(), validator=rules.distinct)
    timeout_s: float = attrs.field(default=5.0, validator=rules.positive)
    deadline_s: float = attrs.field(default=25.0, validator=rules.positive)
    cooldown: bool = True
    hedge_after_s: float | None = attrs.field(default=None, validator=rules.positive)
    threshold: float = attrs.field(default=0.6, validator=rules.probability)
    thresholds: Mapping[str, float] = attrs.field(factory=dict, validator=rules.probabilities)
    abstain_when_truncated: bool = False
    order_check: tuple[str, ...] = attrs.field(default=(), validator=rules.distinct)
    tournament: tuple[str, ...] = attrs.field(default=(), validator=rules.distinct)
    order_unstable: str = attrs.field(default="abstain", validator=rules.one_of("abstain", "mean"))
    when_stale: str = attrs.field(
        default="abstain", validator=rules.one_of("abstain", "last_fit", "raw")
    )


@attrs.frozen(kw_only=True)
class MiddlewareConfig:
    """``[middleware.NAME]``: the middleware of that name, for use in ``decide.middleware``.

    Attributes:
        settings: its own keys.
    """

    settings: Mapping[str, Any] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class DecisionLogConfig:
    """``[decision_log]``: what is kept, on this machine alone, of every decision.

    Attributes:
        enabled: whether decisions are logged.
        path: the SQLite file; in the gateway's own state when absent.
        content: whether questions, options and contexts are kept, not only their digests.
        max_mb: the size that the file is held to, in mebibytes.
        max_age_days: how long an entry is kept, in days.
        shadow: providers asked beside the chain, off the critical path, to be compared.
    """

    enabled: bool = False
    path: Path | None = None
    content: bool = False
    max_mb: int = attrs.field(default=256, validator=rules.positive_count)
    max_age_days: float = attrs.field(default=365.0, validator=rules.positive)
    shadow: tuple[str, ...] = attrs.field(default=(), validator=rules.distinct)
