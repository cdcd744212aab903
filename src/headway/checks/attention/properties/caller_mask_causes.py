"""Why a mask does not do what it says: other texts, another mode."""

import torch
from torch import Tensor

from headway.checks.attention.evidence import Evidence
from headway.checks.attention.evidence.masks import Mask, example_table
from headway.checks.core.outcome import Cause, Outcome, failed
from headway.checks.core.tolerance import max_difference, tolerance


@torch.no_grad()
def in_training(evidence: Evidence, mask: Mask) -> Outcome | None:
    """Ask that a mask does the same in training, if all else does."""
    if evidence.subject.module is None:
        return None
    B, T = evidence.subject.B, evidence.subject.T
    training = evidence.subject.in_training(dropout=0.0)
    x = evidence.x
    if max_difference(training(x), evidence.output) > evidence.tolerance:
        return None  # another property tells it
    keep = example_table(mask, B, T).clone().to(x.device)
    rows = training(x, **mask(keep.clone(), x.dtype))
    expected = evidence.subject(x, **mask(keep.clone(), x.dtype))
    worst = max_difference(rows, expected, equal_nan=True)
    if worst <= tolerance(expected):
        return None
    if max_difference(rows, evidence.output) <= evidence.tolerance:
        return failed(
            f"In training {mask.argument} is left out.",
            worst,
            mistakes=["mask-left-out-in-training"],
        )
    return failed(f"In training {mask.argument} acts differently from eval.", worst)


@torch.no_grad()
def each_its_own(evidence: Evidence, mask: Mask) -> Outcome | None:
    """Ask that a text with a mask of its own gets the same alone as beside others."""
    subject, x = evidence.subject, evidence.x
    B, T = subject.B, subject.T
    keep = torch.cat([example_table(mask, 1, T, b % 3) for b in range(B)]).to(x.device)
    together = subject(x, **mask(keep.clone(), x.dtype))
    alone = torch.cat(
        [
            subject(x[b : b + 1], **mask(keep[b : b + 1].clone(), x.dtype))
            for b in range(B)
        ]
    )
    if max_difference(together, alone, equal_nan=True) <= evidence.tolerance:
        return None
    found = whose_mask(evidence, mask)
    why = found.sentence if found else "it acts on texts that it does not belong to"
    return failed(
        f"With a different {mask.argument} for each text, a text gets different rows "
        f"in a batch than alone: {why}.",
        mistakes=found.mistakes if found else (),
    )


@torch.no_grad()
def whose_mask(evidence: Evidence, mask: Mask) -> Cause | None:
    """Say whose mask a text gets, if it is not its own."""
    T, several = evidence.subject.T, max(evidence.subject.B, 3)
    x = evidence.subject.tokens(several)
    keep = torch.ones(several, T, dtype=torch.bool)
    for b in range(several):
        keep[b, (2 * b + 1) % T] = False
    rows = _masked(evidence, mask, x, keep)
    first = _masked(evidence, mask, x, keep[:1].expand(several, -1))
    every = _masked(evidence, mask, x, keep.all(dim=0).expand(several, -1))
    if max_difference(rows, first) <= tolerance(rows):
        return Cause(
            f"{mask.argument} of the first text is used for all texts",
            "mask-of-first-text-for-all",
        )
    if max_difference(rows, every) <= tolerance(rows):
        return Cause(
            f"what {mask.argument} hides in one text is hidden in all texts",
            "masks-of-all-texts-joined",
        )
    for b in range(several):
        changed = keep.clone()
        changed[b] = True
        moved = (_masked(evidence, mask, x, changed) - rows).abs()
        moved[b] = 0.0
        if float(moved.max()) > tolerance(rows):
            return Cause(
                f"a text gets {mask.argument} of another text, as when masks are "
                "repeated for the heads in a different order than texts and heads have",
                "mask-of-another-text",
            )
    return None


def _masked(evidence: Evidence, mask: Mask, x: Tensor, keep: Tensor) -> Tensor:
    table = keep[:, None].expand(-1, keep.shape[1], -1).to(x.device)
    return evidence.subject(x, **mask(table.clone(), x.dtype))
