"""JSON values as the readable text that an embedding model was trained on."""

import json


def plain(value: object) -> str:
    """Render a state, an instruction or a description.

    A string is itself, None is empty, an object is one ``key: value`` line per key, an array
    one line per item; what is nested deeper is written as JSON.
    """
    if value is None:
        return ""
    if isinstance(value, dict):
        return "\n".join(f"{key}: {_inline(item)}" for key, item in value.items())
    if isinstance(value, list):
        return "\n".join(_inline(item) for item in value)
    return value if isinstance(value, str) else _inline(value)


def _inline(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def described(label: str, description: object) -> str:
    """Render one option of a choice: its label in words, then its description."""
    words = label.replace("_", " ")
    text = plain(description)
    return f"{words}: {text}" if text.strip() else words
