"""The smallest server on the `mcp` package, as its documentation has it: one tool, on stdio."""

import asyncio
from typing import Any

from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server


async def _list_tools(_: Any, __: Any) -> types.ListToolsResult:
    tool = types.Tool(name="echo", input_schema={"type": "object"})
    return types.ListToolsResult(tools=[tool])


async def main() -> None:
    """Serve until stdin closes."""
    server: Server[Any] = Server("minimal", on_list_tools=_list_tools)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(main())
