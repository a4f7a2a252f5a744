"""A gateway in front of servers that are as strict as the real ones are known to be."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import attrs
import pytest
from s1gw_generic_systemone import GenericSystemOneProvider
from s1gw_generic_systemone.known import KNOWN

from gateway_core import Gateway
from gateway_core.testing import (
    ProviderContract,
    Received,
    Reply,
    ScriptedUpstream,
    standard_answer,
)

pytestmark = pytest.mark.anyio


@attrs.frozen(kw_only=True)
class Strict:
    """What one server insists on, from its documentation: nothing here comes from the plugin."""

    at: str
    path: str
    key: str = "authorization"
    sends: str = "Bearer k-1"
    most: int = 255
    wrapped: str = ""
    clean_labels: bool = False
    noul_criteria: bool = False
    model_in_body: str | None = "m"

    def answer(self, received: Received) -> Reply:
        """Answer as the server does, or refuse as it does."""
        path = "/" + received.path.partition("://")[2].partition("/")[2]
        if self.path not in (path, received.path):
            return Reply(status=404, body={"error": {"message": f"no route {received.path}"}})
        if received.headers.get(self.key) != self.sends:
            return Reply(status=401, body={"error": "Unauthorized"})
        if fault := self._fault(received.json()):
            return Reply(status=400, body={"error": {"message": fault}})
        reply = standard_answer(received)
        return attrs.evolve(reply, body={self.wrapped: reply.body}) if self.wrapped else reply

    def _fault(self, body: Mapping[str, Any]) -> str | None:
        (question,) = body["questions"].values()
        if body.keys() != {"model", "state", "questions"} or body["state"] is None:
            return f"unexpected fields: {sorted(body)}"
        if not isinstance(question["instructions"], str) or not question["instructions"]:
            return "instructions must be text"
        if question["type"] == "noul":
            return "criteria are required" if self.noul_criteria else None
        labels = list(question["criteria"])
        if not 2 <= len(labels) <= self.most:
            return f"{len(labels)} options"
        folded = {label.strip().casefold() for label in labels}
        if self.clean_labels and (len(folded) < len(labels) or not "".join(labels).isprintable()):
            return "labels must be printable, and distinct in more than case"
        return None


SERVERS: Final[dict[str, Strict]] = {
    "openrouter": Strict(at="http://openrouter.ai", path="/api/v1/systemone"),
    "fireworks": Strict(at="http://api.fireworks.ai", path="/inference/v1/systemone", most=208),
    "cloudflare-clef": Strict(
        at="http://api.cloudflare.com/client/v4/accounts/a1",
        path="/client/v4/accounts/a1/ai/run/@cf/cloudflare/m",
        wrapped="result",
    ),
    "databricks": Strict(
        at="http://w1.cloud.databricks.com", path="/serving-endpoints/m/invocations"
    ),
    "azure-foundry": Strict(
        at="http://r1.services.ai.azure.com",
        path="/providers/microsoft/v1/systemone",
        key="api-key",
        sends="k-1",
    ),
    "subq": Strict(at="http://api.subq.ai", path="/v1/systemone"),
    "inception": Strict(at="http://api.inceptionlabs.ai", path="/v1/decisions"),
    "vercel": Strict(at="http://ai-gateway.vercel.sh", path="/typesafe/v1/systemone"),
    "ngrok": Strict(at="http://gateway.ngrok.ai", path="/v1/systemone"),
    "empiriolabs": Strict(at="http://api.empiriolabs.ai", path="/v1/decisions"),
    "agentcore": Strict(at="", path="/v1/systemone"),
    "ollama": Strict(at="", path="/v1/systemone", most=26),
    "vllm": Strict(at="", path="/v1/systemone", most=26),
    "sglang": Strict(at="", path="/v1/systemone", most=26, clean_labels=True),
    "llama-cpp": Strict(at="", path="/v1/systemone", most=52),
    "localai": Strict(at="", path="/v1/systemone"),
    "strands": Strict(at="", path="/v1/systemone"),
    "avrik": Strict(at="", path="/v1/systemone", noul_criteria=True),
    "jev-compatible-server": Strict(at="", path="/v1/systemone", noul_criteria=True),
    "litellm": Strict(at="", path="/v1/systemone"),
}
AWKWARD: Final = ("Bug", "bug ", "BUG", "line\nbreak", "x" * 500, "__abstain__?", "Frage ü")


@pytest.fixture
def upstream() -> Iterator[ScriptedUpstream]:
    with ScriptedUpstream() as server:
        yield server


async def decided(
    folder: Path, base_url: str, *lines: str, proxy: str = "", **question: Any
) -> dict[str, Any]:
    """Put a question to a gateway with one provider.

    ``lines`` are more of its table, and ``proxy`` takes what goes to any host.
    """
    config = folder / "config.toml"
    config.write_text(
        "[decide]\nchain = ['home']\nthreshold = 0\n[providers.home]\n"
        f"dialect = 'generic-systemone'\nbase_url = '{base_url}'\nmodels = ['m']\n"
        "api_key = { env = 'KEY' }\n" + "\n".join(lines)
    )
    environ = {"KEY": "k-1", "S1GW_STATE_DIR": str(folder / "state"), "http_proxy": proxy}
    async with Gateway.open(config, environ=environ) as gateway:
        return await gateway.decide({"question": "Which?", **question})


def test_every_known_server_is_among_them() -> None:
    assert SERVERS.keys() == KNOWN.keys()


@pytest.mark.parametrize("name", SERVERS)
@pytest.mark.parametrize(
    ("question", "decision"),
    [
        ({}, None),
        ({"options": list(AWKWARD)}, AWKWARD[-1]),
        ({"options": ["Bug", "bug"]}, "bug"),
        ({"options": ["a\tb", "c"], "context": {"text": "known"}}, "c"),
    ],
    ids=["yes or no", "awkward options", "options differ in case", "context"],
)
async def test_a_server_that_is_named_decides(
    name: str,
    question: dict[str, Any],
    decision: str | None,
    upstream: ScriptedUpstream,
    tmp_path: Path,
) -> None:
    strict = SERVERS[name]
    upstream.answer(strict.answer)
    base = upstream.url + "/".join(["", *strict.at.split("/")[3:]])
    reply = await decided(tmp_path, base, f"settings.server = '{name}'", **question)

    assert reply["status"] == "decided", reply
    assert reply["decision"] == decision or (decision is None and reply["decision"])
    asked = tuple(question.get("options", ("yes", "no")))
    assert tuple(reply["probabilities"]) == asked


@pytest.mark.parametrize("name", [name for name, strict in SERVERS.items() if strict.at])
async def test_the_host_of_the_base_url_is_enough(
    name: str, upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    strict = SERVERS[name]
    upstream.answer(strict.answer)
    reply = await decided(tmp_path, strict.at, proxy=upstream.url, options=["a", "b"])

    assert reply["decision"] == "b", reply
    assert upstream.requests[0].path.startswith(strict.at)


@pytest.mark.parametrize("name", SERVERS)
async def test_its_limit_is_used_in_full_and_never_exceeded(
    name: str, upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    strict = SERVERS[name]
    upstream.answer(strict.answer)
    base = upstream.url + "/".join(["", *strict.at.split("/")[3:]])
    server = f"settings.server = '{name}'"
    options = [f"option {number}" for number in range(255)]
    most = await decided(tmp_path, base, server, options=options[: strict.most])
    assert most["decision"] == options[strict.most - 1], most
    if strict.most == len(options):
        return
    over = await decided(tmp_path, base, server, options=options[: strict.most + 1])
    assert over["status"] == "error"
    assert f"at most {strict.most} options" in over["attempts"][0]["detail"]
    assert len(upstream.requests) == 1


@pytest.mark.parametrize(
    ("lines", "strict"),
    [
        (["settings.path = '/x/{model}/y'"], Strict(at="", path="/v1/x/m/y")),
        (["settings.path = '/v2/systemone'", "prefix = ''"], Strict(at="", path="/v2/systemone")),
        (
            ["settings.auth_header = 'api-subscription-key'", "settings.auth_scheme = ''"],
            Strict(at="", path="/v1/systemone", key="api-subscription-key", sends="k-1"),
        ),
        (
            ["settings.auth_scheme = 'Basic'"],
            Strict(at="", path="/v1/systemone", sends="Basic k-1"),
        ),
        (
            ["settings.reply_path = ['response']"],
            Strict(at="", path="/v1/systemone", wrapped="response"),
        ),
        (
            [
                "settings.server = 'localai'",
                "settings.label_case_sensitive = false",
                "settings.label_control_characters = false",
            ],
            Strict(at="", path="/v1/systemone", clean_labels=True),
        ),
        (
            ["settings.server = 'ollama'", "settings.max_options = 0"],
            Strict(at="", path="/v1/systemone"),
        ),
        (["settings.yes_no = 'choice'"], Strict(at="", path="/v1/systemone", noul_criteria=True)),
    ],
)
async def test_what_is_overridden_is_what_happens(
    lines: list[str], strict: Strict, upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    upstream.answer(strict.answer)
    options = [*AWKWARD, *(f"option {number}" for number in range(60))]
    chosen = await decided(tmp_path, upstream.url, *lines, options=options)
    answered = await decided(tmp_path, upstream.url, *lines)

    assert chosen["decision"] == options[-1], chosen
    assert answered["decision"] in ("yes", "no"), answered


async def test_a_model_that_may_answer_without_probabilities_can_be_had(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    bare = {"type": "choice", "choice": "a"}
    upstream.answer(Reply(body={"answers": {"decision": bare}}))
    refused = await decided(tmp_path, upstream.url, options=["a", "b"])
    taken = await decided(
        tmp_path, upstream.url, "settings.probabilities = 'none'", options=["a", "b"]
    )

    assert refused["error"]["code"] == "malformed_response"
    assert (taken["decision"], taken["confidence"]) == ("a", None)


@pytest.mark.parametrize("name", ["cloudflare-clef", "azure-foundry", "sglang", "agentcore"])
def test_a_known_server_keeps_the_whole_contract(name: str, request: Any) -> None:
    members = {"provider_class": GenericSystemOneProvider, "settings": {"server": name}}
    contract = type("Known", (ProviderContract,), members)()
    # What does not apply to a provider of this kind is None.
    tests = [test for test in dir(contract) if test.startswith("test_") and getattr(contract, test)]

    assert len(tests) > 40
    for test in tests:
        getattr(contract, test)()
