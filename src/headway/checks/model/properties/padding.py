"""Texts of different lengths: padded right, padded left, and packed into one row."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from headway.checks.core.errors import describe, theirs
from headway.checks.core.outcome import Outcome, failed, not_applicable, note, passed
from headway.checks.core.tolerance import max_difference, same_order_tolerance
from headway.checks.model.logits_tolerance import logits_tolerance
from headway.checks.model.model_evidence import ModelEvidence, distances
from headway.checks.model.model_subject import ModelSubject
from headway.checks.model.padding_masks import find_mask
from headway.checks.model.source_padding import effect_of_mask, moved_by_padding

_AHEAD = (
    "where the mask hides padding, tokens see later ones, so it may stand in the place "
    "of the causal mask"
)


def right(evidence: ModelEvidence) -> Outcome:
    """Ask that padding behind a text, or behind its source, changes nothing."""
    own = _behind(evidence)
    found = None if own.verdict == "failed" else _behind_the_source(evidence)
    return found or own


def _behind_the_source(evidence: ModelEvidence) -> Outcome | None:
    """Ask that padding behind the source of a text changes nothing."""
    source, ids = evidence.source, evidence.ids
    if source is None:
        return None
    masks = " and ".join(source.masks)
    effect = effect_of_mask(source, ids)
    if effect == "nothing":
        return failed(
            f"{masks} changes nothing: padding of the source is read.",
            mistakes=["mask-ignored"],
        )
    if effect == "seen":
        return failed(
            f"With {masks}, logits still move with padding of the source: the encoder, "
            "or the attention to what it gives, does not hide it."
        )
    if effect is None and (named := moved_by_padding(source, ids)):
        return failed(
            f"Padding of the source, {named}, moves logits: the encoder, or the "
            "attention to what it gives, does not hide it."
        )
    if effect is None:
        return None
    return passed(
        "Padding behind a text, or behind its source, moves none of its logits."
    )


def _behind(evidence: ModelEvidence) -> Outcome:
    """Ask that padding behind a text changes nothing."""
    form, subject, _ = evidence.masking
    if form is None and not subject.causal:
        return _without_mask(evidence)
    ids, real = _padded(evidence, left=False)
    extra: dict[str, Any] = {} if form is None else {"mask": form(real)}
    rows = subject(ids, **extra)
    worst = _apart(evidence, rows, real)
    if worst <= logits_tolerance(rows):
        return passed("Padding behind a text moves none of its logits.", worst)
    if form is not None and _see_ahead(subject, ids, real, extra):
        return failed(
            f"Padding behind a text moves its logits: {_AHEAD}.",
            worst,
            explains=("padding-left",),
            mistakes=["mask-replaces-causal"],
        )
    return failed("Padding behind a text moves its logits.", worst)


def left(evidence: ModelEvidence) -> Outcome:
    """Ask that padding before a text changes nothing."""
    form, subject, _ = evidence.masking
    if form is None:
        return _without_mask(evidence)
    ids, real = _padded(evidence, left=True)
    extra: dict[str, Any] = {"mask": form(real)}
    plain = subject(ids, **extra)
    worst = _apart(evidence, plain, real)
    if "positions" in subject.call.names:
        places = (real.long().cumsum(-1) - 1).clamp(min=0)
        extra["positions"] = subject.first_position + places
        plain = subject(ids, **extra)
        worst = _apart(evidence, plain, real)
    if worst > logits_tolerance(plain):
        ahead = _see_ahead(subject, ids, real, extra)
        return _moved_by_padding_before(subject, worst, ahead=ahead)
    if not plain.isfinite().all():
        return note("Logits of the padding are not finite; a loss must leave them out.")
    return passed("Padding before a text moves none of its logits.", worst)


def _moved_by_padding_before(
    subject: ModelSubject, worst: float, *, ahead: bool
) -> Outcome:
    """Say what padding before a text does, where it does something."""
    if ahead:
        return failed(
            f"Padding before a text moves its logits: {_AHEAD}.",
            worst,
            mistakes=["mask-replaces-causal"],
        )
    if "positions" in subject.call.names:
        return failed(
            "Padding before a text moves its logits, though the mask hides it and "
            "positions begin behind it.",
            worst,
        )
    if not _has_positions(subject):
        return note(
            "Padding before a text moves its logits, though positions have no effect: "
            "something else counts it, such as chunks, or a number of tokens.",
            worst,
        )
    return note(
        "Padding before a text moves its logits: positions count it, and no argument "
        "tells them. Pad behind texts.",
        worst,
    )


def _has_positions(subject: ModelSubject) -> bool:
    """Ask whether equal tokens get different logits, which only their places tell."""
    rows = subject(subject.ids(1, 1).expand(1, subject.T))
    first = rows[:, :1].expand_as(rows)
    return max_difference(rows, first) > logits_tolerance(rows)


def _see_ahead(
    subject: ModelSubject, ids: Tensor, real: Tensor, extra: Mapping[str, Any]
) -> bool:
    """Ask whether tokens see the last one of their text, if they are not to."""
    last = real & (real.flip(-1).cumsum(-1).flip(-1) == 1)
    before = subject(ids, **extra)
    after = subject(torch.where(last, subject.other(ids), ids), **extra)
    moved = distances(after, before)[real & ~last]
    return subject.causal and bool((moved > same_order_tolerance(before)).any())


def _without_mask(evidence: ModelEvidence) -> Outcome:
    reason = evidence.masking.reason
    if not reason:
        return not_applicable("It takes no mask, so padding cannot be marked.")
    name = evidence.subject.call.names["mask"]
    if reason.startswith("it raised"):
        return not_applicable(f"No form of {name} is known that it takes; {reason}.")
    return failed(f"{name} does not hide padding: {reason}.")


def packed(evidence: ModelEvidence) -> Outcome:
    """Ask that two texts in one row get what they get alone."""
    sizes = [evidence.subject.T // 2, evidence.subject.T - evidence.subject.T // 2]
    texts = [evidence.ids[k : k + 1, :n] for k, n in enumerate(sizes)]
    row = torch.cat(texts, dim=1)
    reasons = []
    for way in _ways(evidence, sizes):
        subject = way.subject
        try:
            rows = subject(row, **way.extra)
            moved = _crosses(way, row, sizes[0])
        except theirs() as raised:
            reasons.append(f"With {way.told} it raised {describe(raised)}.")
            continue
        alone = torch.cat([subject(one) for one in texts], dim=1)
        worst = max_difference(rows, alone)
        if worst <= logits_tolerance(rows):
            return passed(
                f"With {way.told}, texts in one row give the same as alone.", worst
            )
        apart = moved <= same_order_tolerance(rows)
        if way.sure or apart:
            seen = (
                "do not see each other, but give"
                if apart
                else "see each other and give"
            )
            return failed(
                f"With {way.told}, texts in one row {seen} other logits than alone.",
                worst,
            )
        reasons.append(f"With {way.told}, texts in one row see each other.")
    reasons.append("It takes nothing that tells where a text in a row begins.")
    return not_applicable(reasons[0])


class _Way(NamedTuple):
    """A way to say where a text begins, and whether it can mean nothing else."""

    told: str
    sure: bool
    extra: Mapping[str, Any]
    subject: ModelSubject


def _ways(evidence: ModelEvidence, sizes: list[int]) -> Iterator[_Way]:
    subject, device = evidence.subject, evidence.ids.device
    names = subject.call.names
    begin: dict[str, Any] = {"keep": False} if "keep" in names else {}
    if "positions" in names:
        ranges = [torch.arange(n, device=device) for n in sizes]
        begin["positions"] = subject.first_position + torch.cat(ranges)[None]
    which = torch.repeat_interleave(torch.tensor(sizes)).to(device)[None]
    if "documents" in names:
        extra = {"documents": which, **begin}
        yield _Way(names["documents"], True, extra, subject)
    if "ends" in names:
        ends = torch.tensor([0, sizes[0], sum(sizes)], dtype=torch.int32)
        yield _Way(names["ends"], True, {"ends": ends.to(device), **begin}, subject)
    if "positions" not in names:
        return
    yield _Way(f"{names['positions']} that begin anew", False, begin, subject)
    form, able, _ = find_mask(subject, of_pairs=True)
    if form is not None:
        apart = which[..., None] == which[..., None, :]
        mask = form(torch.ones_like(which, dtype=torch.bool), apart)
        told = f"{names['mask']} of blocks"
        yield _Way(told, False, {"mask": mask, **begin}, able)


def _crosses(way: _Way, row: Tensor, first: int) -> float:
    """Say how far the second text moves with the first."""
    changed = row.clone()
    changed[:, :first] = way.subject.other(row[:, :first])
    before = way.subject(row, **way.extra)
    after = way.subject(changed, **way.extra)
    return max_difference(before[:, first:], after[:, first:])


def _padded(evidence: ModelEvidence, *, left: bool) -> tuple[Tensor, Tensor]:
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


def _apart(evidence: ModelEvidence, logits: Tensor, real: Tensor) -> float:
    """Say how far the logits of the texts are from what they are alone."""
    worst = 0.0
    for k, keep in enumerate(real):
        alone = evidence.masking.subject(evidence.ids[k : k + 1, : int(keep.sum())])
        worst = max(worst, max_difference(logits[k, keep], alone[0]))
    return worst
