"""The values that cross the line between the host and its plugins."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

import attrs

from gateway_core.causes import Cause
from gateway_core.errors import InvalidJson, MalformedResponse
from gateway_core.secret import Secret
from gateway_core.strict_json import read_json

_EMPTY: Final[Mapping[str, str]] = MappingProxyType({})


class Format(StrEnum):
    """The two wire formats of a decision body."""

    SYSTEMONE = "systemone"
    OPENAI = "openai"


class Operation(StrEnum):
    """What a URL is built for."""

    DECIDE = "decide"
    MODELS = "models"
    HEALTH = "health"


class YesNo(StrEnum):
    """How a yes/no question is put to a provider."""

    NATIVE = "native"
    """``noul`` on System One, ``predicate`` on OpenAI Decisions."""
    CHOICE = "choice"
    """A choice between the neutral labels A and B, for models whose yes/no is biased."""
    UNSUPPORTED = "unsupported"
    """Not asked at all: the provider abstains and the reply says why."""


class EmptyState(StrEnum):
    """What is sent as the state when the caller gave no context; never ``null``."""

    STRING = "string"
    QUESTION = "question"


def _formats(names: Iterable[str]) -> frozenset[Format]:
    return frozenset(map(Format, names))


_is_a: Final = attrs.validators.instance_of
_LIMIT: Final[Any] = attrs.validators.optional(attrs.validators.gt(0))
_TEXTS: Final = attrs.validators.deep_iterable(_is_a(str), _is_a(tuple))


@attrs.frozen
class LabelRules:
    """Which option texts a provider takes as labels; others travel as aliases.

    Attributes:
        max_length: the longest label in characters, or None.
        control_characters: whether control characters may occur.
        case_sensitive: whether two labels may differ in case or outer white space only.
    """

    max_length: int | None = None
    control_characters: bool = True
    case_sensitive: bool = True


@attrs.frozen(kw_only=True)
class Capabilities:
    """What one provider can be asked, as data: printed by ``system1_capabilities``.

    Attributes:
        formats: the wire formats whose bodies ``decide`` takes.
        max_options: the most options of one choice, or None for no limit known.
        max_questions: the most questions in one body, or None.
        max_question_length: the longest question in characters, or None.
        instructions_length: questions longer than this many characters travel in the state,
            because the provider would cut them; None if it never does.
        yes_no: how a yes/no question is put.
        empty_state: what is sent when there is no context.
        labels: which option texts the provider takes as labels.
        keyless: whether it works without a credential.
        remote: whether a request leaves the machine.
        probabilities: where its probabilities come from: ``model`` (the model reports them),
            ``estimated`` (derived some other way) or ``none``.
        feature_headers: request headers of a relayed call that go upstream, lower-case.
        request_id_header: the reply header that its own clients read the request id from.
        reply_path: keys under which the reply object is wrapped, outermost first.
        notes: sentences about its limits; each goes into the warnings of every reply.
    """

    formats: frozenset[Format] = attrs.field(converter=_formats)
    max_options: int | None = attrs.field(default=255, validator=_LIMIT)
    max_questions: int | None = attrs.field(default=None, validator=_LIMIT)
    max_question_length: int | None = attrs.field(default=None, validator=_LIMIT)
    instructions_length: int | None = attrs.field(default=None, validator=_LIMIT)
    yes_no: YesNo = attrs.field(default=YesNo.NATIVE, converter=YesNo)
    empty_state: EmptyState = attrs.field(default=EmptyState.STRING, converter=EmptyState)
    labels: LabelRules = attrs.field(default=LabelRules(), validator=_is_a(LabelRules))
    keyless: bool = False
    remote: bool = True
    probabilities: str = "model"
    feature_headers: frozenset[str] = frozenset()
    request_id_header: str | None = None
    reply_path: tuple[str, ...] = attrs.field(default=(), validator=_TEXTS)
    notes: tuple[str, ...] = attrs.field(default=(), validator=_TEXTS)


@attrs.frozen(kw_only=True)
class DecisionRequest:
    """One body for one provider, in bytes.

    Attributes:
        format: the wire format that ``body`` is written in.
        body: what goes upstream, byte for byte.
        model: the model that ``body`` names.
        content_type: of ``body``: JSON, or the multipart type that a caller sent.
        headers: the caller's headers that may go upstream, lower-case names.
        api_key: a credential for this call alone, in place of the configured one.
        request_id: the id under which this call is logged.
    """

    format: Format
    body: bytes
    model: str
    content_type: str = "application/json"
    headers: Mapping[str, str] = _EMPTY
    api_key: Secret | None = attrs.field(default=None)
    request_id: str = ""


@attrs.frozen(kw_only=True)
class DecisionReply:
    """What a provider answered, in bytes.

    Attributes:
        body: the reply as it came, content encoding undone.
        status: its HTTP status; 200 from a provider that has none.
        headers: its reply headers, lower-case names.
    """

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = _EMPTY

    def json_object(self) -> dict[str, Any]:
        """Parse the body, which must be one JSON object; see the function ``json_object``."""
        return json_object(self.body)


def json_object(body: bytes) -> dict[str, Any]:
    """Parse an upstream's reply, which must be one JSON object, as ``strict_json`` reads it.

    Raises:
        MalformedResponse: it is something else; the text never quotes it.
    """
    try:
        found: object = read_json(body, "the reply")
    except InvalidJson as error:
        # A key is the upstream's text, which may hold anything.
        twice = error.field is not None
        text = "the reply has a key twice in one object" if twice else f"{error}"
        raise MalformedResponse(text, cause=_why_unreadable(body)) from None
    if not isinstance(found, dict):
        raise MalformedResponse("the reply is not a JSON object", cause=Cause.NOT_AN_OBJECT)
    return found


def _why_unreadable(body: bytes) -> Cause:
    try:
        body.decode()
    except UnicodeDecodeError:
        return Cause.NOT_UTF8
    return Cause.NOT_JSON


@attrs.frozen(kw_only=True)
class ProbeResult:
    """Whether a provider can be reached, and what makes us think so.

    Attributes:
        ok: whether it is the engine we expect, and up.
        detail: one sentence for a person; no address, no credential.
    """

    ok: bool = attrs.field(converter=bool)
    detail: str = attrs.field(default="", converter=str)


@attrs.frozen(kw_only=True)
class ModelInfo:
    """One model that a provider serves.

    Attributes:
        id: its name, without the provider's prefix.
        format: the wire format it is asked in.
        listed: whether the listing of decision models shows it.
    """

    id: str
    format: Format = attrs.field(converter=Format)
    listed: bool = True
