"""Tensor parallelism: each process has some of the heads."""
