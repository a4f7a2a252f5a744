"""Paths among a command's options."""

import os
from typing import Any

import click

from gateway_core.user_paths import expanded


class UserPath(click.Path):
    """A path that may begin with ``~``; otherwise as ``click.Path``."""

    def convert(
        self,
        value: "str | os.PathLike[str]",
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:
        """Return the path with its ``~`` expanded, checked as ``click.Path`` does."""
        return super().convert(expanded(value), param, ctx)
