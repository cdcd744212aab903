"""Which token sees which: change one, and look which rows move."""

from collections.abc import Callable

import torch
from torch import Tensor

Ask = Callable[[Tensor], Tensor]


def influence(ask: Ask, x: Tensor) -> Tensor:
    """Measure how far each row moves when one token of one text is changed.

    Returns:
        A tensor of shape (B, T, B, T): the row of text b and token t, moved by the
        token s of text c. Rows that are not finite count as unmoved.
    """
    B, T, _ = x.shape
    before = ask(x)
    moved = torch.zeros(B, T, B, T, dtype=torch.float64)
    for c in range(B):
        for s in range(T):
            changed = x.clone()
            changed[c, s] = x[c - 1, s - 1].flip(-1) + 0.5
            moved[:, :, c, s] = distance(ask(changed), before).cpu()
    return moved


def distance(one: Tensor, other: Tensor) -> Tensor:
    """Give the largest change in each row; what is not finite counts as zero."""
    return (one.double() - other.double()).abs().nan_to_num(0, 0, 0).amax(dim=-1)


def visible(moved: Tensor, noise: float) -> Tensor:
    """Reduce the influence to a table of shape (T, T): which row sees which token."""
    own = moved.diagonal(dim1=0, dim2=2).movedim(-1, 0)
    return (own > noise).any(dim=0)


def pattern(seen: Tensor) -> str:
    """Put a table of who sees whom into words; empty if it has no name.

    A row always moves with its own token, which makes its query. So a row that does not
    see its own key is told by the row that then has no key at all.
    """
    full = torch.ones_like(seen)
    for name, table, end in (("past", full.tril(), 0), ("future", full.triu(), -1)):
        apart = table & ~full.tril().triu()
        others = torch.arange(len(seen)) != end % len(seen)
        if not torch.equal((seen & ~full.tril().triu())[others], apart[others]):
            continue
        if torch.equal(seen[end], table[end]):
            return f"itself and the {name}"
        if not bool(seen[end].any()) or bool(seen[end].all()):
            return f"the {name} and not itself"
    for name, table in {
        "every token": full,
        "the past, itself and the next token": full.tril(1),
        "the token before, itself and the future": full.triu(-1),
        "only itself": full.tril().triu(),
    }.items():
        if torch.equal(seen, table):
            return name
    return ""


def window(seen: Tensor) -> int | None:
    """Give how many of the latest tokens each row sees, if that is a fixed number."""
    full = torch.ones_like(seen).tril()
    for size in range(2, len(seen)):
        if torch.equal(seen, full.triu(1 - size)):
            return size
    return None
