"""What keeps a provider from being asked is found when it is built, and stays with it."""

from collections.abc import Callable

import attrs
import pytest

from gateway_core import DecisionRequest, Format
from gateway_core.errors import (
    ConfigError,
    CredentialUnusable,
    EndpointUnusable,
    WrongApiFormat,
)
from gateway_core.registry import OrgRegistry, Registry

Make = Callable[..., Registry]
pytestmark = pytest.mark.anyio
REQUEST = DecisionRequest(format=Format.SYSTEMONE, body=b"{}", model="m")


def anything(_provider: str, _model: str) -> bool:
    return True


FAULTY: dict[str, tuple[str, type[ConfigError], str]] = {
    "another format": ("api_format = 'openai'", WrongApiFormat, "api_format: the dialect acme"),
    "no scheme": ("base_url = '127.0.0.1:9'", EndpointUnusable, "base_url: "),
    "another scheme": ("base_url = 'ftp://127.0.0.1:9'", EndpointUnusable, "base_url: "),
    "no host": ("base_url = 'http://'", EndpointUnusable, "base_url: "),
    "a blank URL": ("base_url = ' '", EndpointUnusable, "base_url: "),
    "a user": ("base_url = 'http://me:pass@x.example'", EndpointUnusable, "user name"),
    "a user without a password": ("base_url = 'http://me@x.example'", EndpointUnusable, "user"),
    "a query": ("base_url = 'http://x.example?key=1'", EndpointUnusable, "query"),
    "a port of 0": ("base_url = 'http://x.example:0'", EndpointUnusable, "base_url: "),
    "a host that is no name": ("base_url = 'http://x_!.example'", EndpointUnusable, "host"),
    "a broken literal": ("base_url = 'http://[::1'", EndpointUnusable, "base_url: "),
    "an empty label": ("base_url = 'http://x..example'", EndpointUnusable, "host"),
    "a label that is too long": (
        f"base_url = 'http://{'x' * 64}.example'",
        EndpointUnusable,
        "host",
    ),
    "a name that is too long": (
        f"base_url = 'http://{'x.' * 127}example'",
        EndpointUnusable,
        "host",
    ),
    "a prefix that is no path": ("prefix = 'v1?x'", EndpointUnusable, "prefix"),
}


@pytest.mark.parametrize(("line", "kind", "text"), FAULTY.values(), ids=FAULTY)
@pytest.mark.parametrize("table", ["providers.acme", "orgs.o.providers.acme"])
async def test_a_provider_that_cannot_be_asked_says_so_wherever_it_is_used(
    make: Make, table: str, line: str, kind: type[ConfigError], text: str
) -> None:
    registry = make(f"[{table}]\n{line}\nmodels = ['m']\napi_key = {{ env = 'K' }}", K="sk-1")
    own = table.startswith("providers")
    provider = registry.provider("acme") if own else registry.org_provider("o", "acme")

    assert isinstance(provider.fault, kind)
    assert text in str(provider.fault)
    assert str(provider.fault).startswith(f"{table}.")
    assert "pass@" not in str(provider.fault)
    assert provider.obstacle is provider.fault
    with pytest.raises(kind):
        await provider.ask(REQUEST, 5)
    assert not (await provider.probe(5)).ok
    assert str(provider.fault) in registry.problems
    chain = registry if own else OrgRegistry(registry, "o", anything)
    assert text in " ".join(found.reason for found in chain.plan.candidates)


def test_stating_the_format_that_a_dialect_speaks_is_no_fault(make: Make) -> None:
    for stated in ("systemone", "typesafe"):
        provider = make(f"[providers.acme]\napi_format = '{stated}'").provider("acme")
        assert (provider.dialect, provider.fault) == ("acme", None)


@pytest.mark.parametrize("line", ["", "api_format = 'systemone'", "api_format = 'typesafe'"])
def test_a_provider_that_is_called_as_a_dialect_keeps_it(make: Make, line: str) -> None:
    text = f"[providers.laya]\nbase_url = 'http://127.0.0.1:9'\n{line}"

    assert make(text, disabled="acme").provider("laya").dialect == "laya"
    assert make(f"[orgs.o.{text[1:]}", disabled="acme").org_provider("o", "laya").dialect == "laya"


