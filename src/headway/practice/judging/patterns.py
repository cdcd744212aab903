"""What wrong numbers have in common, where no known mistake explains them."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from headway.practice.judging.compare import same

_FEWEST = 3  # numbers; what fewer have in common says nothing


def pattern(trials: Sequence[tuple[Any, Any]]) -> str:
    """Say what all wrong numbers have in common.

    Args:
        trials: What an answer gave in each trial, and what it must give there; both of
            the same kinds, shapes and types.

    Returns:
        A sentence, such as "Each number is 2 times what it must be.", or "".
    """
    tensors = [pair for mine, right in trials for pair in _tensors(mine, right)]
    wrong = [(mine, right) for mine, right in tensors if not same(mine, right)]
    few = any(one.numel() < _FEWEST or one.is_complex() for _, one in wrong)
    if not wrong or few:
        return ""
    for say, always in _PATTERNS:
        said = {say(mine, right) for mine, right in wrong}
        if all(said) and (len(said) == 1 or always):
            return said.pop() if len(said) == 1 else always
    return ""


def _tensors(mine: Any, right: Any) -> list[tuple[Tensor, Tensor]]:
    """List the tensors of a result beside those that it must have."""
    if isinstance(right, Tensor):
        return [(mine.detach(), right.detach())]
    if isinstance(right, Mapping):
        return [pair for name in right for pair in _tensors(mine[name], right[name])]
    if isinstance(right, (list, tuple)):
        both = zip(mine, right, strict=True)
        return [pair for one, other in both for pair in _tensors(one, other)]
    return []


def _turned(mine: Tensor, right: Tensor) -> str:
    for axis in range(mine.ndim):
        if same(mine.flip(axis), right):
            return f"It is the right result, turned around along axis {axis}."
    return ""


def _shifted(mine: Tensor, right: Tensor) -> str:
    for axis in range(mine.ndim):
        n = mine.shape[axis] - 1
        if n < 1:
            continue
        for start, whose in ((1, "the next"), (0, "the one before")):
            of_others = right.narrow(axis, start, n)
            if same(mine.narrow(axis, 1 - start, n), of_others):
                return f"Each place along axis {axis} has what belongs to {whose}."
    return ""


def _times(mine: Tensor, right: Tensor) -> str:
    if not right.is_floating_point() or not bool(mine.isfinite().all()):
        return ""
    factor = (mine * right).sum() / right.square().sum()
    if not same(factor * right, mine):
        return ""
    if not bool(mine.any()):
        return "Each number is zero."
    if same(mine, -right):
        return "Each number has the other sign."
    return f"Each number is {factor.item():.4g} times what it must be."


def _more(mine: Tensor, right: Tensor) -> str:
    if right.dtype == torch.bool:
        return ""
    more = (mine - right).flatten()
    if not bool(more.isfinite().all()) or not same(more, more[:1].expand_as(more)):
        return ""
    large = "large" if more[0] > 0 else "small"
    return f"Each number is {abs(more[0].item()):.4g} too {large}."


def _rows(mine: Tensor, right: Tensor) -> str:
    floating = right.is_floating_point() and bool((mine - right).isfinite().all())
    if not floating or right.ndim < 2 or min(right.shape[-2:]) < 2:
        return ""
    for axis, whose in ((-1, "row"), (-2, "column")):
        squares = right.square().sum(axis, keepdim=True)
        factor = (mine * right).sum(axis, keepdim=True) / squares
        if same(torch.where(squares > 0, factor, 1.0) * right, mine):
            return f"Each {whose} is the right one times a number of its own."
    more = mine - right
    if same(more, more[..., :1].expand_as(more)):
        return "Each row is the right one plus a number of its own."
    return ""


def _elsewhere(mine: Tensor, right: Tensor) -> str:
    mine, right = (one.flatten().sort().values for one in (mine, right))
    if right.dtype == torch.bool or not same(mine, right):
        return ""
    return "These are the right numbers, but in other places."


def _one_way(mine: Tensor, right: Tensor) -> str:
    if right.dtype != torch.bool:
        return ""
    wrong = mine[mine != right]
    if len(wrong) == right.numel():
        return "Each entry is the opposite of what it must be."
    if len({*wrong.tolist()}) == 1:
        return f"Each wrong entry is {wrong[0]}, and must be {~wrong[0]}."
    return ""


def _in_part(mine: Tensor, right: Tensor) -> str:
    far = ~torch.isclose(mine, right, rtol=1e-9, atol=1e-9, equal_nan=True)
    for axis in range(far.ndim):
        n = far.shape[axis]
        wrong = far.movedim(axis, 0).reshape(n, -1).any(1).tolist()
        for where, places in (
            ("the first is wrong", {0}),
            ("the last is wrong", {n - 1}),
            ("the first is right", {*range(1, n)}),
            ("the last is right", {*range(n - 1)}),
            ("every second is wrong, beginning with the first", {*range(0, n, 2)}),
            ("every second is wrong, beginning with the second", {*range(1, n, 2)}),
        ):
            if n > 1 and places == {place for place, one in enumerate(wrong) if one}:
                return f"Along axis {axis} only {where}."
    return ""


_BY_ONE = "All numbers are wrong by one {}, which changes with the sizes."
_PATTERNS = (  # what is said of one trial; and of all, where they differ in that
    (_turned, ""),
    (_shifted, ""),
    (_times, _BY_ONE.format("factor")),
    (_more, _BY_ONE.format("difference")),
    (_in_part, ""),
    (_one_way, ""),
    (_rows, "Each row, or column, is wrong by a number of its own."),
    (_elsewhere, ""),
)
