"""What targets change: no logits; and the loss that is computed of both."""

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from headway.checks.core.errors import theirs
from headway.checks.core.outcome import Outcome, failed, not_applicable, note, passed
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
    -1: "The loss is of the token before: logits are compared with an earlier target.",
    2: "The loss is of the token after the next: targets are moved twice.",
}


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
        return failed(_SAYS[shift])
    inside = name in _MOVED_INSIDE
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
            "the next: compare logits[:, :-1] with labels[:, 1:]."
        )
    return passed(
        f"{same}, and the loss is of the next token if {name} are the next ids.", figure
    )


def _as_called(subject: ModelSubject, ids: Tensor) -> Tensor:
    """Give a copy of ids, with time first if the model takes them so."""
    return ids.mT.contiguous() if subject.call.time_first else ids.clone()


def _shift(subject: ModelSubject, ids: Tensor) -> int | None:
    """Find how far behind its logits a target is taken, if that explains the loss."""
    given = _as_called(subject, ids)
    with torch.no_grad():
        result = subject.call.invoke(
            subject.target, given.clone(), {"targets": given.clone()}
        )
    logits = logits_of(result, given, subject.vocab_size).double()
    logits = logits.transpose(0, 1) if subject.call.time_first else logits
    loss = _scalar(result)
    if loss is None or logits.shape[-1] < subject.vocab_size:
        return None
    losses = {shift: _cross_entropy(logits, ids, shift) for shift in _SHIFTS}
    near = _NEAR * max(1.0, abs(loss))
    fitting = [shift for shift, one in losses.items() if abs(one - loss) <= near]
    return fitting[0] if len(fitting) == 1 else None


def _cross_entropy(logits: Tensor, targets: Tensor, shift: int) -> float:
    """Give the mean loss of logits at t with targets at t + shift."""
    T = targets.shape[1]
    first, last = max(0, -shift), min(T, T - shift)
    rows = logits[:, first:last]
    expected = targets[:, first + shift : last + shift]
    return float(cross_entropy(rows.flatten(0, 1), expected.flatten()))


def _scalar(result: Any) -> float | None:
    """Find the loss in what a model returned: the only number, or what is so called."""
    named = getattr(result, "loss", None)
    found = [one for one in (named, *tensors_of(result)) if isinstance(one, Tensor)]
    numbers = [float(one) for one in found if one.numel() == 1]
    return numbers[0] if numbers else None
