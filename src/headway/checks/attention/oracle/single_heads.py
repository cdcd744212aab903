"""A mistake in one head alone, or in all heads but one."""

import torch
from torch import Tensor

from headway.checks.attention.oracle.comparing import Comparison, Place
from headway.checks.attention.oracle.recipe import Recipe

_RIGHT = Recipe()


def in_some_heads(comparison: Comparison, place: Place, wrong: Recipe) -> str:
    """Say in which heads a mistake explains the output; nothing if in none.

    What heads hand over is added up by the output projection, so that the difference
    that each head makes is computed once.
    """
    if comparison.weights(place).heads < 2 or not _keeps_heads(wrong):
        return ""
    rows = comparison.rows(place, _RIGHT, comparison.columns)
    if rows is None or rows.shape != comparison.some.shape:
        return ""
    try:
        added = _differences(comparison, place, wrong)
    except RuntimeError:  # no other is raised by shapes
        return ""
    rest = comparison.some - rows
    tolerance = comparison.tolerance
    heads = len(added)
    for head, one in enumerate(added):
        if float((rest - one).abs().max()) <= tolerance:
            return f"in {_name(head, heads)} alone"
    total = added.sum(dim=0)
    for head, one in enumerate(added):
        if float((rest - total + one).abs().max()) <= tolerance:
            return f"in all heads but {_name(head, heads).removesuffix(' head')}"
    return ""


def _keeps_heads(wrong: Recipe) -> bool:
    """Ask whether a mistake leaves heads where they are."""
    changed = (wrong.first_axis, wrong.attend_over, wrong.merge, wrong.out, wrong.split)
    right = ("texts", "tokens", "right", True, "right")
    return changed == right and "o" in wrong.biases and not wrong.shared


def _differences(comparison: Comparison, place: Place, wrong: Recipe) -> Tensor:
    """Give what each head adds to some columns if it is wrong, (H, B, T, columns)."""
    oracle, columns = comparison.oracle(place), comparison.columns
    apart = oracle.context(wrong) - oracle.context(_RIGHT)
    H, width = apart.shape[1], apart.shape[3]
    if oracle.p.out is None:
        rows = torch.eye(H * width).to(apart)[columns]
    else:
        rows, _ = oracle.out(columns)
    return torch.einsum("bhtd,chd->hbtc", apart, rows.unflatten(1, (H, width)))


def _name(head: int, heads: int) -> str:
    if head == 0:
        return "the first head"
    return "the last head" if head == heads - 1 else f"head {head + 1}"
