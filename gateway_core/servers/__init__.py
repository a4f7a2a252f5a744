"""The faces of the gateway: MCP over stdio, and HTTP."""
