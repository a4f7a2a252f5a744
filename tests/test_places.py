"""Where something was raised: the plugin's file and line, and nothing of what was said."""

import sys
from types import ModuleType

import pytest

from gateway_core.places import is_python, place_of


def _raised(source: str, name: str = "acme_plugin", file: str = "/home/me/acme_plugin.py") -> str:
    module = ModuleType(name)
    code = compile(source, file, "exec")
    with pytest.raises((ExceptionGroup, ArithmeticError, LookupError, ValueError)) as caught:
        exec(code, vars(module))
    # Without the line of this test, which would be a stranger's, too.
    assert caught.tb.tb_next is not None
    return place_of(caught.value.with_traceback(caught.tb.tb_next))


def test_the_line_of_the_plugin_is_named() -> None:
    assert _raised("\nraise KeyError('sk-secret')") == " at acme_plugin.py, line 2"


def test_a_module_of_a_package_is_named_with_its_package() -> None:
    place = _raised("1 / 0", "acme.provider", "/home/me/site-packages/acme/provider.py")
    assert place == " at acme/provider.py, line 1"


def test_what_a_library_raised_is_named_with_the_line_that_called_it() -> None:
    place = _raised("import json\n\njson.loads('sk-secret')")
    assert place.startswith(" at acme_plugin.py, line 3 (raised in json/decoder.py, line ")


def test_the_members_of_a_group_are_named() -> None:
    source = """
found = []
for wrong in ('1 / 0', 'no_name', '1 / 0'):
    try:
        eval(wrong) if wrong != 'no_name' else no_name
    except Exception as error:
        found.append(error)
raise ExceptionGroup('sk-secret', found)
"""
    assert " at acme_plugin.py, line 5" in _raised(source)
    assert "sk-secret" not in _raised(source)


def test_what_was_never_raised_has_no_place() -> None:
    assert place_of(ValueError("sk-secret")) == ""


def test_pythons_own_files_are_known() -> None:
    assert is_python(str(sys.modules["json"].__file__))
    assert is_python("<frozen importlib._bootstrap>")
    assert not is_python(str(pytest.__file__))
