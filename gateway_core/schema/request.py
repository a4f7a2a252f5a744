"""What ``system1_decide`` takes, and the limits that the checks share with the schema."""

from typing import Any, Final

SCHEMA_VERSION: Final = "1"
DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
MAX_QUESTION: Final = 8_000
MIN_OPTIONS: Final = 2
MAX_OPTIONS: Final = 256
MAX_OPTION: Final = 500
MAX_REQUEST_ID: Final = 128
NOT_BLANK: Final = r"\S"
_WHITE_SPACE: Final = (
    "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""What ``\\s`` matches in ECMA-262, whose regular expressions JSON Schema has."""

REQUEST: Final[dict[str, Any]] = {
    "$schema": DIALECT,
    "title": "system1_decide request",
    "description": "One question for a decision model, version 1.",
    "type": "object",
    "properties": {
        "question": {
            "type": "string",
            "minLength": 1,
            "maxLength": MAX_QUESTION,
            "pattern": NOT_BLANK,
            "description": "What is to be decided, in one or a few sentences. Without options "
            "it must be answerable with yes or no.",
        },
        "options": {
            "type": "array",
            "minItems": MIN_OPTIONS,
            "maxItems": MAX_OPTIONS,
            "uniqueItems": True,
            "items": {
                "type": "string",
                "minLength": 1,
                "maxLength": MAX_OPTION,
                "pattern": NOT_BLANK,
            },
            "description": "The possible answers; the decision is exactly one of them. Leave "
            "out to ask yes or no. A provider may take fewer than the schema allows.",
        },
        "context": {
            "type": "object",
            "description": "What the decision is about, handed to the provider as it is: the "
            "message, the record, the facts. The question itself does not belong here.",
        },
        "min_confidence": {
            "type": "number",
            "minimum": 0,
            "maximum": 1,
            "description": "Abstain below this probability; overrides every configured "
            "threshold for this call.",
        },
        "order_check": {
            "type": "boolean",
            "description": "Ask twice, the second time with the options reversed; an answer "
            "that changes with the order is not a decision. Costs a second call.",
        },
        "tournament": {
            "type": "boolean",
            "description": "Ask about more options than a provider takes, in groups whose "
            "winners compete again. Costs a call for every group.",
        },
        "opposite": {
            "type": "string",
            "minLength": 1,
            "maxLength": MAX_QUESTION,
            "pattern": NOT_BLANK,
            "description": "The same yes/no question in the opposite wording, so that yes means "
            "no: it is asked too, and answers that contradict each other are not a decision. "
            "Costs a second call. Not with options.",
        },
        "request_id": {
            "type": "string",
            "minLength": 1,
            "maxLength": MAX_REQUEST_ID,
            "description": "Echoed in the reply and in every log line; made up when absent.",
        },
        "schema_version": {
            "const": SCHEMA_VERSION,
            "description": "The version of this contract that the caller was written for.",
        },
    },
    "required": ["question"],
    "additionalProperties": False,
}


def is_blank(text: str) -> bool:
    """Say whether ``text`` has nothing that ``NOT_BLANK`` matches."""
    return not text.strip(_WHITE_SPACE)
