"""What is known of the servers people run: the data, and what each value does."""

from pathlib import Path

import attrs
import pytest
from s1gw_generic_systemone import GenericSystemOneProvider, Settings
from s1gw_generic_systemone.known import ANY, KNOWN, resolve, suggested
from s1gw_generic_systemone.server import Server
from s1gw_generic_systemone.table import render

from gateway_core import EmptyState
from gateway_core.errors import ConfigError
from gateway_core.testing import Subject
from gateway_core.types import Operation
from gateway_core.wire import Question, encode, why_not_askable

DOCS = Path(__file__).parents[3] / "docs" / "known-servers.md"
PROMISED = [
    "openrouter",
    "fireworks",
    "sglang",
    "vllm",
    "ollama",
    "llama-cpp",
    "cloudflare-clef",
    "databricks",
    "azure-foundry",
    "strands",
    "subq",
    "inception",
    "avrik",
    "agentcore",
]


def _subject(models: tuple[str, ...] = ("m",), **settings: object) -> Subject:
    return Subject(
        provider_class=GenericSystemOneProvider,
        dialect="generic-systemone",
        models=models,
        settings=settings,
    )


def test_the_servers_that_people_run_are_known() -> None:
    assert set(PROMISED) <= KNOWN.keys()


def test_the_documentation_s_table_is_current() -> None:
    assert DOCS.read_text() == render()


@pytest.mark.parametrize("server", KNOWN.values(), ids=KNOWN.keys())
def test_every_server_makes_a_provider(server: Server) -> None:
    provider = _subject(server=server.name).build(base_url="https://h.example/x")
    assert provider.url(Operation.DECIDE).startswith("https://h.example/x/")
    assert provider.url(Operation.HEALTH).startswith("https://h.example/")
    assert provider.capabilities.keyless is server.keyless


@pytest.mark.parametrize("server", KNOWN.values(), ids=KNOWN.keys())
def test_what_is_unverified_is_an_attribute_and_safe(server: Server) -> None:
    assert server.unverified <= {field.name for field in attrs.fields(Server)}
    if "empty_state" in server.unverified:
        assert server.empty_state is EmptyState.QUESTION


@pytest.mark.parametrize(
    ("base", "model", "decide"),
    [
        ("https://openrouter.ai", "m", "https://openrouter.ai/api/v1/systemone"),
        ("https://openrouter.ai/api", "m", "https://openrouter.ai/api/v1/systemone"),
        ("https://openrouter.ai/api/v1", "m", "https://openrouter.ai/api/v1/systemone"),
        (
            "https://openrouter.ai/api/alpha/decisions",
            "m",
            "https://openrouter.ai/api/alpha/decisions",
        ),
        ("https://api.fireworks.ai", "m", "https://api.fireworks.ai/inference/v1/systemone"),
        (
            "https://api.fireworks.ai/inference",
            "m",
            "https://api.fireworks.ai/inference/v1/systemone",
        ),
        (
            "https://api.cloudflare.com/client/v4/accounts/a1",
            "clef-flash",
            "https://api.cloudflare.com/client/v4/accounts/a1/ai/run/@cf/cloudflare/clef-flash",
        ),
        (
            "https://w.cloud.databricks.com",
            "databricks-openjev",
            "https://w.cloud.databricks.com/serving-endpoints/databricks-openjev/invocations",
        ),
        (
            "https://r.services.ai.azure.com",
            "m",
            "https://r.services.ai.azure.com/providers/microsoft/v1/systemone",
        ),
        (
            "https://r.services.ai.azure.com/providers/other/v1",
            "m",
            "https://r.services.ai.azure.com/providers/other/v1/systemone",
        ),
        ("https://api.inceptionlabs.ai/", "m", "https://api.inceptionlabs.ai/v1/decisions"),
        ("http://localhost:11434", "m", "http://localhost:11434/v1/systemone"),
        ("https://h.example/projects/p1", "m", "https://h.example/projects/p1/v1/systemone"),
    ],
)
def test_the_host_suggests_where_the_route_is(base: str, model: str, decide: str) -> None:
    assert _subject((model,)).build(base_url=base).url(Operation.DECIDE) == decide


@pytest.mark.parametrize(
    ("base", "name"),
    [
        ("https://openrouter.ai/api", "openrouter"),
        ("https://OPENROUTER.ai.", "openrouter"),
        ("https://openrouter.ai.evil.example", ""),
        ("https://notopenrouter.ai", ""),
        ("https://x.azuredatabricks.net/serving-endpoints", "databricks"),
        ("https://azuredatabricks.net", ""),
        ("http://localhost:8000", ""),
        ("http://[", ""),
        (None, ""),
    ],
)
def test_the_host_suggests_a_server(base: str | None, name: str) -> None:
    assert suggested(base).name == name


def test_the_name_wins_over_the_host_and_a_setting_over_both() -> None:
    settings = Settings(server="ollama", max_options=10, label_case_sensitive=False)
    found = resolve(settings, "https://openrouter.ai/api")
    assert (found.name, found.max_options, found.label_case_sensitive) == ("ollama", 10, False)


def test_every_value_can_be_overridden() -> None:
    about = {"name", "title", "usual_base", "hosts", "root", "prefix", "error_shape"}
    about |= {"unverified", "note"}
    keys = {field.name for field in attrs.fields(Settings)} - {"server"}
    assert keys == {field.name for field in attrs.fields(Server)} - about


def test_a_zero_lifts_a_limit() -> None:
    many = Question(text="?", options=tuple(map(str, range(256))))
    assert why_not_askable(many, _subject(server="vllm").build().capabilities)
    assert (
        why_not_askable(many, _subject(server="vllm", max_options=0).build().capabilities) is None
    )


def test_a_misspelt_server_gets_a_hint() -> None:
    with pytest.raises(ConfigError, match=r"settings\.server.*did you mean 'ollama'"):
        _subject(server="olama").build()
    with pytest.raises(ConfigError, match="known are: agentcore, avrik"):
        _subject(server="zzz").build()


def test_an_unknown_server_is_expected_to_be_like_most() -> None:
    assert (ANY.max_options, ANY.keyless, ANY.path) == (255, True, "/v1/systemone")


def test_labels_that_a_server_cannot_take_travel_as_aliases() -> None:
    question = Question(text="?", options=("Bug", "bug ", "line\x01break"))
    sglang = encode(question, "m", _subject(server="sglang").build().capabilities)
    assert b'"criteria":{"A":"Bug","B":"bug ","C":' in sglang
    plain = encode(question, "m", _subject(server="vllm").build().capabilities)
    assert b'"criteria":{"Bug":null' in plain
    short = _subject(label_max_length=2).build().capabilities
    assert b'"criteria":{"A":"Bug"' in encode(question, "m", short)


@pytest.mark.parametrize(
    ("server", "expected"), [("vllm", b'"state":""'), ("ollama", b'"state":"Red?"')]
)
def test_an_empty_state_is_sent_as_the_server_takes_it(server: str, expected: bytes) -> None:
    capabilities = _subject(server=server).build().capabilities
    assert expected in encode(Question(text="Red?"), "m", capabilities)
