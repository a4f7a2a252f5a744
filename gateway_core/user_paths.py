"""Paths as people write them."""

import os
from pathlib import Path


def expanded(path: str | os.PathLike[str]) -> Path:
    """Return a path that a person gave, with a leading ``~`` made the home folder.

    No shell does that for what stands in a file, in a variable or in an MCP client's arguments.
    """
    found = Path(path)
    try:
        return found.expanduser()
    except RuntimeError:
        return found  # there is no such user, hence no such file, as whoever opens it will say
