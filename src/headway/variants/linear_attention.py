"""Attention without the softmax."""
