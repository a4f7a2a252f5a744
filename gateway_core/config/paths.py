"""Where the configuration and the gateway's own state are kept."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import platformdirs

from gateway_core.user_paths import expanded

APP: Final = "s1gw"


def config_path(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the configuration file: ``S1GW_CONFIG``, or the platform's own place."""
    chosen = environ.get("S1GW_CONFIG")
    if chosen:
        return expanded(chosen)
    home = environ.get("XDG_CONFIG_HOME")
    if home:
        return expanded(home) / APP / "config.toml"
    return Path(platformdirs.user_config_dir(APP, appauthor=False)) / "config.toml"


def state_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of what the gateway itself writes: ``S1GW_STATE_DIR``, or the platform's.

    It holds the paused marker, the hashed keys and the calibration fits, never anything that
    a person wrote by hand.
    """
    chosen = environ.get("S1GW_STATE_DIR")
    if chosen:
        return expanded(chosen)
    return Path(platformdirs.user_state_dir(APP, appauthor=False))