def test_a_server_that_is_called_as_the_embedded_engine_is_a_server(make: Make) -> None:
    text = "[providers.local]\nbase_url = 'http://127.0.0.1:9'\napi_format = 'systemone'"

    assert make(text, disabled="acme").provider("local").dialect == "generic-systemone"


@pytest.mark.parametrize(
    "header",
    [
        "authorization = 'Bearer sk-abc'",
        "Authorization = 'sk-abc'",
        "proxy-authorization = 'x'",
        "x-api-key = 'sk-abc'",
        "cookie = 'session=1'",
        "x-other = 'Bearer sk-abc'",
        "x-other = ' basic dTpw'",
    ],
)
def test_a_credential_that_is_written_into_a_header_is_refused(make: Make, header: str) -> None:
    registry = make(f"[providers.acme]\nheaders = {{ {header} }}")

    with pytest.raises(ConfigError, match=r"providers.acme.headers.[\w-]+: a credential") as caught:
        registry.provider("acme")
    assert "sk-abc" not in str(caught.value)


def test_a_header_may_name_where_its_credential_is(make: Make) -> None:
    text = "[providers.acme]\nheaders = { authorization = { env = 'H' }, x-team = 'a' }"

    assert make(text, H="Basic dTpw").provider("acme").fault is None


@pytest.mark.parametrize(
    "text", ['"sk-1"', "'sk-1'", "\u201csk-1\u201d", "sk\u20131", "\ufeffsk-1"]
)
def test_the_usual_credential_is_checked_like_a_named_one(make: Make, text: str) -> None:
    registry = make("[providers.acme]", ACME_KEY=text)

    with pytest.raises(CredentialUnusable, match=r"providers.acme: environment variable ACME_KEY"):
        registry.provider("acme")
    assert any("ACME_KEY" in problem for problem in registry.problems)


def test_a_table_that_was_left_out_says_why_when_it_is_asked_for(make: Make) -> None:
    registry = make(
        "[decide]\nchain = ['acme']\n[providers.acme]\napi_key = { env = 'GONE' }\n"
        "[orgs.o.providers.keyless]\nmodels = ['m']\ndialect = 'acme'\napi_key = { env = 'GONE' }\n"
        "[orgs.o.providers.late]\nmodels = ['m']\ndialect = 'acme'\ntimeout_s = 0\n"
    )

    with pytest.raises(CredentialUnusable, match=r"api_key: environment variable GONE is not set"):
        registry.provider("acme")
    with pytest.raises(CredentialUnusable):
        registry.org_provider("o", "keyless")
    with pytest.raises(ConfigError, match=r"orgs.o.providers.late.timeout_s"):
        registry.org_provider("o", "late")
    own = OrgRegistry(registry, "o", anything).plan
    assert own.chain == ("keyless", "late")
    assert "GONE" in own.problems[0]


def exact(registry: Registry) -> Registry:
    loaded = registry.loaded.for_strangers()
    return Registry(loaded, registry.catalog, registry.outbound)


@pytest.mark.parametrize(
    ("text", "names", "chain"),
    [
        ("[providers.free]\ndialect = 'acme-keyless'", ["free"], ("free", "acme-embedded")),
        ("[providers.acme]", ["acme"], ("acme", "acme-embedded")),
        ("[providers.mine]\ndialect = 'acme'", ["mine"], ("mine", "acme-embedded")),
        ("[decide]\nchain = ['acme']", ["acme"], ("acme",)),
        ("[decide]\nchain = ['acme-embedded']", ["acme-embedded"], ("acme-embedded",)),
        ("[http]\nport = 1", ["acme-embedded"], ("acme-embedded",)),
        ("", ["acme-embedded"], ("acme-embedded",)),
    ],
)
def test_strangers_get_the_providers_that_the_file_names(
    make: Make, text: str, names: list[str], chain: tuple[str, ...]
) -> None:
    registry = exact(make(text, ACME_KEY="sk-1"))

    assert registry.names == names
    assert registry.plan.chain == chain


def test_without_a_file_strangers_get_what_is_usable_and_that_is_announced(
    make: Make,
) -> None:
    loaded = make(ACME_KEY="sk-1").loaded
    without = attrs.evolve(loaded, config=attrs.evolve(loaded.config, source=None))
    registry = make()
    free = Registry(without.for_strangers(), registry.catalog, registry.outbound)

    assert list(free.names) == ["acme", "acme-embedded"]
    assert "acme (api.acme.example)" in (free.plan.announcement or "")
