"""Which parameters make queries, keys and values, and how they are stored."""

from headway.checks.attention.evidence.weights.layouts import bias_of
from headway.checks.attention.evidence.weights.projections import (
    Projections,
    Weights,
    find_weights,
)

__all__ = ["Projections", "Weights", "bias_of", "find_weights"]
