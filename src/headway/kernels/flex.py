"""Masks and biases as functions, for PyTorch's FlexAttention."""
