"""The provider's own keys: a known server's name, and each of its values."""

import difflib
from collections.abc import Mapping
from typing import Any

import attrs

from gateway_core import EmptyState, YesNo
from s1gw_generic_systemone.hosted import HOSTED
from s1gw_generic_systemone.self_hosted import SELF_HOSTED
from s1gw_generic_systemone.server import Listing

_NAMES = tuple(server.name for server in HOSTED + SELF_HOSTED)


def _known(_: object, __: "attrs.Attribute[str | None]", value: str | None) -> None:
    if value is None or value in _NAMES:
        return
    near = difflib.get_close_matches(value, _NAMES, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known are: {', '.join(sorted(_NAMES))}"
    raise ValueError(f"{value!r} is no known server; {hint}")


_kinds = attrs.validators.optional(attrs.validators.in_(("model", "estimated", "none")))
_natural = attrs.validators.optional(attrs.validators.ge(0))


@attrs.frozen(kw_only=True)
class Settings:
    """``[providers.NAME.settings]`` of a generic System One provider.

    ``server`` names a known server; without it the base URL's host may suggest one. Every
    other key overrides one value of that server, or of the defaults for an unknown one; the
    keys are explained with ``Server``.
    """

    server: str | None = attrs.field(default=None, validator=_known)
    path: str | None = None
    auth_header: str | None = None
    auth_scheme: str | None = None
    keyless: bool | None = None
    max_options: int | None = attrs.field(default=None, validator=_natural)
    max_questions: int | None = attrs.field(default=None, validator=_natural)
    max_question_length: int | None = attrs.field(default=None, validator=_natural)
    instructions_length: int | None = attrs.field(default=None, validator=_natural)
    yes_no: YesNo | None = None
    probabilities: str | None = attrs.field(default=None, validator=_kinds)
    empty_state: EmptyState | None = None
    label_max_length: int | None = attrs.field(default=None, validator=_natural)
    label_control_characters: bool | None = None
    label_case_sensitive: bool | None = None
    reply_path: tuple[str, ...] | None = None
    models_path: str | None = None
    listing: Listing | None = None
    health_path: str | None = None
    errors_in_success: Mapping[str, int] | None = None
    retryable_codes: tuple[str, ...] | None = None
    final_codes: tuple[str, ...] | None = None

    def overrides(self) -> dict[str, Any]:
        """Return what is set beside ``server``, by the name of the server's attribute."""
        values = attrs.asdict(self, recurse=False)
        return {
            key: value for key, value in values.items() if key != "server" and value is not None
        }
