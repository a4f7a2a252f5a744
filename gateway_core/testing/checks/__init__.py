"""The checks of the provider contract, as plain functions that need no pytest.

run_checks(AcmeProvider, "acme")      those that need nothing but the class
live_checks(provider)                 a probe and one tiny decision, for real
"""

from collections.abc import Mapping, Sequence
from typing import Any

from gateway_core.testing.checks import (  # noqa: F401  # importing them registers their checks
    addressing,
    answering,
    building,
    conduct,
    discovery,
    importing,
    inside,
    isolation,
    refusing,
    sending,
    two_models,
    watching,
)
from gateway_core.testing.checks.check import CHECKS, Check, CheckResult, Needs, perform
from gateway_core.testing.checks.live import live_checks
from gateway_core.testing.checks.subject import Subject

__all__ = ["CHECKS", "Check", "CheckResult", "Needs", "Subject", "live_checks", "run_checks"]


def run_checks(
    plugin_class: type,
    dialect: str,
    *,
    settings: Mapping[str, Any] | None = None,
    models: Sequence[str] = ("kit-model",),
) -> list[CheckResult]:
    """Run every check that needs no upstream; must not be called from a running event loop.

    Args:
        plugin_class: the class that the entry point names.
        dialect: the entry point's name.
        settings: the settings it is built with, where it needs some.
        models: the models it is built with.
    """
    subject = Subject(
        provider_class=plugin_class, dialect=dialect, settings=settings or {}, models=tuple(models)
    )
    offline = {Needs.NOTHING, Needs.BUILDING, Needs.ADDRESS} - subject.missing.keys()
    return [perform(one, subject) for one in CHECKS if one.needs in offline]
