"""JSON values as the readable text that an embedding model was trained on."""

import json


def plain(value: object) -> str:
    """Render a state, an instruction, a description or a level.

    A string is itself, None is empty, an object is one ``key: value`` line per key, an array
    one line per item; what is nested deeper is written as JSON.
    """
    if value is None:
        return ""
    if isinstance(value, dict):
        return "\n".join(f"{key}: {_inline(item)}" for key, item in value.items())
    if isinstance(value, list):
        return "\n".join(_inline(item) for item in value)
    return _inline(value)


def _inline(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def described(label: str, description: object) -> str:
    """Render one option of a choice as a sentence or two: its label in words, its description.

    The form was chosen on the tuning set: ``label: description`` and the description alone
    did worse there.
    """
    words = label.replace("_", " ").strip()
    text = plain(description).strip()
    sentence = words[:1].upper() + words[1:]
    return f"{sentence}. {text}" if text else sentence
