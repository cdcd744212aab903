"""Properties of training and use, and of one call after another."""

import math

import torch
from torch import Tensor

from headway.checks import naming
from headway.checks.examined import Examined
from headway.checks.outcomes import Outcome, error, failed, passed, unasked

_RATE = 0.3  # not a half, which is both what is dropped and what is kept
_SMALL = 1e-3
_CALLS = 64
_LUCK = range(2, 18)
_COPIES = 32


def in_eval(it: Examined) -> Outcome:
    """Report whether eval gives the same for the same."""
    return it.repeats.chance


def again(it: Examined) -> Outcome:
    """Report whether a call leaves something behind."""
    return it.repeats.state


def in_training(it: Examined) -> Outcome:
    """Ask in training, without dropout: it must be what is used later."""
    if it.subject.module is None:
        return unasked("A function has no training mode.")
    with it.subject.training(dropout=0.0), torch.no_grad():
        worst = error(it.subject(it.x), it.rows)
    if worst <= it.tolerance:
        return passed("Without dropout, training computes what eval computes.", worst)
    with it.subject.training(dropout=0.0), torch.no_grad():  # other luck each time
        drawn = torch.stack([it.subject(it.x, luck=n) for n in _LUCK])
    apart = error(drawn, drawn[:1].expand_as(drawn))
    if apart > it.tolerance and not it.subject.drops:
        return unasked(
            "In training it draws at random, at a rate that no attribute holds, so it "
            "cannot be compared."
        )
    return failed(
        "Without dropout, training computes something else than eval: a flag is bound "
        "to self.training, or dropout has a rate of its own.",
        worst,
    )


def dropout(it: Examined) -> Outcome:
    """Ask that dropout acts in training, and that its mean is the answer of eval."""
    subject = it.subject
    if not subject.drops:
        return unasked("No rate of dropout was found.")
    with subject.training(dropout=0.0), torch.no_grad():
        want = subject(it.x)
    with subject.training(dropout=_RATE), torch.no_grad():
        means = torch.stack([_mean(it, luck) for luck in range(_CALLS)])
    with subject.training(dropout=_SMALL), torch.no_grad():
        few = subject(it.x)
    if error(means, means[:1].expand_as(means)) <= it.noise:
        return failed(
            "It has a rate of dropout, and in training nothing is dropped.", 0
        )
    if (few - want).abs().median() > 0.1 * want.abs().median():
        return failed(
            "A small rate of dropout changes nearly all: it is taken for what is kept, "
            "or training goes another way.",
            _SMALL,
        )
    draws = _CALLS * _COPIES  # a count, since what was drawn differs by platform
    if _agree(means, want, it.tolerance):
        return passed("Dropout acts in training, and keeps the mean of many.", draws)
    if rest := naming.unknown(subject):
        return unasked(f"Besides attention it has {rest[0]}, which may move the mean.")
    return failed(
        "The mean of many draws in training is not the answer of eval: dropout acts on "
        "scores, or what is kept does not grow by 1 / (1 - p).",
        draws,
    )


def _agree(means: Tensor, want: Tensor, tolerance: float) -> bool:
    """Ask whether a mean is within seven standard errors of what it should be."""
    spread = means.std(dim=0) / math.sqrt(len(means))
    strays = (means.mean(dim=0) - want).abs()
    return bool((strays <= 7 * spread + tolerance).all())


def _mean(it: Examined, luck: int) -> Tensor:
    many = it.x.repeat(_COPIES, 1, 1)
    rows = it.subject(many, luck=luck)
    return rows.unflatten(0, (_COPIES, -1)).mean(dim=0)
