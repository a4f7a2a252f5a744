"""A decision body: its format, the model that it names, and the same bytes with another model."""

import json
from typing import Final

import attrs
import msgspec

from gateway_core.errors import RelayRefused
from gateway_core.relay.members import JsonObject
from gateway_core.schema import is_blank
from gateway_core.types import Format

_text: Final = msgspec.json.Decoder(str)
_FORMATS: Final = {b"{": Format.SYSTEMONE, b"[": Format.OPENAI}


@attrs.define(kw_only=True)
class DecisionBody:
    """What the relay reads of a body; the rest of it is nobody's business.

    Attributes:
        content: the whole body, in bytes.
        format: the wire format, told from ``questions``.
        model: the model that it names.
        start: where the value of ``model`` starts in ``content``.
        end: where it ends.
        part: where the JSON starts and ends in ``content``, when that is a multipart form.
    """

    content: bytes = attrs.field(repr=False)
    format: Format
    model: str
    start: int
    end: int
    part: tuple[int, int] | None = None

    @property
    def multipart(self) -> bool:
        """Whether ``content`` is a multipart form."""
        return self.part is not None

    @property
    def json(self) -> bytes:
        """The JSON alone."""
        return self.content if self.part is None else self.content[slice(*self.part)]

    def naming(self, model: str) -> bytes:
        """Return the body with ``model`` in place of its own, and no other byte changed."""
        if model == self.model:
            return self.content
        view = memoryview(self.content)
        return b"".join((view[: self.start], msgspec.json.encode(model), view[self.end :]))


def read_body(content: bytes, content_type: str = "application/json") -> DecisionBody:
    """Read a decision body, JSON or a multipart form whose first part is the JSON.

    Raises:
        RelayRefused: ``invalid_request``, naming the field at fault and quoting nothing.
    """
    if not content_type.lower().startswith("multipart/"):
        return read_json(content)
    # Only images come as forms, so that most processes never need the parser.
    from gateway_core.relay.multipart import request_part

    start, end = request_part(content, content_type)
    inner = read_json(content[start:end])
    if inner.format is not Format.SYSTEMONE:
        raise RelayRefused(
            "format_mismatch", "a multipart body must hold a System One request", "questions"
        )
    return attrs.evolve(
        inner,
        content=content,
        start=inner.start + start,
        end=inner.end + start,
        part=(start, end),
    )


def read_json(content: bytes) -> DecisionBody:
    """Read a JSON decision body.

    Raises:
        RelayRefused: it is no JSON object, a top-level key is repeated, ``model`` is no
            non-blank string, or ``questions`` is neither an object nor an array.
    """
    found = JsonObject(content)
    names = found.names
    if len(set(names)) != len(names):
        raise _invalid("a top-level key of the body occurs twice")
    if "model" not in names:
        raise _invalid("model must be a non-blank string", "model")
    place = names.index("model")
    start, end = found.span(place)
    model = _model(content[start:end])
    return DecisionBody(content=content, format=_format(found), model=model, start=start, end=end)


def _model(value: bytes) -> str:
    if not value.startswith(b'"'):
        raise _invalid("model must be a non-blank string", "model")
    try:
        model = _text.decode(value)
    except msgspec.DecodeError:
        # The standard library's parser, unlike msgspec's, reads lone surrogates.
        model = str(json.loads(value))
    if is_blank(model):
        raise _invalid("model must be a non-blank string", "model")
    return model


def _format(found: JsonObject) -> Format:
    if "questions" in found.names:
        known = _FORMATS.get(found.first(found.names.index("questions")))
        if known is not None:
            return known
    raise _invalid(
        "questions must be an object (System One) or an array (OpenAI Decisions)", "questions"
    )


def _invalid(message: str, field: str | None = None) -> RelayRefused:
    return RelayRefused("invalid_request", message, field)
