"""A provider for Perplexity's Decider models: System One at ``/v1/decisions``."""

from s1gw_perplexity.provider import PerplexityProvider

__all__ = ["PerplexityProvider"]
