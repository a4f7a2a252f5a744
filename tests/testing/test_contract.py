"""The contract: a right provider passes every check, and every check can fail."""

import subprocess
import sys
import tomllib
from pathlib import Path

import attrs
import pytest

from gateway_core import IN_PROCESS, Capabilities, Format, Secret, hookimpl
from gateway_core.testing import ProviderContract, Received
from gateway_core.testing.checks import CHECKS, CheckResult, Needs, Subject, run_checks
from gateway_core.testing.checks.check import perform

_DATA = tomllib.loads(Path(__file__).with_name("faults.toml").read_text())
RIGHT = _DATA["provider"]
INSIDE = _DATA["inside"]
FAULTS = _DATA["fault"]
BY_NAME = {check.name: check for check in CHECKS}


def _result(provider_class: type, check: str, dialect: str = "kit") -> CheckResult:
    return perform(BY_NAME[check], Subject(provider_class=provider_class, dialect=dialect))


def test_a_right_provider_passes(install) -> None:
    assert _found(Subject(provider_class=install(RIGHT), dialect="kit")) == {}


def test_a_right_provider_in_process_passes(install) -> None:
    assert _found(Subject(provider_class=install(INSIDE), dialect="kit")) == {}


@pytest.mark.parametrize("fault", FAULTS, ids=[fault["name"] for fault in FAULTS])
def test_a_fault_is_found_by_its_check(install, fault: dict[str, str]) -> None:
    right = INSIDE if fault.get("inside") else RIGHT
    assert fault["right"] in right
    provider_class = install(right.replace(fault["right"], fault["wrong"]))
    result = _result(provider_class, fault["check"])
    assert result.found
    assert BY_NAME[fault["check"]].rule in str(result)
    assert BY_NAME[fault["check"]].why in str(result)


def test_an_empty_credential_in_a_header_of_its_own_is_found(install) -> None:
    empty = RIGHT.replace(
        "**bearer(self.context.required_api_key(request))",
        "'x-key': key.reveal() if (key := self.context.api_key(request)) else ''",
    ).replace("SYSTEMONE}))", "SYSTEMONE}), keyless=True)")
    result = _result(install(empty), "no_key_means_no_credential")
    assert result.found == "it sent x-key"


@pytest.mark.filterwarnings("default")
def test_a_warning_with_the_question_in_it_is_found(install) -> None:
    call = "        reply = await self.context.post("
    warning = "        import warnings\n        warnings.warn(f'asking {request.body}')\n"
    provider_class = install(RIGHT.replace(call, warning + call))
    with pytest.warns(UserWarning, match="asking"):
        result = _result(provider_class, "errors_and_logs_tell_no_secret")
    assert "kitquestion" in str(result.found)


@pytest.mark.parametrize("dialect", ["Kit", "1kit", "kit_x", "-kit", ""])
def test_a_dialect_that_is_no_plain_word_is_found(install, dialect: str) -> None:
    result = _result(install(RIGHT), "the_dialect_is_a_plain_word", dialect)
    assert not result.passed


@pytest.mark.parametrize(
    ("claim", "entry", "found"),
    [
        ("keys.KIT", "{}", "'keys.KIT' is none of host, vendor, format, key, order, embedded"),
        ("vendor", "{}", "'vendor' is none of"),
        ("order.first", "{}", "'order.first' is no place: order.NUMBER"),
        ("vendor.kit", "kit_elsewhere:Kit", "is for kit_elsewhere:Kit, which no entry point"),
    ],
)
def test_a_claim_that_nobody_reads_is_found(
    install, tmp_path: Path, claim: str, entry: str, found: str
) -> None:
    provider_class = install(RIGHT)
    target = entry.format(f"{provider_class.__module__}:Kit")
    (entries,) = tmp_path.rglob("entry_points.txt")
    text = f"[gateway_core.claims.v1]\n{claim} = {target}\n"
    entries.write_text(entries.read_text() + text)
    result = _result(provider_class, "claims_are_understood")
    assert found in str(result.found)


def test_a_class_that_no_entry_point_names_is_found(install) -> None:
    install(RIGHT)
    other = type("Other", (), {})
    assert not _result(other, "an_entry_point_names_the_class").passed
    assert not _result(other, "an_entry_point_names_the_class", "nobody").passed


def _found(subject: Subject) -> dict[str, str]:
    results = [perform(check, subject) for check in CHECKS if check.needs not in subject.missing]
    assert [result for result in results if result.untried] == []
    return {result.check.name: result.found for result in results if result.found}


def test_a_provider_whose_replies_are_wrapped_passes(install) -> None:
    wrapping = RIGHT.replace("SYSTEMONE}))", "SYSTEMONE}), reply_path=('data', 'result'))")
    assert _found(Subject(provider_class=install(wrapping), dialect="kit")) == {}


def test_a_provider_that_makes_something_of_its_key_passes_if_that_can_be_recognised(
    install,
) -> None:
    encoding = RIGHT.replace(
        "bearer(self.context.required_api_key(request))",
        "{'x-key': self.context.required_api_key(request).reveal()[::-1]}",
    )
    subject = Subject(provider_class=install(encoding), dialect="kit")

    def carries(received: Received, key: Secret) -> bool:
        return received.headers.get("x-key") == key.reveal()[::-1]

    unrecognised = {"the_key_goes_in_a_header", "the_key_of_the_call_is_used"}
    unrecognised |= {"calls_do_not_see_each_other", "two_providers_keep_apart"}
    assert _found(subject).keys() == unrecognised
    assert _found(attrs.evolve(subject, carries=carries, kept={})) == {}


