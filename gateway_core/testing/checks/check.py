"""A check of the provider contract: a rule, the reason for it, and the code that tries it."""

import asyncio
from collections.abc import Callable, Coroutine
from enum import StrEnum
from typing import Any, Final

import attrs

from gateway_core.errors import GatewayError
from gateway_core.places import place_of

RunCheck = Callable[[Any], Coroutine[Any, Any, None] | None]
"""Takes what is checked, and raises ``RuleError`` when a rule is broken."""


class Needs(StrEnum):
    """What a check needs beside the provider."""

    NOTHING = "nothing"
    """It runs anywhere, as in ``s1gw plugins check``."""
    BUILDING = "building"
    """A class that can be built; this runs anywhere, too."""
    ADDRESS = "address"
    """A provider that is asked by a URL; nothing is sent there, so this runs anywhere, too."""
    ANSWERS = "answers"
    """A provider that can be asked: in process, or with a scripted upstream."""
    UPSTREAM = "upstream"
    """A provider that sends something."""
    INSIDE = "inside"
    """A provider that answers in process."""
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
        is_base: whether others are not tried when this one fails.
    """

    name: str
    rule: str
    why: str
    needs: Needs
    run: RunCheck
    is_base: bool = False


@attrs.frozen(kw_only=True)
class CheckResult:
    """What one check came to.

    Attributes:
        check: the check.
        found: what was found against the rule, or None when it holds.
        untried: why the rule could not be tried, or None when it was: another check failed,
            which tells the cause once.
    """

    check: Check
    found: str | None = None
    untried: str | None = None

    @property
    def passed(self) -> bool:
        """Whether the rule was tried and holds."""
        return self.found is None and self.untried is None

    def __str__(self) -> str:
        if self.untried is not None:
            return f"rule:  {self.check.rule}\nnot tried: {self.untried}"
        if self.passed:
            return f"{self.check.rule}"
        return f"rule:  {self.check.rule}\nfound: {self.found}\nwhy:   {self.check.why}"


_SETTINGS: Final = "the checks take settings from the contract's class or the configuration"
CHECKS: Final[list[Check]] = []
"""Every check, in the order of the modules that define them."""


def check(
    rule: str, *, why: str, needs: Needs = Needs.NOTHING, is_base: bool = False
) -> Callable[[RunCheck], RunCheck]:
    """Make a function a check of the contract; its name becomes the check's."""

    def register(run: RunCheck) -> RunCheck:
        name = run.__name__
        CHECKS.append(Check(name=name, rule=rule, why=why, needs=needs, run=run, is_base=is_base))
        return run

    return register


def require(holds: object, found: str) -> None:
    """Raise ``RuleError`` with ``found`` unless ``holds``."""
    if not holds:
        raise RuleError(found)


def perform(checked: Check, subject: object) -> CheckResult:
    """Run one check on ``subject``, to its result; must not be called from a running loop.

    What was built on is performed first, and when it fails, this check is not tried: one cause is
    one failure.
    """
    for base in _bases(checked):
        if not _performed_once(base, subject).passed:
            return CheckResult(check=checked, untried=f"see {base.name}, which failed")
    return _performed_once(checked, subject) if checked.is_base else _performed(checked, subject)


def _bases(checked: Check) -> list[Check]:
    if checked.needs is Needs.NOTHING:
        return []
    asks = checked.needs not in (Needs.BUILDING, Needs.ADDRESS)
    wanted = (Needs.NOTHING, Needs.ANSWERS) if asks else (Needs.NOTHING,)
    return [base for base in CHECKS if base.is_base and base.needs in wanted and base != checked]


def _performed_once(checked: Check, subject: object) -> CheckResult:
    kept: dict[object, Any] = getattr(subject, "kept", {})
    if checked.name not in kept:
        kept[checked.name] = _performed(checked, subject)
    found: CheckResult = kept[checked.name]
    return found


def _performed(checked: Check, subject: object) -> CheckResult:
    try:
        work = checked.run(subject)
        if work is not None:
            asyncio.run(work)
    except Exception as error:  # noqa: BLE001  # what a stranger's code raises is the finding
        return CheckResult(check=checked, found=_finding(error))
    return CheckResult(check=checked)


async def perform_here(checked: Check, subject: object) -> CheckResult:
    """Run one check for real in the running loop; what a plugin raised is told without its text.

    A check that is no coroutine function blocks the loop.
    """
    try:
        work = checked.run(subject)
        if work is not None:
            await work
    except Exception as error:  # noqa: BLE001  # what a stranger's code raises is the finding
        return CheckResult(check=checked, found=_finding(error, real=True))
    return CheckResult(check=checked)


def _finding(error: Exception, *, real: bool = False) -> str:
    """Say what a check raised; after a real call no text of a plugin's, which may hold its key."""
    if isinstance(error, RuleError):
        return str(error)
    cause = error.__cause__ if isinstance(error, GatewayError) else error
    told = f"it raised {type(error).__name__}"
    if isinstance(error, GatewayError) or not real:
        told += f": {error}"
    # The host's errors tell no more than a type of what a plugin raised; its author needs more.
    if cause is not None and cause is not error and not real:
        told += f" ({cause})"
    if cause is not None and (place := place_of(cause)) not in told:
        told += place
    return f"{told}; {_SETTINGS}" if ".settings." in str(error) else told
