"""A check of the provider contract: a rule, the reason for it, and the code that tries it."""

import asyncio
from collections.abc import Callable, Coroutine
from enum import StrEnum
from typing import Any, Final

import attrs

from gateway_core.errors import GatewayError

Run = Callable[[Any], Coroutine[Any, Any, None] | None]
"""Takes what is checked, and raises ``RuleError`` when a rule is broken."""


class Needs(StrEnum):
    """What a check needs beside the provider."""

    NOTHING = "nothing"
    """It runs anywhere, as in ``s1gw plugins check``."""
    ADDRESS = "address"
    """A provider that is asked by a URL; nothing is sent there, so this runs anywhere, too."""
    ANSWERS = "answers"
    """A provider that can be asked: in process, or with a scripted upstream."""
    UPSTREAM = "upstream"
    """A provider that sends something."""
    RELAYING = "relaying"
    """A provider that passes bodies through as they are."""


class RuleError(AssertionError):
    """A provider broke a rule; the text says what was found."""


@attrs.frozen(kw_only=True)
class Check:
    """One rule of the contract.

    Attributes:
        name: its name; the test is called ``test_`` and this.
        rule: what a provider does, as a sentence.
        why: what goes wrong where it does not.
        needs: what it needs to run.
        run: takes a ``Subject``, or a ``Provider`` if it is a live one, and raises
            ``RuleError``; may be a coroutine function.
    """

    name: str
    rule: str
    why: str
    needs: Needs
    run: Run


@attrs.frozen(kw_only=True)
class CheckResult:
    """What one check came to.

    Attributes:
        check: the check.
        found: what was found against the rule, or None when it holds.
    """

    check: Check
    found: str | None = None

    @property
    def passed(self) -> bool:
        """Whether the rule holds."""
        return self.found is None

    def __str__(self) -> str:
        if self.passed:
            return f"{self.check.rule}"
        return f"rule:  {self.check.rule}\nfound: {self.found}\nwhy:   {self.check.why}"


_SETTINGS: Final = "the checks take settings from the contract's class or the configuration"
CHECKS: Final[list[Check]] = []
"""Every check, in the order of the modules that define them."""


def check(rule: str, *, why: str, needs: Needs = Needs.NOTHING) -> Callable[[Run], Run]:
    """Make a function a check of the contract; its name becomes the check's."""

    def register(run: Run) -> Run:
        CHECKS.append(Check(name=run.__name__, rule=rule, why=why, needs=needs, run=run))
        return run

    return register


def require(holds: object, found: str) -> None:
    """Raise ``RuleError`` with ``found`` unless ``holds``."""
    if not holds:
        raise RuleError(found)


def perform(checked: Check, subject: object) -> CheckResult:
    """Run one check on ``subject``, to its result; must not be called from a running loop."""
    try:
        work = checked.run(subject)
        if work is not None:
            asyncio.run(work)
    except Exception as error:  # noqa: BLE001  # what a stranger's code raises is the finding
        return CheckResult(check=checked, found=_finding(error))
    return CheckResult(check=checked)


async def perform_here(checked: Check, subject: object) -> CheckResult:
    """Run one check in the running loop, which one that is no coroutine function blocks."""
    try:
        work = checked.run(subject)
        if work is not None:
            await work
    except Exception as error:  # noqa: BLE001  # what a stranger's code raises is the finding
        return CheckResult(check=checked, found=_finding(error))
    return CheckResult(check=checked)


def _finding(error: Exception) -> str:
    if isinstance(error, RuleError):
        return str(error)
    told = f"it raised {type(error).__name__}: {error}"
    # The host's errors tell no more than a type of what a plugin raised; its author needs more.
    if isinstance(error, GatewayError) and error.__cause__ is not None:
        told += f" ({error.__cause__})"
    return f"{told}; {_SETTINGS}" if ".settings." in str(error) else told
