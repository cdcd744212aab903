"""What a mask does that is not obeyed: by whom a row sees, and how much."""

import math
from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from headway.checks.attention.evidence.batched_changes import moved_vectors
from headway.checks.core.tolerance import largest

_SMALL = 1e-2  # so that rows change in proportion
_QUIET = 0.05
_NEAR = 1e-3
_ALIKE = 0.3
_COUNTS = 0.02
_FILL = 3.0  # a score as near to zero as this may as well be zero

Given = Callable[[Tensor], Tensor]


def fault(
    masked: Given,
    plain: Given,
    x: Tensor,
    visible: Tensor,
    keep: Tensor,
    *,
    either: bool = False,
    others: Mapping[Given, Tensor] | None = None,
) -> str | None:
    """Name what is wrong with a mask that moves no row from what it hides.

    All tokens are equal but for a little, so that scores are equal too, and a row moves
    with a token by its weight.

    Args:
        masked: Gives rows with the mask.
        plain: Gives rows without.
        x: Tokens of shape (B, T, d_in).
        visible: Which row sees which token without the mask.
        keep: Which the mask shows.
        either: Whether rows see what the mask shows and all that they saw without,
            which then counts nearly as before.
        others: Rows with other masks, and which those show.
    """
    rest = visible & ~torch.eye(len(keep), dtype=torch.bool)
    hidden, shown = rest & ~keep, rest & keep
    if not bool(hidden.any()) or not bool(shown.any()):
        return None
    sums = _sums_of_weights(masked, plain, x)
    for marked in (keep, ~keep):
        counts = (visible & marked).sum(-1) / visible.sum(-1)
        if bool(((sums - counts).abs() < _NEAR).all()):
            return "after the softmax"
    if _lacks_shares({masked: keep, **(others or {})}, plain, x, visible):
        return "after the softmax"
    one, two = (_moves(masked, factor * x) for factor in (1.0, 2.0))
    share = _shares(one, _moves(plain, x))
    if not bool(share[shown].isfinite().all()) or bool((share[shown] <= 0).any()):
        return None
    ratio = _ratio(share, hidden, shown)
    if abs(ratio - 1) < _NEAR or ratio <= 0:
        return None
    if either and abs(math.log(ratio)) < _ALIKE:
        return None
    # Where tokens are small, scores are near 0 in all heads, and fills are not.
    quiet = _ratio(
        _shares(_moves(masked, _QUIET * x), _moves(plain, _QUIET * x)), hidden, shown
    )
    zero = plain(0.0 * x)
    normed = _equal(plain(x) - zero, plain(2.0 * x) - zero)
    # Then scores stay as they are, which says nothing of heads.
    if normed:
        return "counts"
    if quiet > _COUNTS and _equal(one[hidden], two[hidden]):
        return "some heads"
    if abs(math.log(max(quiet, 1e-30))) < _FILL:
        return "near zero"
    return "too near"


def _shares(moves: Tensor, base: Tensor) -> Tensor:
    """Give how far rows move, in shares of how far they move without a mask."""
    return (moves * base).sum(-1) / base.square().sum(-1).clamp(min=1e-30)


def _ratio(share: Tensor, hidden: Tensor, shown: Tensor) -> float:
    """Give how much more a row moves with what is hidden than with what is shown."""
    rows = hidden.any(-1) & shown.any(-1)
    less, more = (
        (share * part).sum(-1)[rows] / part.sum(-1)[rows] for part in (hidden, shown)
    )
    return float((less / more).nan_to_num(1.0).median()) if bool(rows.any()) else 1.0


def _sums_of_weights(masked: Given, plain: Given, x: Tensor) -> Tensor:
    """Give what the weights of each row sum to, if without a mask they sum to one."""
    T = x.shape[1]
    tokens = [x[b, :1].expand(1, T, -1).contiguous() for b in (0, -1)]
    tokens[1] = tokens[1].flip(-1) + 0.5
    (one, other), (base, last) = (
        [call(equal)[0].double().cpu() for equal in tokens] for call in (masked, plain)
    )
    moved, whole = one - other, base - last
    return (moved * whole).sum(-1) / whole.square().sum(-1).clamp(min=1e-30)


def _lacks_shares(
    masks: Mapping[Given, Tensor], plain: Given, x: Tensor, visible: Tensor
) -> bool:
    """Ask whether, of equal tokens, rows lack the share of attention that is hidden.

    What a call adds to attention, such as the tokens themselves, is never lacked.
    """
    equal = x[:1, :1].expand(1, x.shape[1], -1).contiguous()
    rows = plain(equal)[0].double().cpu()
    off = torch.cat([rows - masked(equal)[0].double().cpu() for masked in masks])
    for sense in (False, True):
        counts = [(visible & (keep ^ sense)).sum(-1) for keep in masks.values()]
        lost = 1 - torch.cat(counts) / visible.sum(-1).repeat(len(masks))
        some = lost[lost > 0]
        if not len(some) or torch.equal(some, some[:1].expand_as(some)):
            continue  # one share says nothing of what it is a share of
        whole = off[lost > 0][0] / some[0]
        if largest(off - lost[:, None] * whole) < _NEAR * largest(whole):
            return True
    return False


def _moves(call: Given, x: Tensor) -> Tensor:
    """Give how each row moves with each token, where all are equal: (T, S, ·)."""
    equal = x[:1, :1].expand(1, x.shape[1], -1).contiguous()
    versions = []
    for s in range(x.shape[1]):
        changed = equal.clone()
        changed[:, s] += _SMALL * x[-1, -1]
        versions.append(changed)
    return moved_vectors(call, equal, versions)[:, 0].transpose(0, 1).double().cpu()


def _equal(one: Tensor, other: Tensor) -> bool:
    """Ask whether rows move alike, where the other tokens are twice as large."""
    return largest(one - other / 2) < _COUNTS * largest(one)
