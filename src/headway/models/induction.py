"""Heads that continue a pattern."""
