"""Properties of who sees whom."""

import torch
from torch import Tensor

from headway.checks.examined import Examined
from headway.checks.outcomes import Outcome, failed, noise, passed, unasked
from headway.checks.seeing import distance, pattern

_REASONS = {
    "every token": "no mask acts, or the result of hiding is dropped",
    "itself and the future": "the triangle of the mask is flipped",
    "the future and not itself": "the mask is inverted: True means the opposite here",
    "the past, itself and the next token": "the triangle is shifted by one place",
    "the past and not itself": "the triangle is shifted by one place",
    "the token before, itself and the future": "the triangle is flipped and shifted",
    "only itself": "tokens never meet",
}


def leak(it: Examined) -> Outcome:
    """Change later tokens, softly and wildly, in eval and in training."""
    if not it.causal:
        return unasked("It is not meant to hide the future.")
    modes = {"in eval": _leak(it)}
    with it.subject.training(dropout=0.0):
        modes["in training"] = _leak(it)
    if it.subject.drops:
        with it.subject.training(dropout=0.5):
            modes["in training with dropout"] = _leak(it)
    worst = max(modes, key=lambda mode: modes[mode])
    if not modes[worst]:
        return passed("No row moves when a later token is changed.", 0)
    where, reason = "", _seen(it)
    if not all(modes.values()):
        where = f" {worst}"
        if not modes["in eval"]:
            reason = "In eval none does: the mask hangs on a mode or on dropout."
    random = not modes["in eval"] and not modes["in training"]  # by what was dropped
    return failed(
        f"A row moves{where} when a later token is changed. {reason}".strip(),
        None if random else modes[worst],
    )


def _leak(it: Examined) -> float:
    """Give how far a row moves by what comes after it, at the volume where it does."""
    for before, after in ((1.0, 1.0), (1.0, 1e3), (1e3, 1.0)):
        moved = _moved(it, before * it.x, after * it.subject.tokens(seed=1))
        if moved:
            return moved
    return 0.0


def _moved(it: Examined, x: Tensor, y: Tensor) -> float:
    """Give how far a row moves when all after it is exchanged; noise is nothing."""
    worst = 0.0
    with torch.no_grad():
        rows = it.subject(x)
        for s in range(1, it.subject.T):
            changed = it.subject(torch.cat([x[:, :s], y[:, s:]], dim=1))
            worst = max(worst, float(distance(changed[:, :s], rows[:, :s]).max()))
    return worst if worst > noise(rows) else 0.0


def _seen(it: Examined) -> str:
    name = pattern(it.seen)
    if name == "itself and the past":
        return "Loud tokens get through, so hidden scores are not low enough."
    if name in _REASONS:
        return f"A row sees {name}: {_REASONS[name]}."
    wrong = (it.seen & ~it.allowed).nonzero()
    if not len(wrong):
        return ""
    t, s = (int(n) + 1 for n in wrong[0])
    return (
        f"Row {t} sees token {s}: look at the axis of the softmax, and at how heads "
        "are split and merged."
    )


def past(it: Examined) -> Outcome:
    """Ask that each token moves every row that may see it."""
    blind = it.allowed & ~it.seen
    if it.window and not bool(it.seen.triu(1).any()):
        return passed(f"A row sees the latest {it.window} tokens: a window.", it.window)
    count = int(blind.sum())
    if not count:
        return passed("Every token moves every row that may see it.", 0)
    t, s = (int(n) + 1 for n in blind.nonzero()[0])
    name = pattern(it.seen)
    reason = f"A row sees {name}: {_REASONS[name]}." if name in _REASONS else ""
    return failed(
        f"Row {t} does not see token {s}, which it may see; so in {count} of "
        f"{int(it.allowed.sum())} places. {reason}".strip(),
        count,
    )


def texts(it: Examined) -> Outcome:
    """Ask that the texts of a batch do not move each other."""
    T = it.subject.T
    own = torch.eye(it.subject.B, dtype=torch.bool)[:, None, :, None]
    worst = float(it.moved.masked_fill(own, 0.0).max())
    if worst <= it.noise:
        return passed("No text moves another of its batch.", 0)
    within = it.moved.masked_fill(~own, 0.0)
    apart = torch.eye(T, dtype=torch.bool)[:, None, :]
    meet = within.masked_fill(apart[None], 0.0).max() > it.noise
    reason = (
        "A mean over the batch, a softmax over it, or a reshape mixes them."
        if meet
        else "Tokens see only those of the same place in other texts: the axes of "
        "texts and tokens are swapped (batch_first?)."
    )
    return failed(f"A change in one text moves another. {reason}", worst)
