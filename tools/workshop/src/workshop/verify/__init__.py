"""Prove that what is published is what was tested."""
