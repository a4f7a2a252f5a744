"""A decision engine in process: a small embedding model that needs no key, server or download."""
