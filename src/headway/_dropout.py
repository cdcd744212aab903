"""What a module's dropout layer means for a function that is given a probability."""

from torch import nn


def probability(layer: nn.Dropout) -> float:
    """Give the probability that acts now: none at inference."""
    return layer.p if layer.training else 0.0
