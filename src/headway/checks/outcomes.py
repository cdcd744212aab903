"""Verdicts, and what counts as equal."""

from typing import NamedTuple

import torch
from torch import Tensor

from headway.checks.report import Verdict


class Outcome(NamedTuple):
    """The verdict on one property."""

    verdict: Verdict
    sentence: str
    figure: int | float | None = None
    chapter: str = ""  # where it is explained, if not where the property is


def passed(sentence: str, figure: int | float | None = None) -> Outcome:
    """Say that a property holds."""
    return Outcome("passed", sentence, figure)


def failed(sentence: str, figure: int | float | None = None) -> Outcome:
    """Say that a property does not hold, and what is probably wrong."""
    return Outcome("failed", sentence, figure)


def unasked(sentence: str) -> Outcome:
    """Say why a property cannot be asked for."""
    return Outcome("not applicable", sentence)


def largest(rows: Tensor) -> float:
    """Give the largest finite number."""
    return float(rows.abs().nan_to_num(0, 0, 0).max())


def noise(rows: Tensor) -> float:
    """Allow a few dozen roundings of the largest number."""
    return 64 * torch.finfo(rows.dtype).eps * max(largest(rows), 1e-30)


def apart(one: Tensor, other: Tensor) -> float:
    """Give the largest difference; what is not finite may be the same, too."""
    same = (one == other) | (one.isnan() & other.isnan())
    return error(one.masked_fill(same, 0.0), other.masked_fill(same, 0.0))


def error(one: Tensor, other: Tensor) -> float:
    """Give the largest difference; infinity if one of them is not finite."""
    difference = (one.double() - other.double()).abs()
    return float(difference.nan_to_num(torch.inf, torch.inf, torch.inf).max())
