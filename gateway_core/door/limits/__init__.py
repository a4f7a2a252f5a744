"""Requests a minute and requests under way, of each key and of each organization."""
