"""The equation, and every known way to miss it."""

from headway.checks.oracle.search import choose_weights, explain, match

__all__ = ["choose_weights", "explain", "match"]
