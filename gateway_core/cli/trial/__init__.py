"""``s1gw serve --check``: one request for each organization, before a deployment."""
