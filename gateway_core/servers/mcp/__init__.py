"""The MCP face: three tools over stdio (``stdio.py``), or over HTTP in the HTTP server."""
