"""The provider contract as a pytest class: subclass it and name the provider.

class TestAcme(ProviderContract):
    provider_class = AcmeProvider
"""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import pytest

from gateway_core.secret import Secret
from gateway_core.testing.answers import standard_answer
from gateway_core.testing.checks import CHECKS, Check, Subject
from gateway_core.testing.checks.check import perform
from gateway_core.testing.checks.discovery import provider_entries
from gateway_core.testing.checks.subject import MODEL, header_holds
from gateway_core.testing.messages import Received, Reply


class ProviderContract:
    """Every check of the contract, as one test each; see ``gateway_core.testing.checks``.

    Checks that do not apply to the provider are not among its tests; ``left_out`` says which, and
    why. When the class cannot be built, or does not answer a plain question, one test fails and
    those that build on it are skipped: one cause is one failure.

    A check may be overridden only by a test that is marked ``xfail(strict=True, reason=…)``:
    then it is known that the provider breaks the rule, why, and when that has ended.

    Attributes:
        provider_class: the class that the entry point names.
        dialect: the entry point's name; found by the class when it is not given.
        settings: the provider's own settings, in which a ``Secret`` may stand as it is.
        models: the configured models.
        relaying: whether bodies pass through as they are; a provider whose upstream speaks a
            format of its own says False and overrides ``answer``.
        left_out: the tests that do not apply to this provider, each with the reason.
    """

    provider_class: ClassVar[type]
    dialect: ClassVar[str] = ""
    settings: ClassVar[Mapping[str, Any]] = {}
    models: ClassVar[tuple[str, ...]] = (MODEL,)
    relaying: ClassVar[bool] = True
    left_out: ClassVar[Mapping[str, str]] = {}
    _kept: ClassVar[dict[object, Any]] = {}

    def answer(self, received: Received) -> Reply:
        """Return what the upstream answers: by default a valid reply in the request's format.

        Of a provider that relays it is the object that stands under ``reply_path``.
        """
        return standard_answer(received)

    def carries(self, received: Received, key: Secret) -> bool:
        """Say whether a request was made with ``key``: by default, whether a header holds it.

        A provider that signs its requests verifies the signature here; one that encodes the key
        decodes it.
        """
        return header_holds(received, key)

    def __init_subclass__(cls) -> None:
        """Refuse a subclass that weakens the contract, and leave out what does not apply to it."""
        super().__init_subclass__()
        for check in CHECKS:
            own = vars(cls).get(_test_name(check), _NOT_OVERRIDDEN)
            if own is not _NOT_OVERRIDDEN and not _is_known_failure(own):
                raise TypeError(
                    f"{cls.__name__}.{_test_name(check)} overrides or deletes a check of the "
                    f"provider contract. The rule: {check.rule} If the provider cannot keep it, "
                    "mark the test with pytest.mark.xfail(strict=True, reason=…)"
                )
        cls._kept = {}
        if hasattr(cls, "provider_class"):
            cls.left_out = _left_out(cls().subject)
            for name in cls.left_out.keys() - vars(cls).keys():
                setattr(cls, name, None)

    @property
    def subject(self) -> Subject:
        """The provider under test, with what it takes to build it."""
        return Subject(
            provider_class=self.provider_class,
            dialect=self.dialect or _dialect_of(self.provider_class),
            settings=self.settings,
            models=self.models,
            relaying=self.relaying,
            answer=self.answer,
            carries=self.carries,
            kept=self._kept,
        )


_NOT_OVERRIDDEN = object()


def _test_name(check: Check) -> str:
    return f"test_{check.name}"


def _is_known_failure(test: object) -> bool:
    marks = getattr(test, "pytestmark", [])
    return any(
        mark.name == "xfail" and mark.kwargs.get("strict") is True and mark.kwargs.get("reason")
        for mark in marks
    )


def _dialect_of(provider_class: type) -> str:
    value = f":{provider_class.__qualname__}"
    named = [entry for entry in provider_entries() if entry.value.endswith(value)]
    found = [entry.name for entry in named if entry.load() is provider_class]
    return found[0] if found else provider_class.__name__.lower()


def _left_out(subject: Subject) -> dict[str, str]:
    missing = subject.missing
    return {_test_name(check): missing[check.needs] for check in CHECKS if check.needs in missing}


def _test_of(check: Check) -> Callable[[ProviderContract], None]:
    def test(self: ProviderContract) -> None:
        result = perform(check, self.subject)
        if result.untried is not None:
            pytest.skip(str(result))
        if not result.passed:
            pytest.fail(str(result), pytrace=False)

    test.__name__ = _test_name(check)
    test.__doc__ = check.rule
    return test


for _check in CHECKS:
    setattr(ProviderContract, _test_name(_check), _test_of(_check))
