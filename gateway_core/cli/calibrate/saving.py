"""Keeping what ``s1gw calibrate fit`` found."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from gateway_core.calibration.fitfile import BucketFit, FitRecord, write_json
from gateway_core.calibration.stale import FILE_NAME as STALE
from gateway_core.config.paths import state_dir
from gateway_core.evaluation.example import Example, data_digest, seen_as
from gateway_core.version import __version__


def safe_name(text: str) -> str:
    """Return text as part of a file's name, which stays in its folder."""
    return re.sub(r"[^\w-]", "-", text)


def save_fits(provider: str, examples: Sequence[Example], fits: Sequence[BucketFit]) -> Path:
    """Write ``fits`` to the gateway's state and return the file.

    Args:
        provider: whose they are.
        examples: what they were fitted on.
        fits: the temperatures.
    """
    return save_record(record_of(provider, examples, fits))


def record_of(provider: str, examples: Sequence[Example], fits: Sequence[BucketFit]) -> FitRecord:
    """Return what ``save_fits`` writes."""
    now, digest = datetime.now(UTC), data_digest(examples)
    return FitRecord(
        id=f"{safe_name(provider)}-{now:%Y%m%dT%H%M%S}-{digest.partition(':')[2][:8]}",
        provider=provider,
        created=now.isoformat(timespec="milliseconds"),
        data_digest=digest,
        fitted_with=f"s1gw {__version__}, numpy {version('numpy')}, scipy {version('scipy')}",
        fits=tuple(fits),
        seen=" ".join(sorted({seen_as(one) for one in examples})),
    )


def save_record(record: FitRecord) -> Path:
    """Write a fit to the gateway's state and return the file."""
    path = state_dir() / "calibration" / f"{record.id}.json"
    write_json(path, record)
    # What was stale says nothing of the new fit.
    (path.parent / STALE).unlink(missing_ok=True)
    return path
