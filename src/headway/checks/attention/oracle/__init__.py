"""The equation, and every known way to miss it."""

from headway.checks.attention.oracle.consequences import consequences
from headway.checks.attention.oracle.search import (
    Match,
    choose_weights,
    explain,
    fits,
    match,
    without_surroundings,
)

__all__ = [
    "Match",
    "choose_weights",
    "consequences",
    "explain",
    "fits",
    "match",
    "without_surroundings",
]
