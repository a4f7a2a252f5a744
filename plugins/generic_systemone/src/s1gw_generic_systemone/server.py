"""What differs between the servers that speak System One."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

import attrs

from gateway_core import EmptyState, YesNo

_NONE: Final[Mapping[str, int]] = MappingProxyType({})


class Listing(StrEnum):
    """The shape of a server's list of models."""

    TYPESAFE = "typesafe"
    """``{"models": [{"name": …}]}``."""
    OPENAI = "openai"
    """``{"data": [{"id": …}]}``."""


@attrs.frozen(kw_only=True)
class Server:
    """One kind of server, as data; the defaults are what to expect of an unknown one.

    Attributes:
        name: what ``server`` says in the configuration.
        title: its name for people.
        usual_base: where it is usually found, for the documentation.
        hosts: host names that suggest it; one that begins with a dot is a suffix.
        root: what stands before the prefix when the base URL is a bare host.
        prefix: the API prefix in place of ``/v1``; None keeps ``/v1``.
        path: the decision route; ``{model}`` stands for the model that is asked.
        auth_header: the header that carries the key.
        auth_scheme: the word before the key in that header; empty for none.
        keyless: whether it works without a key.
        max_options: the most options of one choice; 0 for no limit known.
        max_questions: the most questions of one body; 0 for no limit known.
        max_question_length: the longest question in characters; 0 for no limit known.
        instructions_length: longer questions travel in the state; 0 for never.
        yes_no: how a yes/no question is put.
        probabilities: where they come from; ``none`` where an answer may have none.
        empty_state: what is sent when there is no context.
        label_max_length: the longest label in characters; 0 for no limit known.
        label_control_characters: whether labels may hold control characters.
        label_case_sensitive: whether labels may differ in case or outer white space only.
        reply_path: keys under which the answers' object is wrapped, outermost first.
        models_path: its list of models; empty for none.
        listing: the shape of that list.
        health_path: a free health route outside the prefix, for one without a list of models.
        error_shape: how its errors look, for the documentation.
        errors_in_success: codes of errors that come with HTTP 200, and the statuses they mean.
        retryable_codes: codes of a 429 that passes soon.
        final_codes: codes of a 429 that does not, such as a daily quota.
        unverified: the attributes that nobody has confirmed: guesses on the safe side.
        note: what else a user should know.
    """

    name: str = ""
    title: str = "Any other server"
    usual_base: str = ""
    hosts: tuple[str, ...] = ()
    root: str = ""
    prefix: str | None = None
    path: str = "/v1/systemone"
    auth_header: str = "authorization"
    auth_scheme: str = "Bearer"
    keyless: bool = True
    max_options: int = 255
    max_questions: int = 0
    max_question_length: int = 0
    instructions_length: int = 0
    yes_no: YesNo = YesNo.NATIVE
    probabilities: str = "model"
    empty_state: EmptyState = EmptyState.QUESTION
    label_max_length: int = 0
    label_control_characters: bool = True
    label_case_sensitive: bool = True
    reply_path: tuple[str, ...] = ()
    models_path: str = "/v1/models"
    listing: Listing = Listing.OPENAI
    health_path: str = ""
    error_shape: str = ""
    errors_in_success: Mapping[str, int] = _NONE
    retryable_codes: tuple[str, ...] = ()
    final_codes: tuple[str, ...] = ()
    unverified: frozenset[str] = frozenset()
    note: str = ""
