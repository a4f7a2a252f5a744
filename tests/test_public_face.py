"""The names that programs and providers may use."""

import subprocess
import sys

import gateway_core


def test_every_public_name_can_be_imported() -> None:
    assert len(set(gateway_core.__all__)) == len(gateway_core.__all__)
    for name in gateway_core.__all__:
        assert getattr(gateway_core, name) is not None


def test_the_lazy_table_and_the_public_names_agree() -> None:
    assert set(gateway_core.__all__) == {
        name for names in gateway_core._HOMES.values() for name in names
    }


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(gateway_core, "nonsense")


def test_importing_the_package_imports_none_of_its_dependencies() -> None:
    heavy = "attrs attr cattrs httpx mcp pluggy click msgspec uvicorn limits"
    program = f"import sys, gateway_core; print([m for m in '{heavy}'.split() if m in sys.modules])"
    shown = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=30
    )
    assert shown.stdout.strip() == "[]"
