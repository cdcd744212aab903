"""Attention by its equation in 64 bits, and by every known way to get it wrong."""

import math
from collections.abc import Callable
from dataclasses import replace
from operator import attrgetter
from typing import Any

from torch import Tensor, nn

from headway.checks.attention.evidence.design import Design
from headway.checks.attention.evidence.weights import Projections
from headway.checks.attention.oracle.recipe import (
    OF_HEADS,
    OF_SCORES,
    OF_WEIGHTS,
    Recipe,
)
from headway.checks.attention.oracle.rotation import rotate
from headway.checks.attention.oracle.scores_to_weights import weigh

PLAIN = Design()


_MOST_KEPT = 160
_EPS = ("eps", "epsilon", "variance_epsilon")
_STAGES = {
    "heads": attrgetter(*OF_HEADS),
    "scores": attrgetter(*OF_SCORES),
    "weights": attrgetter(*OF_WEIGHTS),
}


def compute(
    x: Tensor,
    p: Projections,
    causal: bool,
    recipe: Recipe,
    design: Design = PLAIN,
) -> Tensor:
    """Compute attention by a recipe, in 64 bits.

    Args:
        x: Tokens of shape (B, T, width).
        p: The weights.
        causal: Whether the future is hidden.
        recipe: How to do it.
        design: What is done besides the equation, on purpose.

    Raises:
        RuntimeError: If shapes do not fit.
    """
    return Oracle(Projected(x.double(), p), design, causal).rows(recipe)


class Projected:
    """Tokens and their projections, each computed once: all other work is small.

    Args:
        x: Tokens of shape (B, T, width), in 64 bits.
        p: The weights.
        known: What these tokens were multiplied by before, for other weights.
    """

    def __init__(self, x: Tensor, p: Projections, known: dict[Any, Any] | None = None):
        self.x, self.p = x, p
        self._known: dict[Any, Any] = {} if known is None else known

    def __call__(self, role: str, biased: bool) -> Tensor:
        """Give what the weights of a role make of the tokens, (B, T, heads D)."""
        name = {"q": "query", "k": "key", "v": "value"}[role]
        weight = getattr(self.p, name)
        kept = id(weight)  # candidates share weights, and keep them alive
        if kept not in self._known:
            self._known[kept] = self.x @ weight.T
        found = self._known[kept]
        return (
            found + self.p.biases[name] if biased and name in self.p.biases else found
        )


