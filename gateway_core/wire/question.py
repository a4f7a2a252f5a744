"""One question, as the gateway's own code passes it around."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

import attrs

YES_NO: Final = ("yes", "no")


class QuestionType(StrEnum):
    """The two kinds of question that the decide contract knows."""

    YES_NO = "yes_no"
    OPTIONS = "options"


@attrs.frozen(kw_only=True)
class Question:
    """A question that has passed the decide contract's checks.

    Attributes:
        text: the question.
        options: the possible answers in the caller's order; None asks for yes or no.
        context: what is known, as a JSON object; None and an empty object are no context.
    """

    text: str
    options: tuple[str, ...] | None = None
    context: Mapping[str, Any] | None = None

    @property
    def type(self) -> QuestionType:
        """Whether it asks for one of its options or for yes or no."""
        return QuestionType.YES_NO if self.options is None else QuestionType.OPTIONS

    @property
    def outcomes(self) -> tuple[str, ...]:
        """The possible decisions, in order."""
        return YES_NO if self.options is None else self.options
