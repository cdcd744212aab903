"""A dropout layer acts in training, and only the layer itself says whether it does."""

import pytest
from torch import nn

from headway import _dropout


@pytest.mark.parametrize("p", [0.0, 0.25])
def test_it_acts_in_training_alone(p: float) -> None:
    layer = nn.Dropout(p)
    assert _dropout.probability(layer) == p
    assert _dropout.probability(layer.eval()) == 0.0
    assert _dropout.probability(layer.train()) == p
