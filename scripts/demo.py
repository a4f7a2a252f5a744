"""A real decision on this machine, three ways: the shell, an MCP client, and HTTP.

Uses the embedded engine alone, with a configuration of its own: no key, no network.
"""

import asyncio
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TextIO
from urllib.request import Request, urlopen

from gateway_core.cli.decide import show

S1GW: Final = str(Path(sys.executable).with_name("s1gw"))
CONFIG: Final = '[decide]\nchain = ["local"]\n'
QUESTION: Final = "Which team should handle this ticket?"
OPTIONS: Final = ["billing", "technical support", "sales", "shipping"]
TICKET: Final = "I was charged twice for my subscription this month. Please refund one payment."
RELAYED: Final = {
    "model": "local-e5-small",
    "state": {"text": "The assistant answered the question and confirmed the next step."},
    "questions": {
        "q1": {
            "type": "score",
            "instructions": "Rate whether the assistant provided a clear next step.",
            "criteria": ["No clear next step", "Clear next step"],
        }
    },
}


def main() -> None:
    """Show the three ways, one after the other."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "config.toml").write_text(CONFIG)
        environment = {
            **os.environ,
            "S1GW_CONFIG": str(folder / "config.toml"),
            "S1GW_STATE_DIR": str(folder / "state"),
        }
        from_the_shell(environment)
        with Path(os.devnull).open("w") as quiet:
            asyncio.run(over_mcp(environment, quiet))
        over_http(environment)
    print("\nThat was a small similarity engine, to show the way. Add a decision model: README.md")


def heading(text: str) -> None:
    """Print what comes next."""
    print(f"\n── {text} {'─' * (76 - len(text))}", flush=True)


def from_the_shell(environment: dict[str, str]) -> None:
    """Ask with the command line."""
    heading("1. The shell")
    command = ["s1gw", "decide", QUESTION, "--context", json.dumps({"ticket": TICKET})]
    for option in OPTIONS:
        command += ["-o", option]
    print(f"$ {shlex.join(command)}", flush=True)
    subprocess.run([S1GW, *command[1:]], env=environment, check=True)


async def over_mcp(environment: dict[str, str], errors: TextIO) -> None:
    """Ask as an agent does: start the server, and call its tool."""
    heading("2. An MCP client, over stdio: s1gw serve --mcp")
    from mcp import Client, StdioServerParameters, stdio_client

    server = StdioServerParameters(command=S1GW, args=["serve", "--mcp"], env=environment)
    question = {"question": QUESTION, "options": OPTIONS, "context": {"ticket": TICKET}}
    async with Client(stdio_client(server, errlog=errors)) as client:
        tools = (await client.list_tools()).tools
        print("tools:", ", ".join(tool.name for tool in tools))
        result = await client.call_tool("system1_decide", question)
    reply: dict[str, Any] = dict(result.structured_content or {})
    show(QUESTION, {**reply, "warnings": []})


def over_http(environment: dict[str, str]) -> None:
    """Relay a System One body over HTTP."""
    heading("3. HTTP: s1gw serve --http --auth disabled")
    with http_server(environment) as address:
        body = json.dumps(RELAYED).encode()
        print(f"POST /v1/systemone\n{json.dumps(RELAYED, indent=2)}\n")
        headers = {"content-type": "application/json"}
        with urlopen(Request(f"{address}/v1/systemone", body, headers), timeout=30) as reply:
            print(reply.status, reply.reason)
            print(json.dumps(json.load(reply), indent=2))


@contextmanager
def http_server(environment: dict[str, str]) -> Iterator[str]:
    """Serve on a free port; yield the address that the server says it listens on."""
    command = [S1GW, "serve", "--http", "--auth", "disabled", "--port", "0"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as server:
        try:
            found = None
            while found is None and (line := server.stderr.readline() if server.stderr else ""):
                found = re.search(r"listening on (http://\S+)", line)
            if found is None:
                sys.exit("the HTTP server did not start")
            yield found[1]
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
