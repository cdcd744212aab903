"""Attention by its equation in 64 bits, and by every known way to get it wrong."""

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from headway.checks.evidence.weights import Projections


@dataclass(frozen=True)
class Recipe:
    """How attention is computed; by default, rightly.

    Attributes:
        scale: What scores are multiplied by.
        axis: Over which axis the softmax runs; `none` leaves it out.
        mask: How the future is hidden.
        split: `view` splits heads without the transpose.
        merge: `view` merges heads without the transpose.
        projections: Whose weights make queries, keys and values.
        shared: Which projections all heads share, as letters.
        out: Whether the output projection acts.
        bias: Whether the biases of the three projections act.
        scale_after_softmax: What weights are multiplied by, after the softmax.
        groups: How the heads of fewer keys are repeated.
        first_axis: Whether texts or tokens are taken for the first axis.
        attend_over: Whether tokens attend to each other, or the heads of each token.
    """

    scale: str = "1/sqrt(D)"
    axis: str = "keys"
    mask: str = "right"
    split: str = "right"
    merge: str = "right"
    projections: str = "qkv"
    shared: str = ""
    out: bool = True
    bias: bool = True
    scale_after_softmax: str = "1"
    groups: str = "interleave"
    first_axis: str = "texts"
    attend_over: str = "tokens"


_AXES: dict[str, tuple[int, ...]] = {
    "keys": (3,),
    "queries": (2,),
    "heads": (1,),
    "heads and keys": (1, 3),
    "texts": (0,),
    "texts and queries": (0, 2),
}


def compute(x: Tensor, p: Projections, causal: bool, recipe: Recipe) -> Tensor:
    """Compute attention by a recipe, in 64 bits.

    Args:
        x: Tokens of shape (B, T, width).
        p: The weights.
        causal: Whether the future is hidden.
        recipe: How to do it.
    """
    if recipe.first_axis == "tokens":
        swapped = compute(
            x.transpose(0, 1), p, causal, replace(recipe, first_axis="texts")
        )
        return swapped.transpose(0, 1)
    query, key, value = (
        _heads(x, p, role, letter, recipe)
        for role, letter in zip(recipe.projections, "qkv", strict=True)
    )
    if recipe.attend_over == "heads":
        query, key, value = (one.transpose(1, 2) for one in (query, key, value))
    scores = query @ key.mT * _factor(recipe.scale, x, p)
    weights = _weights(scores, causal, recipe)
    context = (weights * _factor(recipe.scale_after_softmax, x, p)) @ value
    if recipe.attend_over == "heads":
        context = context.transpose(1, 2)
    if recipe.merge == "right":
        context = context.transpose(1, 2)
    context = context.reshape(*x.shape[:2], -1)
    if p.out is None or not recipe.out:
        return context
    result = context @ p.out.T
    return result + p.biases["out"] if "out" in p.biases else result


def _heads(x: Tensor, p: Projections, role: str, letter: str, recipe: Recipe) -> Tensor:
    name = {"q": "query", "k": "key", "v": "value"}[role]
    weight: Tensor = getattr(p, name)
    projected = x.double() @ weight.T
    if name in p.biases and recipe.bias:
        projected = projected + p.biases[name]
    groups = p.heads
    if role != "q":
        groups = p.key.shape[0] * p.heads // p.query.shape[0]
    B, T, _ = x.shape
    if recipe.split == "right":
        cut = projected.view(B, T, groups, -1).transpose(1, 2)
    else:
        cut = projected.reshape(B, groups, T, -1)
    if groups < p.heads:
        times = p.heads // groups
        if recipe.groups == "interleave":
            cut = cut.repeat_interleave(times, dim=1)
        else:
            cut = cut.repeat(1, times, 1, 1)
    return cut[:, :1].expand_as(cut) if letter in recipe.shared else cut


def _factor(name: str, x: Tensor, p: Projections) -> float:
    D = p.query.shape[0] / p.heads
    return {
        "1": 1.0,
        "1/sqrt(D)": 1 / math.sqrt(D),
        "1/D": 1 / D,
        "sqrt(D)": math.sqrt(D),
        "1/sqrt(E)": 1 / math.sqrt(p.query.shape[0]),
        "1/E": 1 / p.query.shape[0],
        "1/sqrt(d_in)": 1 / math.sqrt(x.shape[2]),
        "1/sqrt(T)": 1 / math.sqrt(x.shape[1]),
        "1/sqrt(H)": 1 / math.sqrt(p.heads),
    }[name]


def _weights(scores: Tensor, causal: bool, recipe: Recipe) -> Tensor:
    scores, afterwards = _hide(scores, causal, recipe.mask)
    if recipe.axis == "none":
        weights = scores.nan_to_num(neginf=0.0)
    else:
        weights = (scores - scores.logsumexp(_AXES[recipe.axis], keepdim=True)).exp()
    if recipe.axis not in ("keys", "none"):
        weights = weights.nan_to_num(0.0)
    if afterwards is not None:
        weights = weights * afterwards
    return weights


def _hide(scores: Tensor, causal: bool, how: str) -> tuple[Tensor, Tensor | None]:
    """Hide the future in scores, or say what to multiply the weights by."""
    T = scores.shape[-1]
    full = torch.ones(T, T, dtype=torch.bool, device=scores.device)
    past = full.tril() if causal else full
    if how == "added":
        return scores + past, None
    if how == "added, upside down":
        return scores + full.triu(1), None
    if how == "zero":
        return scores.masked_fill(~past, 0.0), None
    if how == "after the softmax":
        return scores, past
    keep = {
        "right": past,
        "none": full,
        "inverted": ~past,
        "flipped": full.triu(),
        "next": full.tril(1),
        "not itself": full.tril(-1),
    }[how]
    return scores.masked_fill(~keep, -torch.inf), None
