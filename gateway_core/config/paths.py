"""Where the configuration and the gateway's own state are kept."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import platformdirs

from gateway_core.errors import ConfigError
from gateway_core.user_paths import expanded

APP: Final = "s1gw"
DISABLED_PLUGINS: Final = "S1GW_DISABLED_PLUGINS"
"""The variable of ``plugins.disabled``; it is shorter than those of other keys."""
NOWHERE: Final = Path("/nonexistent") / APP
"""A folder that is not there, for who only reads: the home of users that have none on Debian."""


def config_path(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the configuration file: ``S1GW_CONFIG``, or the platform's own place.

    Raises:
        ConfigError: that place is in a home folder, and there is none.
    """
    chosen = environ.get("S1GW_CONFIG")
    if chosen:
        return expanded(chosen)
    home = environ.get("XDG_CONFIG_HOME")
    if home:
        return expanded(home) / APP / "config.toml"
    try:
        return Path(platformdirs.user_config_dir(APP, appauthor=False)) / "config.toml"
    except RuntimeError:
        raise ConfigError(
            "there is no home folder to look for the configuration in: name the file with --config"
            " or S1GW_CONFIG"
        ) from None


def state_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of what the gateway itself writes: ``S1GW_STATE_DIR``, or the platform's.

    It holds the paused marker, the hashed keys and the calibration fits, never anything that
    a person wrote by hand.

    Raises:
        ConfigError: that folder is in a home folder, and there is none.
    """
    chosen = environ.get("S1GW_STATE_DIR")
    if chosen:
        return expanded(chosen)
    try:
        return Path(platformdirs.user_state_dir(APP, appauthor=False))
    except RuntimeError:
        raise ConfigError(
            "there is no home folder for the gateway's state: set S1GW_STATE_DIR to a folder"
        ) from None


def config_path_to_read(environ: Mapping[str, str] = os.environ) -> Path:
    """Do as ``config_path`` does; without a home folder there is no file, and defaults count."""
    try:
        return config_path(environ)
    except ConfigError:
        return NOWHERE / "config.toml"


def state_dir_to_read(environ: Mapping[str, str] = os.environ) -> Path:
    """Do as ``state_dir`` does; without a home folder nothing is kept, and nothing was."""
    try:
        return state_dir(environ)
    except ConfigError:
        return NOWHERE


def home_folder() -> Path:
    """Return the user's home folder.

    Raises:
        ConfigError: there is none.
    """
    try:
        return Path.home()
    except RuntimeError:
        raise ConfigError("this user has no home folder: set HOME") from None
