"""The version of the host, in a module that imports nothing, so that every other may."""

from typing import Final

__version__: Final = "0.1.0"
