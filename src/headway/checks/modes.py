"""Properties of training and use, and of one call after another."""

import math

import torch
from torch import Tensor

from headway.checks.examined import Examined
from headway.checks.outcomes import Outcome, error, failed, passed, unasked

_RATE = 0.5
_CALLS = 64
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
    if error(means, means[:1].expand_as(means)) <= it.noise:
        return failed(
            "It has a rate of dropout, and in training nothing is dropped.", 0
        )
    spread = means.std(dim=0) / math.sqrt(_CALLS)
    allowed = 7 * spread + it.tolerance
    strays = (means.mean(dim=0) - want).abs()
    worst = float((strays / allowed).max()) * 7
    if worst <= 7:
        return passed("Dropout acts in training, and keeps the mean.", worst)
    return failed(
        "Dropout moves the mean, by that many standard errors: it acts on scores, or "
        "what is kept does not grow by 1 / (1 - p).",
        worst,
    )


def _mean(it: Examined, luck: int) -> Tensor:
    many = it.x.repeat(_COPIES, 1, 1)
    rows = it.subject(many, luck=luck)
    return rows.unflatten(0, (_COPIES, -1)).mean(dim=0)
