"""What code gives, compared with many recipes."""

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor

from headway.checks.attention.evidence import Evidence
from headway.checks.attention.evidence.design import Design
from headway.checks.attention.evidence.weights import Projections
from headway.checks.attention.oracle.computing import Oracle, Projected
from headway.checks.attention.oracle.mistakes import Setting
from headway.checks.attention.oracle.recipe import Recipe
from headway.checks.core.tolerance import max_difference

_SOME = 8  # columns that tell most wrong recipes from the right one


class Place(NamedTuple):
    """Which weights and which design may be meant.

    Attributes:
        weights: The place of the weights among the candidates.
        design: The place of the design among those that may be meant.
        causal: Whether the future is to be hidden.
    """

    weights: int
    design: int
    causal: bool


class Comparison:
    """The output of some code, to be compared with what recipes give.

    A few columns are compared first, and all of them only if these agree: the last
    product is by far the largest.

    Args:
        evidence: What calls of the code showed.
    """

    def __init__(self, evidence: Evidence):
        self.evidence, self.tolerance = evidence, evidence.tolerance
        width = evidence.output.shape[-1]
        spread = torch.linspace(0, width - 1, min(_SOME, width))
        self.columns = spread.round().long().to(evidence.output.device)
        self.some = evidence.output.double()[..., self.columns]
        self._x = evidence.x.double()
        self._multiplied: dict[Any, Any] = {}
        self._oracles: dict[Place, Oracle] = {}

    def weights(self, place: Place) -> Projections:
        """Give the weights of a place."""
        return self.evidence.weights.candidates[place.weights]

    def design(self, place: Place) -> Design:
        """Give the design of a place."""
        return self.evidence.designs[place.design]

    def setting(self, place: Place) -> Setting:
        """Give what a mistake could have been made in."""
        return Setting(self.weights(place), self.design(place), place.causal)

    def oracle(self, place: Place) -> Oracle:
        """Give the oracle of a place, with all that it has computed."""
        if place not in self._oracles:
            tokens = Projected(self._x, self.weights(place), self._multiplied)
            self._oracles[place] = Oracle(tokens, self.design(place), place.causal)
        return self._oracles[place]

    def is_equal(self, place: Place, recipe: Recipe) -> bool:
        """Ask whether a recipe gives the output, up to rounding."""
        if self.glance(place, recipe) > self.tolerance:
            return False
        return self.difference(place, recipe) <= self.tolerance

    def glance(self, place: Place, recipe: Recipe) -> float:
        """Compare a few columns; what does not fit is far off."""
        expected = self.rows(place, recipe, self.columns)
        if expected is None or expected.shape != self.some.shape:
            return math.inf
        off = (expected - self.some).abs()
        worst = float(off.max())
        return worst if math.isfinite(worst) else _finite(off)

    def difference(self, place: Place, recipe: Recipe) -> float:
        """Compare the numbers that are finite; what does not fit is far off."""
        expected = self.rows(place, recipe)
        output = self.evidence.output
        return math.inf if expected is None else difference(expected, output)

    def rows(
        self, place: Place, recipe: Recipe, columns: Tensor | None = None
    ) -> Tensor | None:
        """Compute by a recipe; `None` if shapes do not fit."""
        try:
            return self.oracle(place).rows(recipe, columns)
        except (RuntimeError, IndexError):  # no others are raised by shapes
            return None


def difference(expected: Tensor, output: Tensor) -> float:
    """Compare the numbers that are finite, if they are at least half of all."""
    if expected.shape != output.shape:
        return math.inf
    finite = output.isfinite() & expected.isfinite()
    if finite.sum() < 0.5 * finite.numel():
        return math.inf
    return max_difference(expected[finite], output[finite])


def _finite(off: Tensor) -> float:
    """Give the largest that is finite; if none is, all columns must be asked."""
    finite = off[off.isfinite()]
    return float(finite.max()) if finite.numel() else 0.0