def test_what_a_class_needs_to_be_built_is_told(install) -> None:
    needy = RIGHT.replace("settings_class = None", "settings_class = attrs.make_class('S', ['a'])")
    found = _only_failure(run_checks(install(f"import attrs\n{needy}"), "kit"))
    assert "settings.a: missing" in found
    assert "from the contract's class or the configuration" in found


def test_the_text_of_what_a_plugin_raised_is_for_its_author(install) -> None:
    crashing = RIGHT.replace("self.context = context", "raise KeyError('which one')")
    found = _only_failure(run_checks(install(crashing), "kit"))
    line = crashing[: crashing.index("raise KeyError")].count("\n") + 1
    assert "Kit raised KeyError at kit_provider_" in found
    assert f".py, line {line} ('which one')" in found


def _only_failure(results: list[CheckResult]) -> str:
    """Return what was found where a cause is told once: the rest was not tried, or passed."""
    (found,) = [result.found for result in results if result.found]
    assert all("the_class_fits" in result.untried for result in results if result.untried)
    assert len([result for result in results if result.untried]) > 5
    return found


def test_every_check_has_a_fault_that_it_finds() -> None:
    own_tests = {
        "an_entry_point_names_the_class",
        "claims_are_understood",
        "the_dialect_is_a_plain_word",
    }
    assert {fault["check"] for fault in FAULTS} | own_tests == set(BY_NAME)


def test_every_check_is_a_test_of_the_contract() -> None:
    tests = {name for name in dir(ProviderContract) if name.startswith("test_")}
    assert tests == {f"test_{check.name}" for check in CHECKS}


def test_checks_run_without_pytest(install) -> None:
    results = run_checks(install(RIGHT), "kit")
    offline = _needing(Needs.NOTHING, Needs.BUILDING, Needs.ADDRESS)
    assert {result.check.name for result in results} == offline
    assert all(result.passed for result in results)
    assert len(results) >= 16


def test_a_url_is_checked_without_an_upstream_unless_there_is_none(install) -> None:
    provider_class = install(RIGHT)
    glueing = {"build_url": hookimpl(lambda self: f"{self.context.endpoint.base_url}/v1/systemone")}
    local = {"build_url": _in_process, "capabilities": _local}
    failed = run_checks(type("Glueing", (provider_class,), glueing), "kit")
    inside = run_checks(type("Inside", (provider_class,), local), "kit")

    assert "urls_ignore_trailing_slashes" in {one.check.name for one in failed if not one.passed}
    assert {one.check.name for one in inside} == _needing(Needs.NOTHING, Needs.BUILDING)


def test_a_broken_class_gives_results_and_no_exception(install) -> None:
    results = run_checks(install("class Kit: pass"), "kit")
    assert any(not result.passed for result in results)


def test_the_checks_do_not_import_pytest() -> None:
    code = "import sys, gateway_core.testing.checks; sys.exit('pytest' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_overriding_a_check_is_refused_with_its_rule() -> None:
    with pytest.raises(TypeError, match="Nothing is retried"):
        type("Mine", (ProviderContract,), {"test_nothing_is_retried": lambda self: None})


def test_deleting_a_check_is_refused() -> None:
    with pytest.raises(TypeError, match="overrides or deletes"):
        type("Mine", (ProviderContract,), {"test_nothing_is_retried": None})


@pytest.mark.parametrize(
    "options", [{"strict": True}, {"reason": "x"}, {"strict": False, "reason": "x"}]
)
def test_an_expected_failure_must_be_strict_and_give_a_reason(options) -> None:
    @pytest.mark.xfail(**options)
    def test(self) -> None: ...

    with pytest.raises(TypeError):
        type("Mine", (ProviderContract,), {"test_nothing_is_retried": test})


def test_a_strict_expected_failure_with_a_reason_is_taken() -> None:
    @pytest.mark.xfail(strict=True, reason="the vendor's SDK retries")
    def test(self) -> None: ...

    assert type("Mine", (ProviderContract,), {"test_nothing_is_retried": test})


def _contract_of(provider_class: type, **members: object) -> type[ProviderContract]:
    members = {"provider_class": provider_class, "dialect": "kit", **members}
    return type("Mine", (ProviderContract,), members)


def _left_out(contract: type[ProviderContract]) -> set[str]:
    return {check.name for check in CHECKS if getattr(contract, f"test_{check.name}") is None}


def _needing(*needs: Needs) -> set[str]:
    return {check.name for check in CHECKS if check.needs in needs}


def test_every_check_applies_to_a_provider_that_relays(install) -> None:
    contract = _contract_of(install(RIGHT))

    assert _left_out(contract) == _needing(Needs.INSIDE)
    assert set(contract.left_out.values()) == {"it asks an upstream"}


def test_what_does_not_apply_is_no_test_and_the_reason_is_kept(install) -> None:
    provider_class = install(RIGHT)
    translating = _contract_of(provider_class, relaying=False)
    inside = _contract_of(
        type("Inside", (provider_class,), {"build_url": _in_process, "capabilities": _local})
    )

    assert _left_out(translating) == _needing(Needs.RELAYING, Needs.INSIDE)
    assert "its upstream speaks a format of its own" in translating.left_out.values()
    assert _left_out(inside) == _needing(Needs.RELAYING, Needs.UPSTREAM, Needs.ADDRESS)
    assert set(inside.left_out.values()) == {"it answers in process"}


@hookimpl
def _in_process(self) -> str:
    return f"{IN_PROCESS}kit"


@hookimpl
def _local(self) -> Capabilities:
    return Capabilities(formats=frozenset({Format.SYSTEMONE}), remote=False)


def test_nothing_is_left_out_for_a_class_that_cannot_be_built() -> None:
    assert _left_out(_contract_of(type("Broken", (), {}))) == _needing(Needs.INSIDE)
