"""Run one program as a fresh interpreter would."""
