"""The routes that relay."""

from enum import StrEnum


class RelayRoute(StrEnum):
    """The relay's routes, by path."""

    SYSTEMONE = "/v1/systemone"
    DECISIONS = "/v1/decisions"
    MODELS = "/v1/decisions/models"
