"""Which dialect serves a provider table, and which credential is its usual one."""

from collections.abc import Mapping

from gateway_core.catalog import Catalog, PluginKind
from gateway_core.config.model import API_FORMATS, ProviderConfig
from gateway_core.errors import ConfigError, CredentialUnusable, DestinationUnusable
from gateway_core.secret import Secret
from gateway_core.structure.secrets import text_fault
from gateway_core.urls import split_base


def dialect_of(name: str, config: ProviderConfig, catalog: Catalog) -> str:
    """Return the dialect of one provider table.

    That is the one it names; else one that is at home on the base URL's host; else one that
    the provider's name means, as a vendor's or as a dialect's own; else the generic one of its
    format. A format that is stated beside all this changes none of it: whether the dialect
    speaks it is judged when the provider is built.

    Raises:
        ConfigError: none of these leads to an installed dialect.
    """
    if config.dialect is not None:
        return config.dialect
    host = host_of(config.base_url)
    found = (catalog.claim("host", host) if host else None) or catalog.claim("vendor", name)
    found = found or _named_like(name, config, catalog)
    if found is not None:
        return found
    if config.api_format is None:
        known = ", ".join(catalog.available()) or "none"
        raise ConfigError(
            f"no installed plugin offers the dialect {name!r}: install it or remove the table, or"
            f' set dialect, or api_format = "systemone" or "openai"; dialects: {known}'
        )
    wire = API_FORMATS[config.api_format]
    generic = catalog.claim("format", wire)
    if generic is None:
        raise ConfigError(f"no installed provider serves the format '{wire}' in general")
    return generic


def host_of(base_url: str | None) -> str | None:
    """Return the host name of a base URL; None without one, or when it is not usable."""
    try:
        return split_base(base_url).hostname
    except DestinationUnusable:
        return None


def usual_key(dialect: str, catalog: Catalog, environ: Mapping[str, str]) -> Secret | None:
    """Return the credential in the environment variable that usually holds a dialect's.

    Raises:
        CredentialUnusable: the variable holds what cannot be a credential.
        ConfigError: another dialect claims that variable, too.
    """
    for variable in catalog.claims.values("key", dialect):
        text = environ.get(variable, "").strip()
        if text and (fault := text_fault(text)):
            raise CredentialUnusable(f"environment variable {variable} {fault}")
        if text:
            catalog.claim("key", variable)
            return Secret(text)
    return None


def has_usual_key(dialect: str, catalog: Catalog, environ: Mapping[str, str]) -> bool:
    """Say whether an environment variable is set that usually holds a dialect's credential."""
    variables = catalog.claims.values("key", dialect)
    return any(environ.get(variable, "").strip() for variable in variables)


def is_home(dialect: str, config: ProviderConfig, catalog: Catalog) -> bool:
    """Say whether a table leads to the dialect's own service.

    A credential that nobody wrote into the table goes nowhere else.
    """
    host = host_of(config.base_url)
    return config.base_url is None or (
        host is not None and host.rstrip(".") in catalog.claims.values("host", dialect)
    )


def _named_like(name: str, config: ProviderConfig, catalog: Catalog) -> str | None:
    """Return the dialect that is called as the provider is, if the table can mean it."""
    if not any(ref.kind is PluginKind.PROVIDER and ref.name == name for ref in catalog.refs):
        return None
    # A server at an address is not what works in this process, whatever people call it.
    embedded = name in catalog.claims.values("embedded", name)
    return None if embedded and config.base_url and config.api_format else name
