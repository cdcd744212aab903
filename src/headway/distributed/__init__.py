"""Attention that does not fit on one machine: heads, then tokens, over processes."""
