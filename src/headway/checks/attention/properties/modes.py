"""Properties of training and eval, and of one call after another."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from headway.checks.attention.evidence import Evidence
from headway.checks.attention.subject import Subject
from headway.checks.attention.subject.calls import attends_twice
from headway.checks.core.dropout import rate_attributes
from headway.checks.core.errors import at_the_border, theirs
from headway.checks.core.outcome import Outcome, failed, not_applicable, note, passed
from headway.checks.core.tolerance import (
    max_difference,
    same_order_tolerance,
    tolerance,
)

_RATE = 0.3  # not a half, which is both what is dropped and what is kept
_SMALL_RATE = 1e-3
_SEEDS = range(2, 18)
# Time goes by the draws and by the calls. A rate that is 0.1 off moves the mean of
# 768 draws by 14 of its standard errors or more; right code comes within 4, and 7 are
# allowed. Half of the means must still say what a standard error is: as few as twelve
# means were once wrong by so much that right code came to 6.6.
_MEANS, _COPIES = 64, 12
_DRAWS = 4  # calls in which that many means are drawn
_LOUD = 1e3  # then a row sees one token alone, and sees another if a score is dropped
_IF_WIDE = 32, 4  # where a row has many numbers to tell by


def in_eval(evidence: Evidence) -> Outcome:
    """Report whether eval gives the same for the same."""
    return evidence.repeats.randomness


def state(evidence: Evidence) -> Outcome:
    """Report whether a call leaves something behind."""
    return evidence.repeats.state


def in_training(evidence: Evidence) -> Outcome:
    """Ask in training, without dropout: it must be what is used later."""
    module = evidence.subject.module
    if module is None:
        return not_applicable("A function has no training mode.")
    subject = evidence.subject.in_training(dropout=0.0)
    with torch.no_grad():
        worst = max_difference(subject(evidence.x), evidence.output)
        if worst <= evidence.tolerance:
            return passed(
                "Without dropout, training computes what eval computes.", worst
            )
        drawn = torch.stack([subject(evidence.x, seed=seed) for seed in _SEEDS])
        other_way = subject.in_training(dropout=1.0)(evidence.x)
    if max_difference(other_way, evidence.output) <= evidence.tolerance:
        return failed(
            "In training, a rate of 0 drops everything, and a rate of 1 nothing: the "
            "dropout rate is used as the share that is kept.",
            worst,
            mistakes=["dropout-rate-inverted"],
        )
    if any(isinstance(one, _BatchNorm) for one in module.modules()):
        return not_applicable("In training its batch norms use the means of a batch.")
    spread = max_difference(drawn, drawn[:1].expand_as(drawn))
    if spread > evidence.tolerance and not subject.has_dropout:
        return not_applicable(
            "In training it draws random numbers, at a rate that no attribute holds, "
            "so it cannot be compared."
        )
    return failed(
        "Without dropout, training computes something different from eval: a flag is "
        "bound to self.training, or dropout has a rate of its own.",
        worst,
    )


def dropout(evidence: Evidence) -> Outcome:
    """Ask that dropout acts in training, and that its mean is the answer of eval."""
    subject, others = _without_others(evidence)
    x = evidence.x
    drawn = x[:1]  # one text is enough for many draws
    with torch.no_grad():
        expected = subject(x)
    count, copies = _MEANS, _COPIES
    if evidence.wide:
        x, expected = x[:1], expected[:1]
        count, copies = _IF_WIDE
    if not subject.has_dropout:
        return not_applicable("No dropout rate was found.")
    dropping = subject.in_training(dropout=_RATE)
    with torch.no_grad():
        mean = subject(drawn)  # not that of a batch, which may mix texts
        means = _means(dropping, drawn, count, copies)
        few, most, none = (
            subject.in_training(dropout=rate)(x)
            for rate in (_SMALL_RATE, 1 - _SMALL_RATE, 0.0)
        )
    apart = max_difference(means, means[:1].expand_as(means))
    if apart <= evidence.same_order_tolerance:
        return failed(
            "It has a dropout rate, but in training nothing is dropped.",
            0,
            mistakes=["dropout-never-acts"],
        )
    if bool(expected.isfinite().all()) and not bool(means.isfinite().all()):
        return failed(
            "In training, rows become nan where something is dropped: dropout acts on "
            "scores, and minus infinity times zero is nan. It belongs on weights, "
            "after the softmax.",
            0,
            mistakes=["dropout-on-scores"],
        )
    if _shared(subject, x):
        return note(
            "All texts of a batch lose the same entries: they are drawn once, not for "
            "each text."
        )
    if unused := _unused(evidence.subject, evidence.x):
        return note(f"{unused} has a rate but drops nothing: it has no effect.")
    if rate := _large_rate(evidence.subject):
        return note(
            f"It drops at a rate of {rate:.3g}, more than it keeps; a rate is the "
            "probability to drop."
        )
    at_rest = _near(none, expected)
    if not _near(few, expected) and (at_rest or _near(most, expected)):
        return failed(
            f"A rate of {_SMALL_RATE} changes nearly everything: the rate is used as "
            "the share that is kept.",
            _SMALL_RATE,
            mistakes=["dropout-rate-inverted"],
        )
    if not at_rest:
        return not_applicable(
            "Training computes something different at a rate of 0 as well, so the mean "
            "says nothing about dropout."
        )
    draws = count * copies  # a count, since what was drawn differs by platform
    if _has_mean(means, mean, evidence.tolerance) or _has_mean(
        _means_apart(dropping, drawn, count, copies), mean, evidence.tolerance
    ):
        if not (
            others
            or _bends(subject, x)
            or _has_mean_if_loud(subject, drawn, count // 2, copies)
        ):
            return failed(
                "With large tokens, the mean of many draws in training is not the "
                "answer of eval: dropout acts on scores as well, before the softmax.",
                draws,
                mistakes=["dropout-on-scores"],
            )
        return passed(
            "Dropout acts in training, and keeps the mean of many draws.", draws
        )
    if others:
        return not_applicable(
            f"Besides attention it has {others[0]}, which may move the mean."
        )
    if _bends(subject, x):
        return not_applicable(
            "The result is not linear in the values: something behind attention, such "
            "as a norm, may move the mean."
        )
    return failed(
        "The mean of many draws in training is not the answer of eval: dropout acts on "
        "scores, or what is kept does not grow by 1 / (1 - p).",
        draws,
    )


def _without_others(evidence: Evidence) -> tuple[Subject, tuple[str, ...]]:
    """Take off what stands around attention and may move the mean of what is dropped.

    Returns:
        The code, and the names of the weights that are still in it and have no role.
    """
    others = tuple(evidence.weights.without_role)
    if attends_twice(evidence.subject.target):
        return evidence.subject, (*others, "a second layer of attention")
    for bare in evidence.bare if others else ():
        left = [
            name
            for name in others
            if not any(
                name == one or name.startswith(f"{one}.") for one in bare.removed
            )
        ]
        if not left and _drops(bare.subject, evidence.x):
            return bare.subject, ()
    return evidence.subject, others


@torch.no_grad()
def _drops(subject: Subject, x: Tensor) -> bool:
    """Ask whether anything is dropped: rates may be of what was taken off alone."""
    if not subject.has_dropout:
        return False
    dropping = subject.in_training(dropout=_RATE)
    one, other = (dropping(x, seed=seed) for seed in (1, 2))
    return max_difference(one, other) > same_order_tolerance(one)


@torch.no_grad()
def _bends(subject: Subject, x: Tensor) -> bool:
    """Ask whether what comes out of a single token is not linear in it.

    It gives all its attention to itself. So it is linear, unless something such as a
    norm stands behind attention; and that moves the mean of what is dropped.
    """
    one = x[:1, :1]
    try:
        none, once, twice = (subject(times * one) for times in (0.0, 1.0, 2.0))
    except theirs():
        return False
    return max_difference(none + twice, 2 * once) > tolerance(twice)


@torch.no_grad()
def _shared(subject: Subject, x: Tensor) -> bool:
    """Ask whether equal texts of a batch lose the same in one of the places."""
    if not rate_attributes(subject.target):
        return False
    equal = x[:1].repeat(4, 1, 1)
    for training in _one_at_a_time(subject):
        rows = training(equal)
        apart = max_difference(rows, rows[:1].expand_as(rows))
        alike = apart <= same_order_tolerance(rows)
        if alike and max_difference(rows, subject(equal)) > tolerance(rows):
            return True
    return False


def _one_at_a_time(subject: Subject) -> Iterator[Subject]:
    """Give a copy in training, each time with dropout in another place alone."""
    training = subject.in_training(dropout=0.0)
    for part, name in rate_attributes(training.target):
        setattr(part, name, _RATE)
        yield training
        setattr(part, name, 0.0)


def _large_rate(subject: Subject) -> float:
    """Give a rate at which more is dropped than kept; 0 if none is so large."""
    rates = [getattr(part, name) for part, name in rate_attributes(subject.target)]
    return max((float(one) for one in rates if 0.5 < one < 1), default=0.0)


@torch.no_grad()
def _unused(subject: Subject, x: Tensor) -> str:
    """Name a layer of dropout that drops nothing, if layers alone hold rates."""
    places = rate_attributes(subject.target)
    if not all(isinstance(part, nn.Dropout) for part, _ in places):
        return ""
    if len(places) < 2:
        return ""
    expected = subject.in_training(dropout=0.0)(x)
    for n, training in enumerate(_one_at_a_time(subject)):
        if max_difference(training(x), expected) <= same_order_tolerance(expected):
            modules = training.module.named_modules() if training.module else ()
            named = {one: path for path, one in modules}
            return named[rate_attributes(training.target)[n][0]]
    return ""


@at_the_border
def _near(rows: Tensor, expected: Tensor) -> bool:
    """Ask whether most numbers are nearly as expected."""
    return bool((rows - expected).abs().median() <= 0.1 * expected.abs().median())


def _has_mean(means: Tensor, expected: Tensor, tolerance: float) -> bool:
    """Ask whether a mean is within seven standard errors of what it should be."""
    spread = means.std(dim=0) / math.sqrt(len(means))
    off = (means.mean(dim=0) - expected).abs()
    return bool((off <= 7 * spread + tolerance).all())


@torch.no_grad()
def _has_mean_if_loud(subject: Subject, x: Tensor, count: int, copies: int) -> bool:
    """Ask for the same of tokens so large that a row sees one token alone."""
    loud = _LOUD * x
    expected = subject(loud)
    if not bool(expected.isfinite().all()):
        return True  # another property tells it
    dropping = subject.in_training(dropout=_RATE)
    return any(
        _has_mean(draw(dropping, loud, count, copies), expected, tolerance(expected))
        for draw in (_means, _means_apart)
    )


@torch.no_grad()
def _means(subject: Subject, x: Tensor, count: int, copies: int) -> Tensor:
    """Draw means of a few copies each, many of them in one call.

    Returns:
        `count` means, each of the shape of what the code gives for `x`.
    """
    try:
        calls = [
            _means_of_a_call(subject, x, count // _DRAWS, copies, seed)
            for seed in range(_DRAWS)
        ]
    except theirs():  # it may take no batch of that size
        return _means_apart(subject, x, count, copies)
    return torch.cat(calls)


@torch.no_grad()
def _means_apart(subject: Subject, x: Tensor, count: int, copies: int) -> Tensor:
    """Draw each mean in a call of its own, for code that draws once for a batch."""
    calls = [_means_of_a_call(subject, x, 1, copies, seed) for seed in range(count)]
    return torch.cat(calls)


def _means_of_a_call(
    subject: Subject, x: Tensor, count: int, copies: int, seed: int
) -> Tensor:
    rows = subject(x.repeat(count * copies, 1, 1), seed=seed)
    return rows.unflatten(0, (count, copies, -1)).mean(dim=1)
