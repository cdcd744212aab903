"""Sizes for the tests: all of them prime and different, so that no two can be mixed up.

Equal sizes hide errors: a wrong axis, a transposed weight, a head that is a token.
"""

import torch
from torch import Tensor

B = 2  # texts in a batch
D = 3  # width of a query, a key, a head
H = 5  # heads
T = 7  # queries, tokens
S = 11  # keys, where they are not the queries
V = 13  # width of a value, where it is not that of a query
D_IN = 17  # width of the tokens
CONTEXT = 19  # the longest text
E = H * D  # width of all heads together


def draw(*shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
    """Draw numbers of both signs, in enough digits to compare twelve of them."""
    return torch.randn(shape, dtype=torch.float64).to(dtype)
