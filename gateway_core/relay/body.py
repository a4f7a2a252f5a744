"""A decision body: its format, the model that it names, and the same bytes with another model."""

import json
from typing import Final

import msgspec

from gateway_core.errors import RelayRefused
from gateway_core.relay.members import Members, member_place, read_members
from gateway_core.schema import is_blank
from gateway_core.types import Format

_text: Final = msgspec.json.Decoder(str)
_FORMATS: Final = {ord("{"): Format.SYSTEMONE, ord("["): Format.OPENAI}
_ABSENT: Final = msgspec.Raw(b"null")


class DecisionBody(msgspec.Struct, kw_only=True, eq=False):
    """What the relay reads of a body; the rest of it is nobody's business.

    Attributes:
        content: the whole body, in bytes.
        json: the JSON in it, which is the whole unless that is a multipart form.
        start: where in ``content`` the JSON starts.
        format: the wire format, told from ``questions``.
        model: the model that it names.
        members: the values at the top level of the JSON.
        place: where in ``content`` the name of the model starts and ends, if that is known.
    """

    content: bytes
    json: bytes
    start: int = 0
    format: Format
    model: str
    members: Members
    place: tuple[int, int] | None = None

    # A body is shown nowhere.
    __repr__ = object.__repr__

    @property
    def multipart(self) -> bool:
        """Whether ``content`` is a multipart form."""
        return self.content is not self.json

    def naming(self, model: str) -> bytes:
        """Return the body with ``model`` in place of its own, and no other byte changed."""
        if model == self.model:
            return self.content
        start, end = self.place or self._place()
        view = memoryview(self.content)
        before, after = view[:start], view[end:]
        return b"".join((before, _encoded(model), after))

    def _place(self) -> tuple[int, int]:
        start, end = member_place("model", self.json, self.members)
        return self.start + start, self.start + end


def read_body(content: bytes, content_type: str = "application/json") -> DecisionBody:
    """Read a decision body, JSON or a multipart form whose first part is the JSON.

    Raises:
        RelayRefused: ``invalid_request``, naming the field at fault and quoting nothing.
    """
    if not content_type.lower().startswith("multipart/"):
        return read_json_body(content)
    # Only images come as forms, so that most processes never need the parser.
    from gateway_core.relay.multipart import request_part

    start, end = request_part(content, content_type)
    body = read_json_body(content[start:end])
    if body.format is not Format.SYSTEMONE:
        raise RelayRefused(
            "format_mismatch", "a multipart body must hold a System One request", "questions"
        )
    body.content, body.start = content, start
    return body


def json_of(content: bytes, content_type: str) -> bytes:
    """Return the JSON of a decision body that was checked before."""
    if not content_type.lower().startswith("multipart/"):
        return content
    from gateway_core.relay.multipart import request_part

    start, end = request_part(content, content_type)
    return content[start:end]


def read_json_body(content: bytes) -> DecisionBody:
    """Read a JSON decision body.

    Raises:
        RelayRefused: it is no JSON object, a top-level key is repeated, ``model`` is no
            non-blank string, or ``questions`` is neither an object nor an array.
    """
    members = read_members(content)
    model = _model(members.get("model", _ABSENT))
    wire = _FORMATS.get(memoryview(members.get("questions", _ABSENT))[0])
    if wire is None:
        raise _invalid(
            "questions must be an object (System One) or an array (OpenAI Decisions)", "questions"
        )
    return DecisionBody(content=content, json=content, format=wire, model=model, members=members)


def _model(value: msgspec.Raw) -> str:
    try:
        model = _text.decode(value)
    except msgspec.ValidationError:
        model = ""
    except msgspec.DecodeError:
        # The standard library's parser, unlike msgspec's, reads lone surrogates.
        found: object = json.loads(bytes(value))
        model = found if isinstance(found, str) else ""
    if is_blank(model):
        raise _invalid("model must be a non-blank string", "model")
    return model


def _encoded(model: str) -> bytes:
    try:
        return msgspec.json.encode(model)
    except UnicodeEncodeError:
        # A lone surrogate has no UTF-8, and goes on as the escape that it came as.
        return json.dumps(model).encode("ascii")


def _invalid(message: str, field: str) -> RelayRefused:
    return RelayRefused("invalid_request", message, field)
