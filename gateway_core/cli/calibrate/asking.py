"""Asking a provider for many answers: what that comes to first, and a bar while it runs."""

import sys
from typing import TYPE_CHECKING, Final, Self

import attrs
import click

from gateway_core.cli.terminal import plain
from gateway_core.decide import ask
from gateway_core.evaluation.answers import Answers
from gateway_core.evaluation.asking import Asked, AskingBounds, ask_all, input_tokens
from gateway_core.provider import Provider
from gateway_core.types import YesNo
from gateway_core.wire import Answer, Question, QuestionType, why_not_askable

if TYPE_CHECKING:
    from gateway_core.evaluation.labelled import Labelled

_NOT_AGREED: Final = 2


@attrs.frozen(kw_only=True, eq=False)
class QuestionPlan:
    """Which questions a provider is to be asked.

    Attributes:
        provider: who.
        model: the model to ask.
        questions: what; it can take all of them.
        left_out: how many more it cannot take.
        timeout_s: the time one answer may take, in seconds.
    """

    provider: Provider
    model: str
    questions: "list[Labelled]"
    left_out: int
    timeout_s: float

    @classmethod
    def of(cls, provider: Provider, todo: "list[Labelled]", timeout_s: float, model: str) -> Self:
        """Plan to ask what of ``todo`` the provider can take."""
        questions = [one for one in todo if one.question and _takes(provider, one.question)]
        own = provider.endpoint.timeout_s
        return cls(
            provider=provider,
            model=model,
            questions=questions,
            left_out=len(todo) - len(questions),
            timeout_s=timeout_s if own is None else own,
        )

    async def carry_out(self, answers: Answers, bounds: AskingBounds, *, yes: bool) -> None:
        """Ask, with a progress bar on stderr; what was answered is kept whatever happens.

        Args:
            answers: where answers are kept.
            bounds: how hard the provider may be asked.
            yes: whether somebody agreed to what it comes to.

        Raises:
            SystemExit: there is something to ask and nobody said yes.
        """
        if self.left_out:
            click.echo(f"{self._name} cannot take {self.left_out:,} of the questions.", err=True)
        if not self.questions:
            return
        click.echo(self._cost(bounds), err=True)
        if not yes:
            click.echo("Nothing was asked yet. Add --yes to go.", err=True)
            raise SystemExit(_NOT_AGREED)
        self._tell(await self._ask_all(answers, bounds), answers)

    async def _ask_all(self, answers: Answers, bounds: AskingBounds) -> Asked:
        bar = click.progressbar(
            length=len(self.questions), label="asking", show_pos=True, file=sys.stderr
        )
        with bar:
            return await ask_all(
                self.questions,
                self._ask,
                answers,
                model=self.model,
                bounds=bounds,
                progress=bar.update,
            )

    async def _ask(self, question: Question) -> Answer:
        return await ask(
            self.provider,
            question,
            timeout_s=self.timeout_s,
            request_id="calibrate",
            model=self.model,
        )

    def _cost(self, bounds: AskingBounds) -> str:
        """Say what asking comes to."""
        count, per_minute = len(self.questions), bounds.per_minute
        where = (
            "leave this machine, and may be charged for"
            if self.provider.capabilities.remote
            else "stay on this machine"
        )
        pace = f", {per_minute:g} a minute ({count / per_minute:.0f} min)" if per_minute else ""
        return (
            f"{self._name} is to be asked {count:,} questions of about "
            f"{input_tokens(self.questions):,} input tokens altogether, which {where}; "
            f"at most {bounds.concurrency} at once{pace}."
        )

    @property
    def _name(self) -> str:
        return plain(f"{self.provider.name} ({self.model})" if self.model else self.provider.name)

    def _tell(self, asked: Asked, answers: Answers) -> None:
        click.echo(f"{asked.answered:,} answers kept in {answers.path}", err=True)
        if asked.failed:
            stopped = "Stopped: nothing was answered any more. " if asked.gave_up else ""
            click.echo(
                f"{stopped}{asked.failed:,} questions failed, the last with: "
                f"{plain(asked.last_error)}. Run the command again to ask the rest.",
                err=True,
            )


def _takes(provider: Provider, question: Question) -> bool:
    capabilities = provider.capabilities
    silent = question.type is QuestionType.YES_NO and capabilities.yes_no is YesNo.UNSUPPORTED
    return not silent and why_not_askable(question, capabilities) is None
