"""Who sees whom: nothing of the future, and all of the past."""

import math

import torch
from torch import Tensor

from headway.checks.core import intent
from headway.checks.core.errors import describe, theirs
from headway.checks.core.outcome import (
    Cause,
    Outcome,
    failed,
    not_applicable,
    note,
    passed,
)
from headway.checks.core.tolerance import largest, same_order_tolerance
from headway.checks.model.model_evidence import ModelEvidence, moves
from headway.checks.model.source_padding import is_read

_RATE = 0.3
_LONG = 131  # a prime, and longer than most blocks and windows of small models
_BOTH = "It is meant to see both sides."


def leak(evidence: ModelEvidence) -> Outcome:
    """Ask that logits stay when later tokens change."""
    if not evidence.subject.causal:
        return not_applicable(_BOTH)
    if not evidence.leaks:
        worst = float(evidence.ahead.max())
        return passed("No logits move when all later tokens change.", worst)
    worst = evidence.far_ahead
    if worst <= 64 * torch.finfo(torch.float32).eps * largest(evidence.logits):
        return note(
            "Logits move a little when later tokens change: a number of 32 bits is "
            "rounded differently, or the future is hidden by a finite number.",
            worst,
        )
    cause = _pattern(evidence)
    return failed(
        f"{_earliest(evidence.ahead)} {cause.sentence}{_declared(evidence)}",
        worst,
        mistakes=cause.mistakes,
    )


def _declared(evidence: ModelEvidence) -> str:
    """Name what is declared of the future, if it is."""
    causal = evidence.subject.options.causal
    return "" if causal is None else f" Declared: causal={causal}."


def in_training(evidence: ModelEvidence) -> Outcome:
    """Ask the same in training, with dropout: some code takes another way there."""
    if not evidence.subject.causal:
        return not_applicable(_BOTH)
    if evidence.subject.module is None:
        return not_applicable("A function has no training mode.")
    subject, cuts = evidence.subject, range(1, evidence.subject.T)
    dropping = subject.in_training(dropout=_RATE)
    ids = evidence.ids[:1]
    moved = moves(dropping, ids, cuts)
    worst, limit = float(moved.max()), same_order_tolerance(dropping(ids))
    if worst <= limit:
        return passed("In training, too, no logits see later tokens.", worst)
    quiet = moves(subject.in_training(dropout=0.0), ids, cuts)
    if float(quiet.max()) <= limit:
        return failed(
            f"{_earliest(moved)} It does so in training with dropout, and not "
            "without: a branch for dropout drops the mask.",
            worst,
        )
    return failed(
        f"{_earliest(moved)} It does so in training, and not in eval: a branch for "
        "training drops the mask, or takes something over the whole text or batch.",
        worst,
        explains=("training",),
    )


