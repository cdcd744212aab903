"""The equation, and every known way to miss it."""

from headway.checks.oracle.consequences import consequences
from headway.checks.oracle.search import choose_weights, explain, smallest_difference

__all__ = ["choose_weights", "consequences", "explain", "smallest_difference"]
