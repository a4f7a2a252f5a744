"""The request of the decide contract: every rule checked before any provider is asked."""

import json
import uuid
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final

import attrs

from gateway_core.errors import InvalidRequest
from gateway_core.schema.request import (
    MAX_OPTION,
    MAX_OPTIONS,
    MAX_QUESTION,
    MAX_REQUEST_ID,
    MIN_OPTIONS,
    REQUEST,
    SCHEMA_VERSION,
    is_blank,
)
from gateway_core.wire import Question

FIELDS: Final = tuple(REQUEST["properties"])


@attrs.frozen(kw_only=True)
class DecideRequest:
    """A request that keeps every rule.

    Attributes:
        question: what is asked.
        request_id: the caller's id, or one made for this call.
        min_confidence: the threshold for this call alone, in [0, 1].
        order_check: whether to ask again with the options reversed; None as configured.
        tournament: whether to ask about more options than a provider takes, in groups; None
            as configured.
        opposite: the yes/no question in the opposite wording, to be asked as well; None if it
            is not. It holds content as the question does.
    """

    question: Question
    request_id: str
    min_confidence: float | None = None
    order_check: bool | None = None
    tournament: bool | None = None
    opposite: str | None = None


def parse_request(fields: object, request_id: str) -> DecideRequest:
    """Check a request field by field.

    Args:
        fields: what the caller sent: a mapping of JSON values.
        request_id: what ``request_id_of`` gave for it.

    Raises:
        InvalidRequest: a rule is broken; ``field`` names where, and so does the text.
    """
    if not isinstance(fields, Mapping):
        raise InvalidRequest("the request must be an object")
    for name in fields:
        if name not in FIELDS:
            raise _unknown(name)
    _check_envelope(fields)
    question = Question(
        text=_text("question", fields.get("question"), MAX_QUESTION),
        options=_options(fields["options"]) if "options" in fields else None,
        context=_context(fields["context"]) if "context" in fields else None,
    )
    return DecideRequest(
        question=question,
        request_id=request_id,
        min_confidence=_share(fields["min_confidence"]) if "min_confidence" in fields else None,
        order_check=_switch(fields, "order_check"),
        tournament=_switch(fields, "tournament"),
        opposite=_opposite(fields) if "opposite" in fields else None,
    )


def request_id_of(fields: object) -> str:
    """Return the caller's request id if it can be echoed, else a new one."""
    given = fields.get("request_id") if isinstance(fields, Mapping) else None
    if isinstance(given, str) and 1 <= len(given) <= MAX_REQUEST_ID and _encodable(given):
        return given
    return uuid.uuid4().hex


def _check_envelope(fields: Mapping[str, object]) -> None:
    if "request_id" in fields and request_id_of(fields) != fields["request_id"]:
        raise _fault("request_id", f"must be a string of 1 to {MAX_REQUEST_ID} characters")
    if "schema_version" in fields and fields["schema_version"] != SCHEMA_VERSION:
        raise _fault("schema_version", f'must be the string "{SCHEMA_VERSION}"')


def _text(field: str, value: object, longest: int) -> str:
    if not isinstance(value, str) or is_blank(value):
        raise _fault(field, "must be a string that is not blank")
    if len(value) > longest:
        raise _fault(field, f"must have at most {longest:,} characters, and has {len(value):,}")
    if not _encodable(value):
        raise _fault(field, "holds half a surrogate pair, which is not text")
    return value


def _options(value: object) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise _fault("options", "must be an array of strings; leave it out to ask yes or no")
    if not MIN_OPTIONS <= len(value) <= MAX_OPTIONS:
        raise _fault(
            "options", f"must have {MIN_OPTIONS} to {MAX_OPTIONS} entries, and has {len(value)}"
        )
    first: dict[str, int] = {}
    for index, entry in enumerate(value):
        option = _text(f"options[{index}]", entry, MAX_OPTION)
        if first.setdefault(option, index) != index:
            raise _fault(f"options[{index}]", f"repeats options[{first[option]}]")
    return tuple(first)


def _context(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _fault("context", "must be an object; leave it out when there is none")
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise _fault("context", "holds half a surrogate pair, which is not text") from None
    except (TypeError, ValueError, RecursionError):
        raise _fault("context", "must be JSON: no NaN, no infinity, no endless nesting") from None
    return value


def _share(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise _fault("min_confidence", "must be a number from 0 to 1")
    return float(value)


def _opposite(fields: Mapping[str, object]) -> str:
    if "options" in fields:
        raise _fault("opposite", "is for yes/no questions; leave it or the options out")
    text = _text("opposite", fields["opposite"], MAX_QUESTION)
    if text == fields["question"]:
        raise _fault("opposite", "must be the question in the opposite wording, not repeat it")
    return text


def _switch(fields: Mapping[str, object], field: str) -> bool | None:
    value = fields.get(field)
    if field in fields and not isinstance(value, bool):
        raise _fault(field, "must be true or false")
    return value if isinstance(value, bool) else None


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _unknown(name: object) -> InvalidRequest:
    close = get_close_matches(str(name), FIELDS, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"the fields are {', '.join(FIELDS)}"
    return InvalidRequest(f"unknown field {str(name)[:64]!r}; {hint}", field=str(name))


def _fault(field: str, rule: str) -> InvalidRequest:
    return InvalidRequest(f"{field}: {rule}", field=field)
