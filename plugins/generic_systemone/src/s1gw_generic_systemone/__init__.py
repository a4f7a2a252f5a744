"""A provider for any server that speaks System One."""

from s1gw_generic_systemone.provider import GenericSystemOneProvider
from s1gw_generic_systemone.settings import Settings

__all__ = ["GenericSystemOneProvider", "Settings"]
