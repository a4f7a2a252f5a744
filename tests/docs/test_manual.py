"""The example in the hooks' manual is a provider that keeps the whole contract."""

import inspect
import re
from importlib import import_module
from textwrap import dedent
from typing import Any, Final

import pytest

from gateway_core import hookspecs
from gateway_core.hookspecs import PROVIDERS_GROUP
from gateway_core.testing import Subject
from gateway_core.testing.checks import CHECKS, Check, Needs
from gateway_core.testing.checks.check import perform

_INDENTED: Final = re.compile(r"^    .*(?:\n+    .*)*", re.MULTILINE)
_MODULE: Final = "acme_of_the_manual"


@pytest.fixture
def subject(site: Any) -> Subject:
    example = _INDENTED.search(inspect.getdoc(hookspecs) or "")
    assert example, "the manual has no example"
    site.module(_MODULE, dedent(example[0]))
    site.distribution("acme", {PROVIDERS_GROUP: {"acme": f"{_MODULE}:AcmeProvider"}})
    return Subject(provider_class=import_module(_MODULE).AcmeProvider, dialect="acme")


@pytest.mark.parametrize(
    "check",
    [check for check in CHECKS if check.needs is not Needs.INSIDE],
    ids=lambda one: one.name,
)
def test_the_example_keeps_the_contract(subject: Subject, check: Check) -> None:
    result = perform(check, subject)

    assert result.passed, result
