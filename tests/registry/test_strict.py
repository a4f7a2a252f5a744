"""``S1GW_STRICT_PLUGINS``: when a fault of the configuration is fatal."""

import pytest

from gateway_core.errors import ConfigError
from gateway_core.reports.faults import require_sound

UNSOUND = "[providers.c]\ndialect = 'nope'\n"


@pytest.mark.parametrize("told", ["1", "true", " YES ", "on"])
def test_strict_mode_makes_any_problem_fatal(make, told) -> None:
    require_sound(make("", S1GW_STRICT_PLUGINS=told))
    with pytest.raises(ConfigError, match=r"providers\.c: no dialect 'nope'"):
        require_sound(make(UNSOUND, S1GW_STRICT_PLUGINS=told))


@pytest.mark.parametrize("told", [None, "", "0", "false", "no", "off", "perhaps"])
def test_strict_mode_is_off_unless_it_is_switched_on(make, told) -> None:
    require_sound(make(UNSOUND, **({} if told is None else {"S1GW_STRICT_PLUGINS": told})))
