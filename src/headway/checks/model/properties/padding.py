"""Texts of different lengths: padded right, padded left, and packed into one row."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from headway.checks.errors import describe
from headway.checks.model.evidence import Evidence
from headway.checks.model.masks import find_pair_mask
from headway.checks.model.subject import Subject
from headway.checks.outcome import Outcome, failed, not_applicable, note, passed
from headway.checks.tolerance import max_difference


def right(evidence: Evidence) -> Outcome:
    """Ask that padding behind a text changes nothing."""
    subject = evidence.subject
    form, _ = evidence.mask
    if form is None and not subject.causal:
        return _without_mask(evidence)
    ids, real = _padded(evidence, left=False)
    extra = {} if form is None else {"mask": form(real)}
    worst = _apart(evidence, subject(ids, **extra), real)
    if worst <= evidence.tolerance:
        return passed("Padding behind a text moves none of its logits.", worst)
    return failed("Padding behind a text moves its logits.", worst)


def left(evidence: Evidence) -> Outcome:
    """Ask that padding before a text changes nothing."""
    subject = evidence.subject
    form, _ = evidence.mask
    if form is None:
        return _without_mask(evidence)
    ids, real = _padded(evidence, left=True)
    extra = {"mask": form(real)}
    plain = subject(ids, **extra)
    worst = _apart(evidence, plain, real)
    if "positions" in subject.call.names:
        extra["positions"] = (real.long().cumsum(-1) - 1).clamp(min=0)
        plain = subject(ids, **extra)
        worst = _apart(evidence, plain, real)
    if worst > evidence.tolerance and "positions" in subject.call.names:
        return failed(
            "Padding before a text moves its logits, though the mask hides it and "
            "positions begin behind it.",
            worst,
        )
    if worst > evidence.tolerance:
        return note(
            "Padding before a text moves its logits: positions count it, and no "
            "argument tells them. Pad behind texts.",
            worst,
        )
    if not plain.isfinite().all():
        return note("Logits of the padding are not finite; a loss must leave them out.")
    return passed("Padding before a text moves none of its logits.", worst)


def _without_mask(evidence: Evidence) -> Outcome:
    reason = evidence.mask[1]
    if not reason:
        return not_applicable("It takes no mask, so padding cannot be told.")
    name = evidence.subject.call.names["mask"]
    if reason.startswith("it raised"):
        return not_applicable(f"No form of {name} is known that it takes; {reason}.")
    return failed(f"{name} does not hide padding: {reason}.")


def packed(evidence: Evidence) -> Outcome:
    """Ask that two texts in one row get what they get alone."""
    subject, sizes = evidence.subject, _sizes(evidence.subject.T)
    alone = torch.cat(
        [subject(evidence.ids[k : k + 1, :n]) for k, n in enumerate(sizes)], dim=1
    )
    row = torch.cat(
        [evidence.ids[k : k + 1, :n] for k, n in enumerate(sizes)], dim=1
    )
    reasons = []
    for told, asked, extra in _ways(evidence, sizes):
        try:
            worst = max_difference(subject(row, **extra), alone)
            moved = _crosses(subject, row, sizes[0], extra)
        except Exception as raised:  # whatever a reader's code may raise
            reasons.append(f"With {told} it raised {describe(raised)}.")
            continue
        if worst <= evidence.tolerance:
            return passed(f"With {told}, texts in one row are as alone.", worst)
        if asked:
            return failed(f"With {told}, texts in one row are not as alone.", worst)
        if moved <= evidence.noise:
            return failed(
                f"With {told}, texts in one row do not see each other, and yet are "
                "not as alone.",
                worst,
            )
        reasons.append(f"With {told}, texts in one row see each other.")
    reasons.append("It takes nothing that tells where a text in a row begins.")
    return not_applicable(reasons[0])


def _ways(
    evidence: Evidence, sizes: list[int]
) -> list[tuple[str, bool, Mapping[str, Any]]]:
    """List the ways to say where a text begins, and whether they can mean nothing else.

    The third part are the arguments.
    """
    names, device = evidence.subject.call.names, evidence.ids.device
    ranges = [torch.arange(n, device=device) for n in sizes]
    begin = {"positions": torch.cat(ranges)[None]} if "positions" in names else {}
    which = torch.repeat_interleave(torch.tensor(sizes)).to(device)[None]
    found: list[tuple[str, bool, Mapping[str, Any]]] = []
    if "documents" in names:
        found.append((names["documents"], True, {"documents": which, **begin}))
    if "ends" in names:
        ends = torch.tensor([0, *torch.tensor(sizes).cumsum(0)], dtype=torch.int32)
        found.append((names["ends"], True, {"ends": ends.to(device), **begin}))
    if begin:
        found.append((f"{names['positions']} that begin anew", False, begin))
        form = find_pair_mask(evidence.subject, evidence.tolerance)
        if form is not None:
            apart = which[..., None] == which[..., None, :]
            mask = form(torch.ones_like(which, dtype=torch.bool), apart)
            told = f"{names['mask']} of blocks"
            found.append((told, False, {"mask": mask, **begin}))
    return found


def _crosses(
    subject: Subject, row: Tensor, first: int, extra: Mapping[str, Any]
) -> float:
    """Say how far the second text moves with the first."""
    changed = row.clone()
    changed[:, :first] = subject.other(row[:, :first])
    before, after = subject(row, **extra), subject(changed, **extra)
    return max_difference(before[:, first:], after[:, first:])


def _sizes(T: int) -> list[int]:
    return [T // 2, T - T // 2]


def _padded(evidence: Evidence, *, left: bool) -> tuple[Tensor, Tensor]:
    """Put padding beside the texts, and say which tokens are none."""
    T = evidence.subject.T
    lengths = torch.tensor([T, max(T - 3, 1), max(T // 2, 1)])[:, None]
    places = torch.arange(T)
    real = places >= T - lengths if left else places < lengths
    real = real.to(evidence.ids.device)
    ids = torch.full_like(evidence.ids, evidence.subject.pad)
    for k, keep in enumerate(real):
        ids[k, keep] = evidence.ids[k, : int(keep.sum())]
    return ids, real


def _apart(evidence: Evidence, logits: Tensor, real: Tensor) -> float:
    """Say how far the logits of the texts are from what they are alone."""
    worst = 0.0
    for k, keep in enumerate(real):
        alone = evidence.subject(evidence.ids[k : k + 1, : int(keep.sum())])
        worst = max(worst, max_difference(logits[k, keep], alone[0]))
    return worst
