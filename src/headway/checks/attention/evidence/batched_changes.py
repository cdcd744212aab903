"""Many changed texts in one call, where texts do not move each other."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from headway.checks.attention.evidence.influence import row_differences
from headway.checks.core.errors import at_the_border, suppress_theirs, theirs
from headway.checks.core.tolerance import (
    max_difference,
    same_order_tolerance,
    tolerance,
)

_MOST_NUMBERS = 2**21  # of the tokens of one call


@at_the_border
def share_a_call(call: Callable[[Tensor], Tensor], x: Tensor) -> bool:
    """Ask whether texts can be put into one call: none moves another there.

    Each text is exchanged as a whole, and a larger batch must give what this one does.
    """
    try:
        before = call(x)
        for b in range(len(x)):
            changed = x.clone()
            changed[b] = x[b - 1].flip(-1) + 0.5
            moved = row_differences(call(changed), before)
            moved[b] = 0.0
            if float(moved.max()) > same_order_tolerance(before):
                return False
        many = call(x.repeat(3, 1, 1))
    except theirs():  # it takes no batch of another size
        return False
    expected = before.repeat(3, 1, 1)
    return max_difference(many, expected, equal_nan=True) <= tolerance(before)


def moved_rows(
    call: Callable[[Tensor], Tensor],
    x: Tensor,
    versions: Sequence[Tensor],
    *,
    together: bool,
) -> Tensor:
    """Measure how far each row moves from a batch to each changed version of it.

    Args:
        call: What gives rows for a batch of texts.
        x: The batch, of shape (B, T, d_in).
        versions: Batches of the same shape.
        together: Whether texts can be put into one call.

    Returns:
        A tensor of shape (versions, B, T). What is not finite counts as unmoved.
    """
    if together:
        with suppress_theirs():  # with a mask it may take no larger batch
            return _in_large_calls(call, x, versions)
    before = call(x)
    return torch.stack([row_differences(call(y), before) for y in versions])


@at_the_border
def _in_large_calls(
    call: Callable[[Tensor], Tensor], x: Tensor, versions: Sequence[Tensor]
) -> Tensor:
    size = max(1, _MOST_NUMBERS // x.numel())
    parts = [versions[at : at + size] for at in range(0, len(versions), size)]
    found = []
    for part in parts:  # in batches of the same size, random numbers are the same too
        rows, before = call(torch.cat([*part])), call(x.repeat(len(part), 1, 1))
        found.append(row_differences(rows, before).unflatten(0, (len(part), -1)))
    return torch.cat(found)


def moved_vectors(
    call: Callable[[Tensor], Tensor], x: Tensor, versions: Sequence[Tensor]
) -> Tensor:
    """Give what each row moves by, of shape (versions, B, T, width)."""
    before = call(x)
    return torch.stack([call(y) - before for y in versions])


def each_token_changed(x: Tensor) -> list[Tensor]:
    """Give versions of a batch, in each of which one token of every text is changed."""
    versions = []
    for s in range(x.shape[1]):
        changed = x.clone()
        changed[:, s] = x[:, s - 1].roll(1, dims=0).flip(-1) + 0.5
        versions.append(changed)
    return versions


def influence(call: Callable[[Tensor], Tensor], x: Tensor, *, together: bool) -> Tensor:
    """Measure how far each row moves when one token of one text is changed.

    Args:
        call: What gives rows for a batch of texts.
        x: The batch, of shape (B, T, d_in).
        together: Whether texts can be put into one call.

    Returns:
        A tensor of shape (B, T, B, T): the row of text b and token t, moved by the
        token s of text c. Rows that are not finite count as unmoved.
    """
    B, T, _ = x.shape
    moved = torch.zeros(B, T, B, T, dtype=torch.float64)
    if together:
        own = moved_rows(call, x, each_token_changed(x), together=True).cpu()
        for b in range(B):
            moved[b, :, b] = own[:, b].mT
        return moved
    before = call(x)
    for c in range(B):
        for s in range(T):
            changed = x.clone()
            changed[c, s] = x[c - 1, s - 1].flip(-1) + 0.5
            moved[:, :, c, s] = row_differences(call(changed), before).cpu()
    return moved
