"""What targets change: no logits; and the loss that is computed of both."""

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from headway.checks.core.errors import describe, theirs
from headway.checks.core.outcome import (
    Cause,
    Outcome,
    failed,
    not_applicable,
    note,
    passed,
)
from headway.checks.core.tolerance import max_difference
from headway.checks.model.model_calls import logits_of, tensors_of
from headway.checks.model.model_evidence import ModelEvidence
from headway.checks.model.model_subject import ModelSubject

# How far behind its logits a target may be taken, in tokens.
_SHIFTS = (-1, 0, 1, 2)
_NEAR = 1e-4  # losses are often computed in 32 bits
# By the convention of its argument, who moves the targets by one.
_MOVED_INSIDE = ("labels",)
_SAYS = {
    -1: Cause(
        "The loss is of the token before: logits are compared with an earlier target.",
        "loss-of-token-before",
    ),
    2: Cause(
        "The loss is of the token after the next: targets are moved twice.",
        "loss-shifted-twice",
    ),
}
# What says in a target that it does not count: PyTorch's number, then nanoGPT's.
_IGNORED = (-100, -1)


def with_targets(evidence: ModelEvidence) -> Outcome:
    """Ask that targets change no logits, and that the loss is of the next token."""
    subject, ids = evidence.subject, evidence.ids
    if "targets" not in subject.call.names:
        return not_applicable("It takes no targets.")
    if not subject.call.with_targets:
        try:
            logits = subject(ids, targets=_as_called(subject, ids))
        except theirs():
            return not_applicable("With targets it gives no logits for each token.")
        expected = evidence.logits
        if logits.shape != expected.shape:
            of, to = logits.shape[-1], expected.shape[-1]
            return failed(
                f"With targets there are {of} logits for a token, and {to} without."
            )
        worst = max_difference(logits, expected)
    else:
        last = _last(subject, ids)
        expected = evidence.logits[:, -1]
        worst = max_difference(last, expected)
    if worst <= evidence.tolerance:
        return _of_loss(evidence, worst)
    return failed(
        "With targets the logits differ from those without: the loss is taken of "
        "something different from what is used later.",
        worst,
    )


def _last(subject: ModelSubject, ids: Tensor) -> Tensor:
    """Give the logits of the last token, as they are without targets."""
    with torch.no_grad():
        result = subject.call.invoke(subject.target, ids.clone(), {})
    logits = result[0] if isinstance(result, (tuple, list)) else result
    logits = getattr(logits, "logits", logits)
    assert isinstance(logits, Tensor)  # noqa: S101  # the call was chosen for it
    return logits.reshape(len(ids), -1, logits.shape[-1])[:, -1]


def _of_loss(evidence: ModelEvidence, figure: float) -> Outcome:
    """Say which token the loss is of, if it is the cross-entropy of one."""
    name = evidence.subject.call.names["targets"]
    shift = _shift(evidence.subject, evidence.ids)
    same = "Targets change no logits"
    if shift is None:
        return passed(f"{same}, and the loss is none that is known here.", figure)
    if shift in _SAYS:
        sentence, _ = _SAYS[shift]
        return failed(sentence, mistakes=_SAYS[shift].mistakes)
    inside = name in _MOVED_INSIDE
    if (shift == 1 or not inside) and (wrong := _of_ignored(evidence, name, shift)):
        return wrong
    if shift == 1:
        said = f"the loss is of the next token if {name} are the ids"
        if inside:
            return passed(f"{same}, and {said}.", figure)
        return note(
            f"{same}, and {said}, since they are moved by one inside. If they are "
            "moved before, too, the loss is of the token after the next.",
            figure,
        )
    if inside and evidence.subject.causal:
        return failed(
            f"If {name} are the ids, the loss is of the token that is read, and not of "
            "the next: compare logits[:, :-1] with labels[:, 1:].",
            mistakes=["loss-not-shifted"],
        )
    return passed(
        f"{same}, and the loss is of the next token if {name} are the next ids.", figure
    )


def _of_ignored(evidence: ModelEvidence, name: str, shift: int) -> Outcome | None:
    """Ask that targets which do not count leave the loss, and its mean."""
    subject, ids = evidence.subject, evidence.ids
    first = ids.shape[1] - ids.shape[1] // 3
    errors = []
    for number in _IGNORED:
        targets = ids.clone()
        targets[:, first:] = number
        try:
            logits, loss = _loss(subject, ids, targets)
        except theirs() as raised:
            errors.append(describe(raised))
            continue
        near = _NEAR * max(1.0, abs(loss))
        if abs(_cross_entropy(logits, targets, shift, number) - loss) <= near:
            return None
        counted = targets.clamp(min=0)
        kept = (targets[:, max(shift, 0) :] != number).double().mean()
        of_all = float(kept) * _cross_entropy(logits, targets, shift, number)
        for wrong, how in (
            (_cross_entropy(logits, counted, shift), "as tokens"),
            (of_all, "in the mean"),
        ):
            if abs(wrong - loss) <= near:
                return failed(
                    f"{name} of {number}, which are to be left out of the loss, count "
                    f"{how}.",
                    mistakes=["loss-counts-ignored"],
                )
    if len(errors) == len(_IGNORED) and name in _MOVED_INSIDE:
        return note(
            f"{name} of {_IGNORED[0]}, which say in most code that a token does not "
            f"count, raised {errors[0]}."
        )
    return None


def _as_called(subject: ModelSubject, ids: Tensor) -> Tensor:
    """Give a copy of ids, with time first if the model takes them so."""
    return ids.mT.contiguous() if subject.call.time_first else ids.clone()


def _shift(subject: ModelSubject, ids: Tensor) -> int | None:
    """Find how far behind its logits a target is taken, if that explains the loss."""
    logits, loss = _loss(subject, ids, ids)
    if math.isnan(loss) or logits.shape[-1] < subject.vocab_size:
        return None
    losses = {shift: _cross_entropy(logits, ids, shift) for shift in _SHIFTS}
    near = _NEAR * max(1.0, abs(loss))
    fitting = [shift for shift, one in losses.items() if abs(one - loss) <= near]
    return fitting[0] if len(fitting) == 1 else None


def _loss(subject: ModelSubject, ids: Tensor, targets: Tensor) -> tuple[Tensor, float]:
    """Give the logits, with texts first, and the loss; nan if there is none."""
    given = _as_called(subject, ids)
    extra = {"targets": _as_called(subject, targets)}
    with torch.no_grad():
        result = subject.call.invoke(subject.target, given.clone(), extra)
    logits = logits_of(result, given, subject.vocab_size).double()
    logits = logits.transpose(0, 1) if subject.call.time_first else logits
    return logits, _scalar(result)


def _cross_entropy(
    logits: Tensor, targets: Tensor, shift: int, ignored: int = _IGNORED[0]
) -> float:
    """Give the mean loss of logits at t with targets at t + shift."""
    T = targets.shape[1]
    first, last = max(0, -shift), min(T, T - shift)
    rows = logits[:, first:last]
    expected = targets[:, first + shift : last + shift]
    flat = rows.flatten(0, 1), expected.flatten()
    return float(cross_entropy(*flat, ignore_index=ignored))


def _scalar(result: Any) -> float:
    """Find the loss in what a model returned: the only number, or what is so called.

    It is nan if there is no number.
    """
    named = getattr(result, "loss", None)
    found = [one for one in (named, *tensors_of(result)) if isinstance(one, Tensor)]
    numbers = [float(one) for one in found if one.numel() == 1]
    return numbers[0] if numbers else math.nan
