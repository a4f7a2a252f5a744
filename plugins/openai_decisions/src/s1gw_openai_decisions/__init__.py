"""A provider for OpenAI Decisions and Azure's deployments of it."""

from s1gw_openai_decisions.provider import OpenAIDecisionsProvider, Settings

__all__ = ["OpenAIDecisionsProvider", "Settings"]
