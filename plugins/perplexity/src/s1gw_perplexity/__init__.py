"""A provider for Perplexity's Decider models: System One at /v1/decisions."""
