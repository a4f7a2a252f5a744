"""OpenAI's own codes and the field that it names, where they can be shown."""

from typing import Final

from gateway_core.outbound.redaction.redact import Sent
from gateway_core.outbound.redaction.vocabulary import names_a_field, schema_words

PUBLISHED: Final = frozenset(
    {
        *(
            "context_length_exceeded",
            "model_not_found",
            "invalid_prompt",
            "content_policy_violation",
        ),
        *("invalid_value", "invalid_type", "unsupported_value", "unsupported_parameter"),
        *("missing_required_parameter", "unknown_parameter", "invalid_request_error"),
        *("string_above_max_length", "string_below_min_length", "string_too_long"),
        *("array_above_max_length", "array_below_min_length", "empty_array"),
        *("integer_above_max_value", "integer_below_min_value"),
        *("decimal_above_max_value", "decimal_below_min_value", "invalid_json_schema"),
        *("invalid_image", "invalid_image_format", "invalid_base64_image", "invalid_image_url"),
        *("image_too_large", "image_too_small", "image_parse_error", "invalid_image_mode"),
        *("image_content_policy_violation", "image_file_too_large", "empty_image_file"),
        *("unsupported_image_media_type", "failed_to_download_image", "image_file_not_found"),
    }
)
"""Codes of refused requests: OpenAI's error-code guide, and ``ResponseErrorCode`` of its OpenAPI
document. Those about credentials and quotas are not the caller's business."""


def published_code(code: str | None) -> str | None:
    """Return ``code`` if it is one that OpenAI has published."""
    return code if code in PUBLISHED else None


def shown_param(param: str | None, sent: Sent) -> str | None:
    """Return ``param`` if it is the path of a field: names that are known, and positions."""
    if param is None or not names_a_field(param, schema_words(sent.body, sent.model)):
        return None
    return param
