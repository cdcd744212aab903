"""Why a call with a cache gives something else than one without."""

from collections.abc import Callable

import torch
from torch import Tensor

from headway.checks.core.outcome import Cause
from headway.checks.core.tolerance import (
    max_difference,
    same_order_tolerance,
    tolerance,
)

Run = Callable[[Tensor, tuple[int, ...]], Tensor]
Plain = Callable[[Tensor], Tensor]


def cause(run: Run, plain: Plain, x: Tensor) -> Cause | None:
    """Name what is wrong with a cache, if a trial shows it.

    Args:
        run: Gives rows for tokens in calls of so many each.
        plain: Gives rows for tokens without a cache.
        x: Tokens, (B, T, d_in).
    """
    cut = (x.shape[1] - 1, 1)
    if _texts_share(run, x, cut):
        return Cause(
            "a text gets the past of another text: the first one's is kept for all",
            "cache-of-first-text-for-all",
        )
    seen, expected = _past_seen(lambda y: run(y, cut), x), _past_seen(plain, x)
    if bool(expected[1:].any()) and not bool(seen[1:].any()) and bool(seen[0]):
        return Cause(
            "a new token sees only the first key: the mask begins at the first key "
            "instead of ending at the last",
            "cache-mask-at-first-key",
        )
    lost = [int(s) + 1 for s in (expected & ~seen).nonzero()]
    if lost and bool(seen.any()):
        return Cause(
            f"a new token does not see key {lost[0]} of the past, which is lost or "
            "overwritten",
            "cache-loses-key",
        )
    equal = x[:, :1].expand_as(x).contiguous()
    if _differ(run(equal, cut)[:, -1], plain(equal)[:, -1]):
        return Cause(
            "where all tokens are equal it differs too: values of the past are not "
            "kept, or are not what they were",
            "cache-changes-values",
        )
    if _crossed(run, plain, x):
        return Cause(
            "new keys are put before those of the past and values after them, or the "
            "other way round: keys and values no longer stand beside each other",
            "cache-keys-and-values-crossed",
        )
    return None


def _differ(one: Tensor, other: Tensor) -> bool:
    return not max_difference(one, other) <= tolerance(other)


def _texts_share(run: Run, x: Tensor, cut: tuple[int, ...]) -> bool:
    """Ask whether a change of the first text moves another."""
    if len(x) < 2:
        return False
    changed = x.clone()
    changed[0] = x[-1].flip(-1) + 0.5
    rows, moved = run(x, cut)[1:], run(changed, cut)[1:]
    return max_difference(rows, moved) > same_order_tolerance(rows)


def _past_seen(rows_of: Plain, x: Tensor) -> Tensor:
    """Say which of the tokens before the last move its row."""
    before = rows_of(x)[:, -1]
    seen = []
    for s in range(x.shape[1] - 1):
        changed = x.clone()
        changed[:, s] = x[:, s].flip(-1) + 0.5
        seen.append(
            max_difference(rows_of(changed)[:, -1], before)
            > same_order_tolerance(before)
        )
    return torch.tensor(seen)


def _crossed(run: Run, plain: Plain, x: Tensor) -> bool:
    """Ask whether each of two keys goes with the value of the other.

    Then the two ways to weigh two values sum to the two values, in each head.
    """
    one, two = x[:, :1], x[:, 1:2]
    both = x[:, :2].contiguous()
    total = run(both, (1, 1))[:, -1] + plain(both)[:, -1]
    return not _differ(total, plain(one)[:, -1] + plain(two)[:, -1])
