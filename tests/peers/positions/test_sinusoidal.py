"""Our waves equal those that others have published, in both orders."""

import pytest
import torch
from torch import nn
from transformers.models.marian.modeling_marian import (
    MarianSinusoidalPositionalEmbedding,
)

from headway import LearnedPositions, sinusoidal_positions

# A library may use what is deprecated: in tests of ours that would be an error.
pytestmark = pytest.mark.filterwarnings("ignore")

T, WIDTH = 13, 10


def test_the_authors_order_is_marians() -> None:
    theirs = MarianSinusoidalPositionalEmbedding(T, WIDTH)
    theirs.weight.data = theirs.create_weight()
    ours = sinusoidal_positions(torch.arange(T), WIDTH, halves=True)
    torch.testing.assert_close(ours, theirs(torch.Size([2, T])), rtol=0, atol=2e-7)


def test_the_authors_order_is_that_of_x_transformers() -> None:
    from x_transformers.x_transformers import ScaledSinusoidalEmbedding

    theirs = ScaledSinusoidalEmbedding(WIDTH).double()
    theirs.scale.data.fill_(1.0)
    ours = sinusoidal_positions(
        torch.arange(T), WIDTH, halves=True, dtype=torch.float64
    )
    found = theirs(torch.zeros(1, T, WIDTH, dtype=torch.float64))
    torch.testing.assert_close(ours, found, rtol=0, atol=2e-6)


def test_learned_rows_are_an_embedding_with_gradients() -> None:
    theirs = nn.Embedding(T, WIDTH, dtype=torch.float64)
    ours = LearnedPositions(T, WIDTH, dtype=torch.float64)
    ours.load_state_dict(theirs.state_dict())
    positions = torch.tensor([[0, 12, 3, 3], [5, 0, 0, 1]])
    gradient = torch.randn(2, 4, WIDTH, dtype=torch.float64)
    for module in (ours, theirs):
        module(positions).backward(gradient)
    assert torch.equal(ours(positions), theirs(positions))
    torch.testing.assert_close(ours.weight.grad, theirs.weight.grad, rtol=0, atol=1e-14)
