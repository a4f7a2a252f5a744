"""The three tools: what agents read about them, and what calling one does."""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, Protocol

import mcp_types as types

from gateway_core.schema import CAPABILITIES, HEALTH, REQUEST, RESPONSE

_NOTHING: Final = {"type": "object", "properties": {}, "additionalProperties": False}

INSTRUCTIONS: Final = """\
s1gw puts one small, well-defined question to a decision model and gets a calibrated answer in \
milliseconds.

Ask system1_decide when the answer is one of a known set (route, label, triage, gate, pick one \
of these) or a plain yes or no, and what the answer depends on fits into `context`. Options that \
say what they mean ("refund request", not "A") are answered best.

Do not ask it to plan, explain, write, calculate, or recall facts that are not in `context`; nor \
when being wrong cannot be undone, unless a person confirms.

`decided` with its `confidence` can be acted on. `abstained` means: reason it through yourself; \
asking again will not help. `error` with `invalid_request` names the field to mend. Never put \
credentials into a question."""


class DecisionService(Protocol):
    """What the tools are served from: the gateway, or what opens it on first use."""

    async def decide(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Answer ``system1_decide``."""
        ...

    async def health(self) -> dict[str, Any]:
        """Answer ``system1_health``."""
        ...

    async def capabilities(self) -> dict[str, Any]:
        """Answer ``system1_capabilities``."""
        ...


ToolHandler = Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]]


def tool_list() -> types.ListToolsResult:
    """Return the tools with their schemas, as they are published."""
    return types.ListToolsResult(
        tools=[
            _tool(
                "system1_decide",
                "Decide",
                "Ask a decision model one question: which of these options, or yes or no. "
                "Returns the decision with its probability, or abstains when it is not sure "
                "enough; then reason it through yourself.",
                REQUEST,
                RESPONSE,
                open_world=True,
            ),
            _tool(
                "system1_health",
                "Health of the decision models",
                "Say whether the decision models can be reached now. Costs nothing. Ask it "
                "when system1_decide fails.",
                _NOTHING,
                HEALTH,
                open_world=True,
            ),
            _tool(
                "system1_capabilities",
                "What the decision models can do",
                "List providers, their limits, thresholds, calibration and the exact schemas.",
                _NOTHING,
                CAPABILITIES,
                open_world=False,
            ),
        ]
    )


def _tool(
    name: str,
    title: str,
    description: str,
    takes: dict[str, Any],
    gives: dict[str, Any],
    *,
    open_world: bool,
) -> types.Tool:
    return types.Tool(
        name=name,
        title=title,
        description=description,
        input_schema=takes,
        output_schema=gives,
        annotations=types.ToolAnnotations(
            title=title,
            read_only_hint=True,
            destructive_hint=False,
            idempotent_hint=True,
            open_world_hint=open_world,
        ),
    )


def tool_handlers(gateway: DecisionService) -> Mapping[str, ToolHandler]:
    """Return what each tool does with its arguments, by name."""
    return {
        "system1_decide": gateway.decide,
        "system1_health": lambda _: gateway.health(),
        "system1_capabilities": lambda _: gateway.capabilities(),
    }


def tool_result(found: dict[str, Any]) -> types.CallToolResult:
    """Return what a tool found, for programs and, as the same JSON, for readers of text."""
    text = json.dumps(found, ensure_ascii=False)
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)],
        structured_content=found,
        is_error=found.get("status") == "error",
    )
