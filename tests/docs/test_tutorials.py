"""The tutorials lead where they say: every file is written, every command is run."""

import re
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import attrs
import pytest

from gateway_core.testing import Reply, ScriptedUpstream

DOCS: Final = Path(__file__).parents[2] / "docs"
PORTS: Final = ("8899", "8765", "11434")
OpenShell = Callable[..., Any]
_FENCE: Final = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_WRITE: Final = re.compile(r"(Write|Append to) `([^`]+)`[^`]*:\Z")
_HOLDS: Final = re.compile(r"`([^`]+)`[^`]* holds:\Z")


@attrs.frozen
class Block:
    """One fenced block, and the words right before it."""

    language: str
    text: str
    before: str


def blocks_of(page: str) -> Iterator[Block]:
    text = (DOCS / page).read_text(encoding="utf-8")
    for port in PORTS:
        text = text.replace(port, free_port())
    end = 0
    for found in _FENCE.finditer(text):
        before = re.sub(r"\s+", " ", text[end : found.start()]).strip()
        end = found.end()
        yield Block(found[1], found[2], before)


def free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def commands_of(block: Block) -> Iterator[tuple[str, list[re.Pattern[str]]]]:
    """Yield each command with the lines that it must print; … stands for anything."""
    for entry in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, *rest = entry.rstrip("\n").split("\n")
        while rest and rest[0].startswith("> "):
            command += "\n" + rest.pop(0).removeprefix("> ")
        yield command, [pattern(line) for line in rest if line.strip()]


def pattern(line: str) -> re.Pattern[str]:
    parts = (r"\s+".join(map(re.escape, part.split())) for part in line.split("…"))
    return re.compile(r"\s*.*?\s*".join(parts))


def follow(page: str, shell) -> None:
    """Do what a page says, block by block."""
    for block in blocks_of(page):
        folder = shell.folder()
        if block.language == "console":
            for command, expected in commands_of(block):
                shell.run(command, expected)
        elif found := _WRITE.search(block.before):
            target = folder / found[2]
            target.parent.mkdir(parents=True, exist_ok=True)
            known = target.read_text() if found[1] == "Append to" else ""
            target.write_text(known + block.text)
        elif found := _HOLDS.search(block.before):
            assert block.text in (folder / found[1]).read_text(), f"{found[1]}: {block.text}"
        else:
            pytest.fail(f"nothing says what to do with:\n{block.text}")


@pytest.fixture
def registry() -> Iterator[ScriptedUpstream]:
    """Where packages are uploaded to, in place of the public one."""
    with ScriptedUpstream() as server:
        server.answer(Reply(body=b"OK"))
        yield server


@pytest.mark.timeout(300)
def test_the_tutorial_leads_from_an_empty_folder_to_an_uploaded_wheel(
    open_shell: OpenShell, registry: ScriptedUpstream
) -> None:
    shell = open_shell(
        TWINE_REPOSITORY_URL=f"{registry.url}/legacy/",
        TWINE_USERNAME="__token__",
        TWINE_PASSWORD="a-token",
    )
    follow("writing-a-provider.md", shell)

    (uploaded,) = registry.requests
    assert b"s1gw_acme-0.1.0-py3-none-any.whl" in uploaded.body


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "page",
    [
        "writing-a-provider-with-its-own-format.md",
        "writing-an-unusual-provider.md",
        "writing-a-middleware.md",
    ],
)
def test_a_how_to_leads_where_it_says(open_shell: OpenShell, page: str) -> None:
    follow(page, open_shell())
