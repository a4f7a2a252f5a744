"""Plugins that print: stdout is for the answer, whatever they do."""

import json
import os

import pytest

NOISY = """
print("noise at import")
from gateway_core import *

class Provider:
    def __init__(self, context):
        print("noise while it is built")

    @hookimpl
    def capabilities(self):
        print("noise about capabilities")
        return Capabilities(formats=frozenset({Format.SYSTEMONE}), keyless=True, remote=False)

    @hookimpl
    def build_url(self):
        return "inproc://noisy"

    @hookimpl
    async def probe(self):
        print("noise while probed")
        return ProbeResult(ok=True)

    @hookimpl
    async def list_models(self):
        print("noise about models")
        return []

    @hookimpl
    async def decide(self):
        print("noise while deciding")
        return DecisionReply(body=b'{"answers": {"decision": {"type": "noul", "noul": 0.9}}}')
"""
COMMANDS = {
    "decide": ("decide", "Urgent?", "--json"),
    "health": ("health", "--json"),
    "capabilities": ("capabilities", "--json"),
    "models": ("models", "--json"),
    "config check": ("config", "check", "--json"),
    "plugins check": ("plugins", "check", "noisy", "--json"),
}


@pytest.fixture(autouse=True)
def _noisy(site, write_config) -> None:
    site.module("noisy_plugin", NOISY)
    site.distribution("noisy", {"gateway_core.providers.v1": {"noisy": "noisy_plugin:Provider"}})
    write_config("[decide]\nchain = ['noisy']\n[providers.noisy]\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_what_a_plugin_prints_goes_to_stderr(run, name: str) -> None:
    result = run(*COMMANDS[name])

    json.loads(result.stdout)
    assert "noise" in result.stderr


def test_the_answer_of_a_noisy_plugin_counts(run) -> None:
    reply = json.loads(run("decide", "Urgent?", "--json").stdout)

    assert (reply["status"], reply["provider"]) == ("decided", "noisy")


@pytest.mark.parametrize("name", COMMANDS)
def test_what_a_native_library_prints_goes_to_stderr(spawn, site, name: str) -> None:
    native = NOISY.replace("print(", "import os, sys; os.write(1, b'raw '); sys.__stdout__.write(")
    site.module("noisy_plugin", native)
    done = spawn(*COMMANDS[name], env={**os.environ, "PYTHONPATH": str(site.folder)})

    json.loads(done.stdout)
    assert "raw" in done.stderr
    assert "noise" in done.stderr
