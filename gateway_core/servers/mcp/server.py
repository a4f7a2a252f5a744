"""The MCP server: the low-level one, so that the published schemas are ours to the letter."""

import logging
from typing import Any, Final

import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from gateway_core.servers.mcp.refusal import refusal
from gateway_core.servers.mcp.tools import (
    INSTRUCTIONS,
    DecisionService,
    ToolHandler,
    tool_handlers,
    tool_list,
    tool_result,
)
from gateway_core.version import __version__

_log: Final = logging.getLogger("s1gw.mcp")


def build_server(gateway: DecisionService) -> Server[Any]:
    """Return a server of the three tools, for stdio or streamable HTTP.

    Args:
        gateway: who answers.
    """
    handlers = tool_handlers(gateway)

    async def on_list_tools(_: Any, __: Any) -> types.ListToolsResult:
        return tool_list()

    async def on_call_tool(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        handler = handlers.get(params.name)
        if handler is None:
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {params.name[:64]!r}")
        if refused := refusal.get():
            return tool_result(refused.reply())
        return tool_result(await _guarded(handler, params))

    return Server(
        "s1gw",
        version=__version__,
        title="s1gw, the gateway for decision models",
        instructions=INSTRUCTIONS,
        on_list_tools=on_list_tools,
        on_call_tool=on_call_tool,
    )


async def _guarded(handler: ToolHandler, params: types.CallToolRequestParams) -> dict[str, Any]:
    try:
        return await handler(params.arguments or {})
    # The package sends a handler's exception to the client word for word, whatever it holds.
    except Exception as error:  # noqa: BLE001
        _log.exception("%s failed: %s", params.name, type(error).__name__)
        raise MCPError(types.INTERNAL_ERROR, "internal error; see the gateway's log") from None
