"""A provider for OpenAI Decisions and Azure's deployments of it."""
