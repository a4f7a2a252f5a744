"""A provider for Laya servers: System One over HTTP."""
