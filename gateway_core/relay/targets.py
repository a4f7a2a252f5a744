"""One model of one provider: what is known of it before any request, and who may ask it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NoReturn
from urllib.parse import quote

import attrs

from gateway_core.door.callers import Caller
from gateway_core.errors import ConfigError, CredentialUnusable, RelayRefused, WrongApiFormat
from gateway_core.http1.messages import header_bytes
from gateway_core.outbound.held import held_secrets
from gateway_core.provider import Provider
from gateway_core.secret import Secret
from gateway_core.types import Format

_PRINTABLE: Final = "".join(map(chr, range(0x21, 0x7F))).replace("%", "")
LONGEST_NAME: Final = 200
_SPOKEN: Final = {Format.SYSTEMONE: "System One", Format.OPENAI: "OpenAI Decisions"}


@attrs.frozen(kw_only=True, eq=False)
class RelayTarget:
    """One model of one provider, and all that is known of it before any request.

    Attributes:
        id: the provider's id, as the caller's organization calls it.
        provider: what is asked.
        model: what is asked for, as the upstream calls it.
        loggable: the model as it may be logged.
        features: request headers of its dialect that go upstream, as they come and as they go.
        request_id_header: the reply header that its dialect's clients read the request id from.
        labels: the reply headers that name it.
        secrets: what nothing that is shown may hold.
        hidden: the same as bytes: what no reply header may hold.
    """

    id: str
    provider: Provider
    model: str
    loggable: str
    features: Mapping[bytes, str]
    request_id_header: str | None
    labels: tuple[tuple[bytes, bytes], ...]
    secrets: tuple[Secret, ...]
    hidden: tuple[bytes, ...] = attrs.field(repr=False)


@attrs.frozen(kw_only=True, eq=False)
class BrokenProvider:
    """A configured provider that could not be built; it keeps its place among the others.

    Attributes:
        id: the provider's id.
        models: the models that it lists; None when they are not known.
        error: why it could not be built.
    """

    id: str
    models: tuple[str, ...] | None
    error: ConfigError

    def refuse(self, caller: Caller, model: str, wire: Format) -> NoReturn:
        """Refuse a call of ``caller`` that names it, with a body in the format ``wire``.

        Raises:
            RelayRefused: ``permission_denied``, or for a missing credential as ``check_target``.
            ConfigError: what is wrong with it otherwise.
        """
        _, slash, rest = model.partition("/")
        names = (model, rest) if slash else (model,)
        if not any(caller.may_use(self.id, name) for name in names):
            raise _not_permitted()
        if isinstance(self.error, CredentialUnusable):
            raise _without_key(wire)
        raise type(self.error)(*self.error.faults)


TargetOrFault = RelayTarget | BrokenProvider
"""What a model can lead to."""


class Table:
    """The targets of one organization, or of the operator."""

    def __init__(self, places: Iterable[TargetOrFault]) -> None:
        """Index ``places``, which come in configured order."""
        self.targets: tuple[RelayTarget, ...] = ()
        self._by_id: dict[str, dict[str, TargetOrFault]] = {}
        self._bare: dict[str, TargetOrFault] = {}
        self._broken: dict[str, BrokenProvider] = {}
        for place in places:
            if isinstance(place, RelayTarget):
                self.targets += (place,)
                self._add(place, (place.model,))
            else:
                self._broken[place.id.casefold()] = place
                self._add(place, place.models or ())

    def _add(self, place: TargetOrFault, models: Iterable[str]) -> None:
        for model in models:
            self._by_id.setdefault(place.id.casefold(), {}).setdefault(model, place)
            self._bare.setdefault(model, place)

    def find(self, model: str) -> TargetOrFault | None:
        """Return what ``model`` names: with its provider's id, else by itself.

        A listed id, ``provider/model``, always selects that provider; only a prefix that is a
        provider's id is taken off, once, and only when the rest is a model of that provider.
        """
        prefix, slash, rest = model.partition("/")
        if slash:
            found = self._by_id.get(prefix.casefold(), {}).get(rest)
            if found is not None:
                return found
        return self._bare.get(model) or (self._broken.get(prefix.casefold()) if slash else None)


def make_targets(
    provider_id: str, provider: Provider, models: Iterable[str]
) -> Iterator[RelayTarget]:
    """Yield a target for each of ``models`` of one provider."""
    secrets = held_secrets(provider.endpoint)
    hidden = tuple(header_bytes(secret.reveal()) for secret in secrets)
    capabilities = provider.capabilities
    features = {name.encode(): name for name in sorted(capabilities.feature_headers)}
    for model in models:
        yield RelayTarget(
            id=provider_id,
            provider=provider,
            model=model,
            loggable=loggable_model(model),
            features=features,
            request_id_header=capabilities.request_id_header,
            labels=((b"x-s1gw-provider", _label(provider_id)), (b"x-s1gw-model", _label(model))),
            secrets=secrets,
            hidden=hidden,
        )


def check_target(caller: Caller, target: RelayTarget, wire: Format, key: Secret | None) -> None:
    """Make sure that a body in the format ``wire`` may go to ``target`` with the caller's rights.

    Raises:
        RelayRefused: ``permission_denied``, ``format_mismatch``, ``provider_key_missing`` or, for
            an OpenAI provider without a key, ``decision_provider_not_configured``.
        ConfigError: the provider's ``fault``. The contract has one order for all of these, and
            the first that applies is raised.
    """
    if not caller.may_use(target.id, target.model):
        raise _not_permitted()
    fault = target.provider.fault
    if isinstance(fault, WrongApiFormat):
        raise WrongApiFormat(*fault.faults)
    if wire not in target.provider.capabilities.formats:
        raise RelayRefused(
            "format_mismatch",
            f"the provider of this model does not take {_SPOKEN[wire]} bodies",
            "questions",
        )
    if key is None and not target.provider.usable:
        raise _without_key(wire)
    if fault is not None:
        raise type(fault)(*fault.faults)


def loggable_model(model: str) -> str:
    """Return a model's name as it may be logged: bounded, and without lone surrogates."""
    return model[:LONGEST_NAME].encode("utf-8", "replace").decode("utf-8")


def not_configured(message: str) -> RelayRefused:
    """Return the refusal of a model that no provider of the caller serves."""
    return RelayRefused("decision_provider_not_configured", message, "model")


def _not_permitted() -> RelayRefused:
    return RelayRefused("permission_denied", "the key may not use this model", "model")


def _without_key(wire: Format) -> RelayRefused:
    if wire is Format.OPENAI:
        return not_configured("the provider of this model has no API key; save one on it")
    return RelayRefused(
        "provider_key_missing", "the provider of this model needs an API key; save one on it"
    )


def _label(text: str) -> bytes:
    return quote(loggable_model(text), safe=_PRINTABLE).encode("ascii")
