"""A third party's provider that records what it was built with."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from gateway_core.catalog import Catalog
from gateway_core.config.load import load_config
from gateway_core.outbound import Outbound
from gateway_core.registry import Registry

ACME = """
import attrs
from gateway_core import Capabilities, DecisionReply, Format, Secret, hookimpl

@attrs.frozen
class Settings:
    region: str = "eu"
    token: Secret | None = None

class Provider:
    settings_class = Settings
    default_base_url = "https://api.acme.example"
    default_models = ("acme-1",)
    keyless = False
    remote = True

    def __init__(self, context):
        self.context = context

    @hookimpl
    def capabilities(self):
        formats = frozenset({Format.SYSTEMONE})
        return Capabilities(formats=formats, keyless=self.keyless, remote=self.remote)

    @hookimpl
    def build_url(self, operation):
        return self.context.url("/v1/systemone") if self.remote else "inproc://acme"

    @hookimpl
    async def decide(self, request, url):
        return DecisionReply(body=b"{}")

class Keyless(Provider):
    keyless = True

class Embedded(Keyless):
    remote = False

class Misspelt(Provider):
    @hookimpl
    def decyde(self): pass

class Crashing(Provider):
    def __init__(self, context):
        raise ValueError("secret inside")
"""

PLUGINS = {
    "acme": "acme_plugin:Provider",
    "acme-keyless": "acme_plugin:Keyless",
    "acme-embedded": "acme_plugin:Embedded",
    "acme-misspelt": "acme_plugin:Misspelt",
    "acme-crashing": "acme_plugin:Crashing",
}
CLAIMS = {
    "host.api.acme.example": PLUGINS["acme"],
    "vendor.acme": PLUGINS["acme"],
    "key.ACME_KEY": PLUGINS["acme"],
    "order.5": PLUGINS["acme"],
    "embedded.acme-embedded": PLUGINS["acme-embedded"],
    "order.80": PLUGINS["acme-embedded"],
}
FIRST_PARTY = "generic-systemone,laya,local,openai-decisions,perplexity,typesafe"

MakeRegistry = Callable[..., Registry]


@pytest.fixture
def make(site, tmp_path: Path) -> MakeRegistry:
    """Return a registry over a configuration text; by default with ``acme`` plugins alone."""
    site.module("acme_plugin", ACME)
    groups: Mapping[str, Mapping[str, str]] = {
        "gateway_core.providers.v1": PLUGINS,
        "gateway_core.claims.v1": CLAIMS,
    }
    site.distribution("acme", groups)

    def build(text: str = "", disabled: str = FIRST_PARTY, **environ: str) -> Registry:
        path = tmp_path / "config.toml"
        path.write_text(text)
        variables = {**environ, **({"S1GW_DISABLED_PLUGINS": disabled} if disabled else {})}
        loaded = load_config(path, variables)
        catalog = Catalog.installed(loaded.config.plugins.disabled)
        return Registry(loaded, catalog, Outbound(variables))

    return build
