"""One model of one provider: what is known of it before any request, and who may ask it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final
from urllib.parse import quote

import attrs

from gateway_core.config.model import API_FORMATS, ProviderConfig
from gateway_core.errors import RelayRefused
from gateway_core.outbound.held import held_secrets
from gateway_core.provider import Provider
from gateway_core.relay.callers import Caller
from gateway_core.relay.request_ids import as_bytes
from gateway_core.secret import Secret
from gateway_core.types import Format

_PRINTABLE: Final = "".join(map(chr, range(0x21, 0x7F))).replace("%", "")
LONGEST_NAME: Final = 200
_SPOKEN: Final = {Format.SYSTEMONE: "System One", Format.OPENAI: "OpenAI Decisions"}


@attrs.frozen(kw_only=True, eq=False)
class Target:
    """One model of one provider, and all that is known of it before any request.

    Attributes:
        id: the provider's id, as the caller's organization calls it.
        provider: what is asked.
        model: what is asked for, as the upstream calls it.
        right_format: whether its ``api_format`` is one that its dialect speaks.
        shown: the model as it may be logged.
        features: request headers of its dialect that go upstream, as they come and as they go.
        request_id_header: the reply header that its dialect's clients read the request id from.
        labels: the reply headers that name it.
        secrets: what nothing that is shown may hold.
        hidden: the same as bytes: what no reply header may hold.
    """

    id: str
    provider: Provider
    model: str
    right_format: bool
    shown: str
    features: Mapping[bytes, str]
    request_id_header: str | None
    labels: tuple[tuple[bytes, bytes], ...]
    secrets: tuple[Secret, ...]
    hidden: tuple[bytes, ...] = attrs.field(repr=False)


class Table:
    """The targets of one organization, or of the operator."""

    def __init__(self, targets: Iterable[Target]) -> None:
        """Index ``targets``, which come in configured order."""
        self.targets = tuple(targets)
        self._by_id: dict[str, dict[str, Target]] = {}
        self._bare: dict[str, Target] = {}
        for target in self.targets:
            self._by_id.setdefault(target.id.casefold(), {}).setdefault(target.model, target)
            self._bare.setdefault(target.model, target)

    def find(self, model: str) -> Target | None:
        """Return the target that ``model`` names: with its provider's id, else by itself.

        A listed id, ``provider/model``, always selects that provider; only a prefix that is a
        provider's id is taken off, once, and only when the rest is a model of that provider.
        """
        prefix, slash, rest = model.partition("/")
        if slash:
            found = self._by_id.get(prefix.casefold(), {}).get(rest)
            if found is not None:
                return found
        return self._bare.get(model)


def make_targets(
    provider_id: str, provider: Provider, configured: ProviderConfig, models: Iterable[str]
) -> Iterator[Target]:
    """Yield a target for each of ``models`` of one provider."""
    secrets = held_secrets(provider.endpoint)
    hidden = tuple(as_bytes(secret.reveal()) for secret in secrets)
    capabilities = provider.capabilities
    features = {name.encode(): name for name in sorted(capabilities.feature_headers)}
    wire = API_FORMATS.get(configured.api_format or "")
    for model in models:
        yield Target(
            id=provider_id,
            provider=provider,
            model=model,
            right_format=wire is None or wire in capabilities.formats,
            shown=shown(model),
            features=features,
            request_id_header=capabilities.request_id_header,
            labels=((b"x-s1gw-provider", _label(provider_id)), (b"x-s1gw-model", _label(model))),
            secrets=secrets,
            hidden=hidden,
        )


def check_target(caller: Caller, target: Target, wire: Format, key: Secret | None) -> None:
    """Make sure that a body in the format ``wire`` may go to ``target`` with the caller's rights.

    Raises:
        RelayRefused: ``permission_denied``, ``decision_provider_wrong_format``,
            ``format_mismatch``, ``provider_key_missing`` or, for an OpenAI provider without a
            key, ``decision_provider_not_configured``; the first that applies.
    """
    if not caller.may_use(target.id, target.model):
        raise RelayRefused("permission_denied", "the key may not use this model", "model")
    if not target.right_format:
        raise RelayRefused(
            "decision_provider_wrong_format",
            "the provider's api_format is not the format that its vendor speaks",
        )
    if wire not in target.provider.capabilities.formats:
        raise RelayRefused(
            "format_mismatch",
            f"the provider of this model does not take {_SPOKEN[wire]} bodies",
            "questions",
        )
    if key is None and not target.provider.usable:
        if wire is Format.OPENAI:
            raise not_configured("the provider of this model has no API key; save one on it")
        raise RelayRefused(
            "provider_key_missing", "the provider of this model needs an API key; save one on it"
        )


def shown(model: str) -> str:
    """Return a model's name as it may be logged: bounded, and without lone surrogates."""
    return model[:LONGEST_NAME].encode("utf-8", "replace").decode("utf-8")


def not_configured(message: str) -> RelayRefused:
    """Return the refusal of a model that no provider of the caller serves."""
    return RelayRefused("decision_provider_not_configured", message, "model")


def _label(text: str) -> bytes:
    return quote(shown(text), safe=_PRINTABLE).encode("ascii")
