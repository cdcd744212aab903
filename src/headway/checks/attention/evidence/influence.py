"""Which token moves which row, as a table and in words."""

import torch
from torch import Tensor

from headway.checks.core.errors import at_the_border

_FAINT = 0.05


@at_the_border
def row_differences(one: Tensor, other: Tensor) -> Tensor:
    """Give the largest difference in each row; what is not finite counts as zero."""
    return (one.double() - other.double()).abs().nan_to_num(0, 0, 0).amax(dim=-1)


def visible_tokens(influence: Tensor, limit: float) -> Tensor:
    """Reduce the influence to a table of shape (T, T): which row sees which token."""
    own = influence.diagonal(dim1=0, dim2=2).movedim(-1, 0)
    return (own > limit).any(dim=0)


def pattern_name(visible: Tensor) -> str:
    """Put a table of which row sees which token into words; empty if it has no name.

    A row always moves with its own token, which makes its query. So a row that does not
    see its own key is told by the row that then has no key at all.
    """
    full = torch.ones_like(visible)
    own = full.tril().triu()
    for name, table, end in (("past", full.tril(), 0), ("future", full.triu(), -1)):
        rest = torch.arange(len(visible)) != end % len(visible)
        if not torch.equal((visible & ~own)[rest], (table & ~own)[rest]):
            continue
        if torch.equal(visible[end], table[end]):
            return f"itself and the {name}"
        if not bool(visible[end].any()) or bool(visible[end].all()):
            return f"the {name} and not itself"
    for name, table in {
        "every token": full,
        "the past, itself and the next token": full.tril(1),
        "the token before, itself and the future": full.triu(-1),
        "only itself": own,
    }.items():
        if torch.equal(visible, table):
            return name
    return _name_of_window(visible)


def _name_of_window(visible: Tensor) -> str:
    """Name what is wrong with a table that shows a window of the latest tokens."""
    T = len(visible)
    full = torch.ones_like(visible)
    own = full.tril().triu()
    first = bool(visible[0].all()) or not bool(visible[0].any())
    for size in range(2, T):
        shifted = full.tril(1).triu(1 - size)
        if torch.equal(visible, shifted) and size < T - 1:
            return "the past, itself and the next token"
        past = full.tril().triu(1 - size) & ~own
        if first and torch.equal((visible & ~own)[1:], past[1:]):
            return "the past and not itself"
    return ""


def side_of_window(visible: Tensor) -> int | None:
    """Give how many tokens a row sees on each side, if that is a fixed number."""
    full = torch.ones_like(visible)
    for size in range(2, len(visible) - 1):
        if torch.equal(visible, full.tril(size).triu(-size)):
            return size
    return None


def window_size(visible: Tensor) -> int | None:
    """Give how many of the latest tokens each row sees, if that is a fixed number."""
    past = torch.ones_like(visible).tril()
    for size in range(2, len(visible)):
        if torch.equal(visible, past.triu(1 - size)):
            return size
    return None


def faint_future(influence: Tensor) -> bool:
    """Ask whether later tokens hardly count, as where a score of -10 hides them."""
    own = influence.diagonal(dim1=0, dim2=2).movedim(-1, 0).mean(dim=0)
    places = torch.ones_like(own, dtype=torch.bool)
    future, past = own[places.triu(1)], own[places.tril(-1)]
    if len(past) < 2 or not float(future.min()) > 0:
        return False
    return float(future.max()) < _FAINT * float(past.median())
