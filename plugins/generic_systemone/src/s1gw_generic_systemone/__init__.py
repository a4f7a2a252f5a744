"""A provider for any server that speaks System One."""
