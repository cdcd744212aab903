"""Sixteen bits against the same model in more."""

from functools import partial

import torch
from torch import Tensor, nn

from headway.checks.core.errors import describe, theirs
from headway.checks.core.outcome import Outcome, failed, not_applicable, note, passed
from headway.checks.model.model_evidence import ModelEvidence, moves

_LARGE = 1_000_000  # numbers in a matrix; more are drawn in 32 bits, which is faster
_FEW = 6.0  # times the error of rounding the weights alone
_TYPES = (torch.bfloat16, torch.float16)


def half(evidence: ModelEvidence) -> Outcome:
    """Ask that sixteen bits lose no more than rounding the weights does, a few times.

    No fixed number will do: what a rounded weight costs depends on the model. The
    weights may have been rounded before, so they are moved as rounding would.
    """
    if evidence.subject.module is None:
        return not_applicable("A function has no weights to round.")
    if evidence.subject.dtype.itemsize == 2:
        return not_applicable("It is checked in 16 bits, as it came.")
    worst, reasons = 0.0, []
    for dtype in _TYPES:
        name = str(dtype).removeprefix("torch.")
        rounded = evidence.subject.changed(partial(_jitter, dtype=dtype))
        unavoidable = _size(rounded(evidence.ids) - evidence.logits)
        narrow = evidence.subject.copy(dtype)
        try:
            logits = narrow(evidence.ids)
            moved = moves(narrow, evidence.ids[:1], (1, narrow.T // 2, narrow.T - 1))
        except theirs() as raised:
            reasons.append(f"In {name} it raised {describe(raised)}.")
            continue
        if not logits.isfinite().all():
            return failed(f"In {name} some logits are not finite.")
        ratio = _size(logits.double() - evidence.logits) / max(unavoidable, 1e-30)
        if ratio > _FEW:
            return failed(
                f"In {name} logits are off by {ratio:.0f} times what rounding the "
                "weights costs: something needs more bits inside, such as a norm, a "
                "softmax or angles.",
                ratio,
            )
        hidden = evidence.subject.causal and not evidence.leaks
        if hidden and float(moved.max()) > 0.0:
            return failed(f"In {name} logits move when later tokens change.")
        worst = max(worst, ratio)
    missing = [one for one in reasons if "not implemented" in one]
    if len(missing) == len(_TYPES):
        return not_applicable(reasons[0])
    if len(reasons) > len(missing):
        return note(next(one for one in reasons if one not in missing))
    return passed("Sixteen bits cost little more than rounding weights.", worst)


def _jitter(module: nn.Module, dtype: torch.dtype) -> None:
    """Move each weight at random, by up to what rounding may move it."""
    generator = torch.Generator().manual_seed(5)
    half_a_unit = torch.finfo(dtype).eps / 2
    with torch.no_grad():
        for weight in module.parameters():
            kind = torch.float64 if weight.numel() <= _LARGE else torch.float32
            drawn = torch.rand(weight.shape, generator=generator, dtype=kind)
            factor = drawn.mul_(2 * half_a_unit).add_(1 - half_a_unit)
            weight.mul_(factor.to(weight.device, weight.dtype))


def _size(x: Tensor) -> float:
    """Give the root of the mean of squares."""
    return float(x.double().square().mean().sqrt())
