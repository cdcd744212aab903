"""From scores to weights: caps, biases, masks and softmax, and each of them wrong."""

import functools

import torch
from torch import Tensor

from headway.checks.attention.evidence.design import Design
from headway.checks.attention.oracle.recipe import Recipe

_TWICE = 0.6931471805599453  # a score that counts twice is larger by log 2
_AXES: dict[str, tuple[int, ...]] = {
    "queries": (2,),
    "heads": (1,),
    "heads and keys": (1, 3),
    "texts": (0,),
    "texts and queries": (0, 2),
}


def weigh(
    scores: Tensor, factor: float, recipe: Recipe, design: Design, causal: bool
) -> Tensor:
    """Make weights of scores.

    Args:
        scores: The scaled scores, of shape (B, H, T, S).
        factor: What they were scaled by.
        recipe: How to do it.
        design: What is meant.
        causal: Whether the future is hidden.
    """
    hidden = _mask(scores, recipe, design, causal)
    cap = design.softcap or torch.inf
    if recipe.cap != "after the mask":
        scores = _capped(scores, factor, recipe.cap, design)
    scores = _hide(_biased(scores, factor, recipe.bias, design), hidden, recipe)
    if recipe.cap == "after the mask":
        scores = cap * (scores / cap).tanh()
    weights = _shares(scores, factor, recipe, design)
    if recipe.cap == "after the softmax":
        weights = cap * (weights / cap).tanh()
    if recipe.bias.endswith("after the softmax"):
        weights = weights + _bias(weights, design).masked_fill(hidden, 0.0)
    if recipe.mask == "after the softmax":
        weights = weights.masked_fill(hidden, 0.0)
    return weights


def _capped(scores: Tensor, factor: float, how: str, design: Design) -> Tensor:
    """Keep scores below the cap, if there is one."""
    cap = design.softcap
    if cap is None or how in ("left out", "after the softmax"):
        return scores
    if how == "clamped":
        return scores.clamp(-cap, cap)
    if how == "not divided":
        return cap * scores.tanh()
    if how == "not multiplied":
        return (scores / cap).tanh()
    if how == "before the scale":
        return cap * (scores / factor / cap).tanh() * factor
    return cap * (scores / cap).tanh()


def _biased(scores: Tensor, factor: float, how: str, design: Design) -> Tensor:
    """Add the bias, if there is one."""
    if design.bias is None or how in ("left out", "after the softmax"):
        return scores
    bias = _bias(scores, design)
    if how == "before the scale":
        return scores + bias * factor
    if how == "transposed":
        return scores + bias.mT
    if how == "heads reversed":
        return scores + bias.flip(0)
    if how == "multiplied":
        return scores * bias
    if how == "view":
        return scores + bias.movedim(0, -1).reshape(bias.shape)
    if how == "one for all heads":
        return scores + bias[:1]
    return scores + bias * {"negated": -1, "twice": 2}.get(how, 1)


def _bias(scores: Tensor, design: Design) -> Tensor:
    """Give the bias of as many queries and keys as there are."""
    assert design.bias is not None  # noqa: S101  # no recipe asks for it
    return design.bias.to(scores)[..., : scores.shape[2], : scores.shape[3]]


def _hide(scores: Tensor, hidden: Tensor, recipe: Recipe) -> Tensor:
    """Hide scores, in the way of the recipe."""
    if recipe.mask == "added":
        return scores + ~hidden
    if recipe.mask == "added, upside down":
        return scores + hidden
    if recipe.mask == "after the softmax":
        return scores
    if recipe.taken_off is not None:
        return scores - hidden * recipe.taken_off
    return scores.masked_fill(hidden, 0.0 if recipe.mask == "zero" else recipe.fill)


def _shares(scores: Tensor, factor: float, recipe: Recipe, design: Design) -> Tensor:
    """Make weights of scores that are hidden where they must be."""
    how = design.normalize if recipe.normalize == "right" else recipe.normalize
    if recipe.axis == "none":
        return scores.nan_to_num(neginf=0.0)
    if recipe.axis != "keys":
        axes = _AXES[recipe.axis]
        return (scores - scores.logsumexp(axes, keepdim=True)).exp().nan_to_num(0.0)
    if how == "sigmoid":
        return scores.sigmoid()
    if how == "the one is not shifted":
        shares = (scores - scores.amax(-1, keepdim=True)).exp()
        return shares / (1 + shares.sum(-1, keepdim=True))
    sinks = design.sinks
    if how == "softmax plus one" and sinks is None:
        sinks = torch.zeros(1)
    if sinks is None or how == "softmax alone":
        return scores.softmax(-1)
    return _with_sinks(scores, sinks.to(scores).view(1, -1, 1, 1), factor, recipe.sinks)


def _with_sinks(scores: Tensor, sinks: Tensor, factor: float, how: str) -> Tensor:
    """Let the softmax run over the keys and one more, the sink of the head."""
    if how == "left out":
        return scores.softmax(-1)
    if how == "not an exponent":
        shares = scores.exp()
        return shares / (sinks + shares.sum(-1, keepdim=True))
    if how == "one for all heads":
        sinks = sinks[:, :1]
    elif how == "heads reversed":
        sinks = sinks.flip(1)
    elif how == "twice":
        sinks = sinks + _TWICE
    elif how == "negated":
        sinks = -sinks
    elif how == "scaled":
        sinks = sinks * factor
    sinks = sinks.expand(*scores.shape[:3], 1)
    if how == "first, and the last key cut":
        return torch.cat([sinks, scores], dim=-1).softmax(-1)[..., :-1]
    weights = torch.cat([scores, sinks], dim=-1).softmax(-1)
    if how == "to the first key":
        return torch.cat([weights[..., :1] + weights[..., -1:], weights[..., 1:-1]], -1)
    return (
        weights[..., 1:] if how == "last, and the first key cut" else weights[..., :-1]
    )


def _mask(scores: Tensor, recipe: Recipe, design: Design, causal: bool) -> Tensor:
    """Say which keys are hidden from which queries."""
    T, S = scores.shape[-2:]
    wide = recipe.window, design.window
    return _hidden(T, S, causal, recipe.mask, wide, scores.device)


@functools.lru_cache(maxsize=64)
def _hidden(
    T: int,
    S: int,
    causal: bool,
    mask: str,
    window: tuple[str, int | None],
    device: torch.device,
) -> Tensor:
    places = torch.arange(max(T, S), device=device)
    distance = places[:T, None] - places[:S]
    allowed = _allowed(distance, causal, *window)
    if mask == "none":
        allowed = torch.ones_like(allowed)
    elif mask == "inverted":
        allowed = ~allowed
    elif mask == "flipped":
        allowed = _allowed(-distance, causal, *window)
    elif mask == "next":
        allowed = _allowed(distance + 1, causal, *window)
    elif mask == "next, and the window":
        allowed = _allowed(distance + 1, causal, "none", None)
        allowed &= _allowed(distance, False, *window)
    elif mask == "not itself":
        allowed = allowed & (distance != 0)
    return ~allowed


def _allowed(distance: Tensor, causal: bool, how: str, window: int | None) -> Tensor:
    """Say which query may see which key, that stands so far before it."""
    past = distance >= 0 if causal else torch.ones_like(distance, dtype=torch.bool)
    if window is None or how == "none":
        return past
    width = window + {"wider": 1, "narrower": -1}.get(how, 0)
    if how == "open":
        return distance < width
    if how == "both sides" or not causal:
        return distance.abs() < width
    return past & (distance < width)
