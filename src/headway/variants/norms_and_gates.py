"""Norms and gates."""
