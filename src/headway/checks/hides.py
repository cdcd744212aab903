"""Properties of masks that a caller passes."""

from dataclasses import replace

import torch
from torch import Tensor

from headway.checks import naming
from headway.checks.examined import Examined
from headway.checks.mask_search import candidates, example
from headway.checks.masking import Mask
from headway.checks.outcomes import Outcome, error, failed, passed, unasked
from headway.checks.subject import in_type

_LOUD = 1e3
_REASONS = {
    "nothing": "It takes {}, and {} changes nothing.",
    "numbers": "{} changes numbers and hides no token: it hides rows and not columns, "
    "or it is added where it should exclude.",
}


def obeyed(it: Examined) -> Outcome:
    """Ask that each mask that is taken hides what it says."""
    for name, what in it.masks.wrong.items():
        layer = naming.one_of_many(it.subject)
        if layer and what not in _REASONS:
            return unasked(f"It has several layers, and this holds of one: {layer}.")
        reason = _REASONS.get(what, f"With {{}}, a row {what}.")
        return failed(reason.format(name, name))
    for mask in it.masks.masks:
        if mask.argument == "key_padding_mask" and mask.meaning == "True may look":
            return failed(
                "In its key_padding_mask, True may look. In PyTorch's, True is "
                "padding: who hands that over sees padding and nothing else."
            )
    if not it.masks.masks:
        return unasked(
            "It takes no mask."
            if not candidates(it.subject)
            else "No form of mask was found that it takes."
        )
    for mask in it.masks.masks:
        if _changes(it, mask):
            return failed(f"It changes its {mask.argument} in place.")
    said = [f"{m.argument} {m.shape}: {m.meaning}" for m in it.masks.masks]
    return passed(f"It obeys {'; '.join(said)}.", len(said))


def _changes(it: Examined, mask: Mask) -> bool:
    """Ask whether a call changes the mask that it is given."""
    keep = example(mask, it.subject.B, it.subject.T).clone().to(it.x.device)
    given = mask(keep, it.x.dtype)
    before = {name: one.clone() for name, one in given.items()}
    with torch.no_grad():
        it.subject(it.x, **given)
    return any(not torch.equal(one, before[name]) for name, one in given.items())


def padding(it: Examined) -> Outcome:
    """Ask that a padded batch gets what each text gets alone."""
    mask = it.masks.key or it.masks.texts or it.masks.pair
    if mask is None:
        return unasked("It takes no mask that could hide padding.")
    T = it.subject.T
    # Of code that hides the future, no text sees what comes after it anyway.
    before = it.causal and not it.subject.positions
    kept = [torch.arange(T) < max(T - 2 * b, 1) for b in range(it.subject.B)]
    kept = [one.flip(0) for one in kept] if before else kept
    keep = torch.stack(kept)
    # Padding may be loud; a hidden score that is only quite low lets it through.
    x = torch.where(keep[..., None].to(it.x.device), it.x, _LOUD * it.x)
    with torch.no_grad():
        rows = _with_mask(it, mask, keep[:, None].expand(-1, T, -1), x)
        worst = max(
            error(it.subject(it.x[b : b + 1, one]), rows[b : b + 1, one])
            for b, one in enumerate(kept)
        )
    if worst <= it.tolerance:
        return passed("A padded batch gets what each text gets alone.", worst)
    return failed(
        "In a padded batch the real tokens get something else than alone: padding is "
        "seen, or hidden only in part.",
        worst,
    )


def empty(it: Examined) -> Outcome:
    """Hide all keys from one row, or one text: the rest must not notice.

    Code that shares in 32 bits inside, and hides with the lowest number of 64, must not
    be blamed for this mixture: it is asked in 32 bits throughout.
    """
    mask = it.masks.pair or it.masks.key
    if mask is None:
        return unasked("It takes no mask that could hide everything.")
    outcome = _empty(it, mask)
    if outcome.verdict == "passed" or it.subject.dtype == torch.float32:
        return outcome
    subject = in_type(it.subject, torch.float32)
    x = it.x.float()
    with torch.no_grad():
        rows = subject(x)
    return _empty(replace(it, subject=subject, x=x, rows=rows), mask)


def _empty(it: Examined, mask: Mask) -> Outcome:
    B, T = it.subject.B, it.subject.T
    keep = torch.ones(B, T, T, dtype=torch.bool)
    hidden = torch.zeros(B, T, dtype=torch.bool)
    if mask.of_keys:
        hidden[0] = True
    else:
        hidden[:, 3 % T] = True
    keep[hidden] = False
    x = it.x.clone().requires_grad_()
    with torch.no_grad():
        used = _with_mask(it, mask, keep)
    rows = _with_mask(it, mask, keep, x)
    worst = error(used[~hidden], it.rows[~hidden])
    if worst > it.tolerance:
        return failed("A row that sees nothing changes other rows.", worst)
    for one, mode in ((rows, ""), (used, " without gradients")):
        if not bool(one.isfinite().all()):
            return failed(
                f"A row that sees nothing is nan{mode}, and poisons all that is "
                "computed from it, the gradients of other rows as well."
            )
    if rows.requires_grad:
        rows.sum().backward()
        if x.grad is None or not bool(x.grad.isfinite().all()):
            return failed("A row that sees nothing makes gradients nan.")
    return passed("A row that sees nothing is finite, and so are all gradients.", 0)


def _with_mask(
    it: Examined, mask: Mask, keep: Tensor, x: Tensor | None = None
) -> Tensor:
    """Call with a mask for each text; one text at a time if it can hold only one."""
    x = it.x if x is None else x
    keep = keep.to(x.device)
    if mask.of_texts:
        return it.subject(x, **mask(keep, x.dtype))
    single = [
        it.subject(x[b : b + 1], **mask(keep[b : b + 1], x.dtype))
        for b in range(len(x))
    ]
    return torch.cat(single)
