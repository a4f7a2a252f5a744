"""A provider for TypeSafe's Jev models: System One at /v1/systemone."""
