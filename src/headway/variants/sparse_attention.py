"""Choosing keys."""
