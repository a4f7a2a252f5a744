"""The gateway over HTTP: the relay, the decide contract and MCP, on uvicorn."""