class Oracle:
    """Attention by many recipes, of the same tokens with the same weights.

    A search asks for thousands of recipes that differ in one step or two. What comes
    before the first of these steps is kept.

    Args:
        tokens: The tokens, and their projections.
        design: What is done besides the equation, on purpose.
        causal: Whether the future is hidden.
    """

    def __init__(self, tokens: Projected, design: Design, causal: bool):
        self.tokens, self.p = tokens, tokens.p
        self.design, self.causal = design, causal
        self._known: dict[Any, Any] = {}

    def rows(self, recipe: Recipe, columns: Tensor | None = None) -> Tensor:
        """Give the rows of the output.

        Args:
            recipe: How to compute them.
            columns: Which numbers of each row; `None` means all.

        Returns:
            Numbers of shape (B, T, columns).

        Raises:
            RuntimeError: If shapes do not fit.
        """
        merged = _merge(self.context(recipe), recipe, self._groups())
        result = self._out(merged, recipe, columns)
        return result.transpose(0, 1) if recipe.first_axis == "tokens" else result

    def context(self, recipe: Recipe) -> Tensor:
        """Give what each head found for each token, of shape (B, H, T, width)."""
        key: tuple[Any, ...] = ()
        result: Any = None
        for stage, name in (
            (self._heads, "heads"),
            (self._scores, "scores"),
            (self._weigh, "weights"),
        ):
            key = (*key, _STAGES[name](recipe))
            if key in self._known:
                result = self._known[key]
                continue
            result = stage(recipe, result)
            if len(self._known) < _MOST_KEPT:  # single mistakes, which are asked first
                self._known[key] = result
        context = _summed(result[0], result[1], recipe.summed)
        return context.transpose(1, 2) if recipe.attend_over == "heads" else context

    def _heads(self, recipe: Recipe, _: Any) -> tuple[Tensor, ...]:
        parts = zip(recipe.projections, "qkv", strict=True)
        three = tuple(self._head(role, letter, recipe) for role, letter in parts)
        if recipe.met == "all":
            three = (
                three[0],
                three[1].sum(1, keepdim=True).expand_as(three[1]),
                three[2],
            )
        if recipe.groups == "queries dealt":
            groups = self._groups()
            dealt = three[0].unflatten(1, (-1, groups)).transpose(1, 2).flatten(1, 2)
            three = dealt, three[1], three[2]
        if recipe.attend_over == "heads":
            return tuple(one.transpose(1, 2) for one in three)
        return three

    def _head(self, role: str, letter: str, recipe: Recipe) -> Tensor:
        projected = self.tokens(role, role in recipe.biases)
        if recipe.first_axis == "tokens":
            projected = projected.transpose(0, 1)
        heads = self.p.heads if role == "q" else self._groups()
        cut = self._positioned(projected, letter, heads, recipe)
        if heads < self.p.heads:
            times = self.p.heads // heads
            if recipe.groups == f"{letter} reversed":
                cut = cut.flip(1)
            if recipe.groups not in ("tile", f"{letter} tiled"):
                cut = cut.repeat_interleave(times, dim=1)
            else:
                cut = cut.repeat(1, times, 1, 1)
        return cut[:, :1].expand_as(cut) if letter in recipe.shared else cut

    def _groups(self) -> int:
        return self.p.key.shape[0] * self.p.heads // self.p.query.shape[0]

    def _positioned(
        self, projected: Tensor, letter: str, heads: int, recipe: Recipe
    ) -> Tensor:
        """Split a projection into heads, normalise it and rotate it, in some order."""
        rotation = self.design.rotation if letter in recipe.rotated else None
        if rotation is not None and recipe.turned == "all heads":
            whole = rotate(projected.unsqueeze(1), rotation, recipe, letter)
            projected, rotation = whole.squeeze(1), None
        cut = _split(projected, heads, recipe)
        after = (self.design.norms_after == "rotation") != (
            recipe.norm_place == "other"
        )
        if not after:
            cut = self._normalised(cut, letter, recipe)
        if rotation is not None:
            cut = rotate(cut, rotation, recipe, letter)
        return self._normalised(cut, letter, recipe) if after else cut

    def _normalised(self, cut: Tensor, letter: str, recipe: Recipe) -> Tensor:
        """Normalise the heads of queries, keys or values, if there are norms."""
        if letter not in recipe.norms:
            return cut
        whose = {"q": recipe.norm_of[0], "k": recipe.norm_of[1], "v": "k"}[letter]
        design = self.design
        norm = design.query_norm if whose == "q" else design.key_norm
        if norm is None:
            return cut
        if (design.norm_of == "head") != (recipe.norm_over == "other"):
            return _apply(norm, cut)
        if design.norm_of == "head" and _is_rms(norm):
            return _apply(norm, cut) * _root_of_all_heads(norm, cut)
        whole = _apply(norm, cut.transpose(1, 2).flatten(2))
        return whole.unflatten(2, (cut.shape[1], -1)).transpose(1, 2)

    def _scores(self, recipe: Recipe, three: tuple[Tensor, ...]) -> tuple[Any, ...]:
        query, key, value = three
        factor = self.scale(recipe.scale) * recipe.factor
        return query @ key.mT * factor, value, factor

    def _weigh(self, recipe: Recipe, found: tuple[Any, ...]) -> tuple[Tensor, Tensor]:
        scores, value, factor = found
        design = self.design
        if recipe.sinks == "by groups" and design.sinks is not None:
            mixed = design.sinks.view(-1, self._groups()).T.flatten()
            design = replace(design, sinks=mixed)
        weights = weigh(scores, factor, recipe, design, self.causal)
        if recipe.scale_after_softmax != "1":
            weights = weights * self.scale(recipe.scale_after_softmax)
        return weights, value

    def scale(self, name: str) -> float:
        """Give the number that a scale is."""
        E, (_, T, d_in) = self.p.query.shape[0], self.tokens.x.shape
        D, G = E / self.p.heads, self.p.key.shape[0] * self.p.heads / E
        usual = 1 / math.sqrt(D)
        right = usual if self.design.scale is None else self.design.scale
        return {
            "right": right,
            "twice": right * right,
            "1": 1.0,
            "1/sqrt(D)": usual,
            "1/D": 1 / D,
            "sqrt(D)": math.sqrt(D),
            "1/sqrt(E)": 1 / math.sqrt(E),
            "1/E": 1 / E,
            "1/sqrt(E/G)": math.sqrt(G / E),
            "1/sqrt(d_in)": 1 / math.sqrt(d_in),
            "1/T": 1 / T,
            "1/sqrt(T)": 1 / math.sqrt(T),
            "1/sqrt(H)": 1 / math.sqrt(self.p.heads),
        }[name]

    def _out(self, merged: Tensor, recipe: Recipe, columns: Tensor | None) -> Tensor:
        if self.p.out is None or not recipe.out:
            return merged if columns is None else merged[..., columns]
        weight, bias = self.out(columns)
        result = merged @ weight.T
        return result if bias is None or "o" not in recipe.biases else result + bias

    def out(self, columns: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Give the rows of the output projection that make some columns."""
        assert self.p.out is not None  # noqa: S101  # for mypy: it was asked before
        bias = self.p.biases.get("out")
        if columns is None:
            return self.p.out, bias
        if "out" not in self._known:
            kept = None if bias is None else bias[columns]
            self._known["out"] = (self.p.out[columns], kept)
        found: tuple[Tensor, Tensor | None] = self._known["out"]
        return found


def _split(projected: Tensor, heads: int, recipe: Recipe) -> Tensor:
    B, T, _ = projected.shape
    if recipe.split == "right":
        return projected.reshape(B, T, heads, -1).transpose(1, 2)
    return projected.reshape(B, heads, T, -1)


def _summed(weights: Tensor, value: Tensor, how: str) -> Tensor:
    """Sum values by weights; a wrong letter in a sum takes others."""
    if how == "right":
        return weights @ value
    whole = weights.sum(-1, keepdim=True)
    return whole * (value if how == "own" else value.sum(-2, keepdim=True))


def _merge(context: Tensor, recipe: Recipe, groups: int) -> Tensor:
    B, _, T, _ = context.shape
    if recipe.merge == "groups":
        context = context.unflatten(1, (groups, -1)).transpose(1, 2).flatten(1, 2)
    if recipe.merge != "view":
        context = context.transpose(1, 2)
    return context.reshape(B, T, -1)


def _apply(norm: Callable[[Tensor], Tensor], part: Tensor) -> Tensor:
    """Call a norm of the module, in the type of its weights."""
    stored = norm.parameters() if isinstance(norm, nn.Module) else ()
    dtype = next((one.dtype for one in stored), part.dtype)
    alone = part.to(dtype).flatten(0, -2).unsqueeze(1)  # whatever it takes together
    return norm(alone).double().view_as(part)


def _is_rms(norm: Callable[[Tensor], Tensor]) -> bool:
    return "rms" in type(norm).__name__.lower()


def _root_of_all_heads(norm: Callable[[Tensor], Tensor], cut: Tensor) -> Tensor:
    """Give by what a norm of each head is smaller if it runs over all of them."""
    eps = next((e for n in _EPS if isinstance(e := getattr(norm, n, None), float)), 0.0)
    squares = cut.square().mean(-1, keepdim=True)
    return ((squares + eps) / (squares.mean(1, keepdim=True) + eps)).sqrt()
