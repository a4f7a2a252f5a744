"""The file that a fit is kept in: versioned JSON that a person can read."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import attrs
import msgspec

from gateway_core.calibration.temperature import (
    FLOOR,
    HIGHEST_FLOOR,
    HIGHEST_TEMPERATURE,
    LOWEST_TEMPERATURE,
    Bucket,
)
from gateway_core.files import replace_file
from gateway_core.wire.question import QuestionType

Temperature = Annotated[float, msgspec.Meta(ge=LOWEST_TEMPERATURE, le=HIGHEST_TEMPERATURE)]
Floor = Annotated[float, msgspec.Meta(ge=FLOOR, le=HIGHEST_FLOOR)]


@attrs.frozen(kw_only=True)
class Estimate:
    """A number measured on examples, with its 95% interval."""

    value: float
    low: float
    high: float


@attrs.frozen(kw_only=True)
class Quality:
    """How good probabilities are: lower is better, all three.

    Attributes:
        nll: mean negative log-likelihood of the right answer, in nats.
        brier: mean squared distance from the right answer, summed over the options, in [0, 2].
        ece: expected calibration error of the decision's probability, in [0, 1], less what
            chance adds to it.
        ece_by_chance: what 95% of samples of this size would stay below if the probabilities
            were exact; None where that was not measured.
        p_value: how often exact probabilities would look at least so wrong by chance.
    """

    nll: Estimate
    brier: Estimate
    ece: Estimate
    ece_by_chance: float | None = None
    p_value: float | None = None


@attrs.frozen(kw_only=True)
class Shift:
    """A temperature with a bias for each option, for one list of options.

    Attributes:
        temperature: within [0.05, 20].
        floor: what a smaller probability counts as.
        biases: by option, in nats; they sum to 0.
    """

    temperature: Temperature
    floor: Floor = FLOOR
    biases: dict[str, float]


@attrs.frozen(kw_only=True)
class BucketFit:
    """One temperature, for one kind of question put to one model.

    Attributes:
        model: the model that answered when the examples were taken.
        question_type: ``options`` or ``yes_no``.
        bucket: how many options, such as ``2`` or ``3-5``, or ``any``.
        temperature: within [0.05, 20].
        shift: what counts instead, for questions with exactly its options, in any order.
        floor: what a smaller probability counts as, since providers round.
        examples: how many examples it was fitted on.
        saturated: whether an end of the temperature's range does as well.
        forced: whether it was kept although it did not help on held-out folds.
        held_out_gain: mean fall of the negative log-likelihood on held-out folds, in nats.
        before: quality of the raw probabilities.
        after: quality on held-out folds, each tempered by the fit of the other folds.
    """

    model: str
    question_type: QuestionType
    bucket: Bucket
    temperature: Temperature
    shift: Shift | None = None
    floor: Floor = FLOOR
    examples: int
    saturated: bool = False
    forced: bool = False
    held_out_gain: float | None = None
    before: Quality | None = None
    after: Quality | None = None


@attrs.frozen(kw_only=True)
class FitFile:
    """Everything fitted from one set of examples of one provider.

    Attributes:
        version: of this layout.
        id: names the fit in replies.
        provider: the provider's name in the configuration.
        created: when it was fitted, ISO 8601 in UTC.
        data_digest: SHA-256 of the examples, to tell whether two fits saw the same ones.
        fitted_with: the versions of the software that made it.
        fits: the temperatures.
    """

    version: Literal[1] = 1
    id: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    provider: str
    created: str
    data_digest: str = ""
    fitted_with: str = ""
    fits: tuple[BucketFit, ...]


@attrs.frozen(kw_only=True)
class FitRecord(FitFile):
    """What a command writes and reads: a fit file, and which questions it was made from.

    A gateway reads the file as a ``FitFile``, without the list.

    Attributes:
        seen: short hashes of the questions, with spaces between them.
    """

    seen: str = ""


def read_fit(path: Path) -> FitFile:
    """Read one fit file.

    Raises:
        OSError: it cannot be read.
        msgspec.MsgspecError: it is not a fit file of this version; the message says where.
    """
    return msgspec.json.decode(path.read_bytes(), type=FitFile)


def read_seen(path: Path) -> frozenset[str]:
    """Return the hashes of the questions that a fit was made from; none if it has none.

    Raises:
        OSError: it cannot be read.
        msgspec.MsgspecError: it is not a fit file.
    """
    return frozenset(msgspec.json.decode(path.read_bytes(), type=FitRecord).seen.split())


def read_fits(paths: Iterable[Path]) -> tuple[tuple[FitFile, ...], tuple[str, ...]]:
    """Read many fit files.

    Returns:
        Those that can be used, oldest first, and one sentence for each of the others.
    """
    fits: list[FitFile] = []
    problems: list[str] = []
    for path in paths:
        try:
            fits.append(read_fit(path))
        except OSError as error:
            problems.append(f"{path.name}: cannot be read: {error.strerror}")
        except msgspec.MsgspecError as error:
            problems.append(f"{path.name}: not a usable fit file: {error}")
    fits.sort(key=lambda fit: (fit.created, fit.id))
    return tuple(fits), tuple(problems)


def write_json(path: Path, record: attrs.AttrsInstance) -> None:
    """Write ``record`` as indented JSON, all or nothing: readers see the old or the new file.

    Raises:
        ConfigError: the file cannot be written.
    """
    replace_json(path, attrs.asdict(record))


def replace_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write an object in one step, readable by people.

    Raises:
        ConfigError: it cannot be written.
    """
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    replace_file(path, text.encode())
