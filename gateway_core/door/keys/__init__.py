"""The gateway's own keys: made, kept as hashes, looked up, revoked."""