def long(evidence: ModelEvidence) -> Outcome:
    """Ask the same of a long text: blocks, windows and chunks come in there."""
    subject = evidence.subject
    if not subject.causal:
        return not_applicable(_BOTH)
    T = min(_LONG, subject.context_length or _LONG)
    if T <= subject.T:
        return not_applicable(f"Its context of {T} tokens is short.")
    ids = subject.ids(1, T)
    try:
        before = subject(ids)
    except theirs() as raised:
        sentence = f"A text of {T} tokens raised {describe(raised)}."
        known = subject.context_length is not None
        return failed(sentence) if known else not_applicable(sentence)
    cuts = sorted({1, T // 7, T // 3, T // 2, T - 2, T - 1} & {*range(1, T)})
    moved = moves(subject, ids, cuts)
    worst = float(moved.max())
    if worst <= same_order_tolerance(before):
        return passed(f"In a text of {T} tokens no logits see later ones.", worst)
    return failed(
        f"{_earliest(moved, cuts)} It does so in a text of {T} tokens, and not of "
        f"{subject.T}: look at what begins with length, such as blocks or chunks.",
        worst,
    )


def past(evidence: ModelEvidence) -> Outcome:
    """Ask that logits move with every token that they may see."""
    moved = evidence.influence > evidence.same_order_tolerance
    T = len(moved)
    asked = torch.ones(T, T, dtype=torch.bool)
    if evidence.subject.causal:
        asked = asked.triu()  # (s, t): the token at s comes first
    unseen = (asked & ~moved.cpu()).nonzero().tolist()
    if evidence.source is not None and not is_read(evidence.source, evidence.ids):
        return failed("Logits do not move with the source: it is not read.")
    if not unseen:
        return passed("Every token moves all logits that may see it.", 0)
    if evidence.subject.dtype == torch.bfloat16:
        return not_applicable("Bfloat16 may round away what a single token moves.")
    if evidence.leaks and unseen == asked.triu(1).nonzero().tolist():
        return failed(
            "No earlier token counts: the mask is inverted.",
            len(unseen),
            mistakes=["mask-inverted"],
        )
    if reach := _reach(moved.cpu(), asked):
        if intent.has_window(evidence.subject.target):
            return passed(
                f"Logits move with the last {reach} tokens, as far as windows reach.",
                reach,
            )
        return failed(
            f"Logits move with the last {reach} tokens alone: a window is in use that "
            "no name tells of, or a part of the past is cut off.",
            len(unseen),
        )
    if unseen == [[t, t] for t in range(T)]:
        return note(
            "Logits move with all earlier tokens and not with their own: the model "
            "moves its input on by one, so logits are of the token where they stand. "
            "Compare them with the ids as they are, and not with the next ones."
        )
    s, t = unseen[-1]
    return failed(
        f"Logits at token {t + 1} do not move with token {s + 1}, and so with "
        f"{len(unseen)} pairs of {int(asked.sum())}: {_unseen(unseen, asked)}."
        + _declared(evidence),
        len(unseen),
    )


def _earliest(moved: Tensor, cuts: list[int] | None = None) -> str:
    cut, t = divmod(int(moved.argmax()), moved.shape[-1])
    later = cuts[cut] if cuts else cut + 1
    return f"Logits at token {t + 1} move when those from token {later + 1} on change."


def _pattern(evidence: ModelEvidence) -> Cause:
    """Say which later tokens are seen, and so what is probably wrong."""
    T = evidence.subject.T
    moved = (evidence.influence > evidence.same_order_tolerance).cpu()
    seen = {(s, t) for s, t in moved.tril(-1).nonzero().tolist()}
    if not seen:
        return Cause("No single token does it, only several at once.")
    every = {(s, t) for s in range(T) for t in range(s)}
    if seen == every and not moved.triu(1).any():
        return Cause(
            "Each sees what comes after it, and nothing before: the mask is inverted, "
            "and hides what it should show.",
            "mask-inverted",
        )
    if seen == every:
        return Cause(
            "Each sees the whole text: no mask acts, or something is taken over all "
            "tokens, such as a mean."
        )
    if seen == {(t + 1, t) for t in range(T - 1)}:
        return Cause(
            "Each sees the next token alone: a mask or a shift is off by one.",
            "mask-shows-next",
        )
    for k in range(2, T):
        if seen == {(s, t) for s in range(T) for t in range(s) if s // k == t // k}:
            return Cause(
                f"Each sees the rest of its block of {k} tokens: what is computed "
                "over a block is given to all of it.",
                "block-sees-itself",
            )
    last = min(s for s, _ in seen)
    if last == T - 1:
        return Cause("Each sees the last token: something wraps round.", "wraps-round")
    ahead = max(s - t for s, t in seen)
    if ahead < T - 1 and all((t + 1, t) in seen for t in range(T - 1)):
        return Cause(f"Each sees up to {ahead} tokens ahead.")
    return Cause(f"{len(seen)} of {math.comb(T, 2)} pairs see ahead.")


def _reach(moved: Tensor, asked: Tensor) -> int | None:
    """Give the number of the latest tokens that count, if these and no others do."""
    T = len(moved)
    behind = torch.arange(T) - torch.arange(T).unsqueeze(-1)
    reach = int((moved & asked).sum(dim=0).max())
    near = asked & (behind < reach)
    return reach if torch.equal(moved & asked, near) and reach > 1 else None


def _unseen(unseen: list[list[int]], asked: Tensor) -> str:
    if len(unseen) == int(asked.sum()):
        return "the ids do not arrive"
    if all(s < t for s, t in unseen) and len(unseen) == int(asked.triu(1).sum()):
        return "tokens do not meet"
    return "a mask hides what it should show"
