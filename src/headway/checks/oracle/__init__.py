"""The equation, and every known way to miss it."""

from headway.checks.oracle.search import Match, choose_weights, explain, match

__all__ = ["Match", "choose_weights", "explain", "match"]
