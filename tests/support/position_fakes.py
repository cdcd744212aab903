"""Fakes of a rotation, of a bias and of a cache, the first two in loops as well.

They are unlike the book's: what turns depends on more than a difference, and no two
heads add the same. So a module that mixes up positions or heads is seen.
"""

import torch
from torch import Tensor

from tests.support.sizes import T


def turn(row: list[float], position: int) -> list[float]:
    return [x * (1 + 0.07 * position * (i + 1)) for i, x in enumerate(row)]


def rotate(vectors: Tensor, positions: Tensor) -> Tensor:
    columns = torch.arange(1, vectors.shape[-1] + 1, dtype=torch.float64)
    return vectors * (1 + 0.07 * (positions.unsqueeze(-1) * columns))


def added(h: int, query_position: int, key_position: int) -> float:
    return (h + 1) * 0.1 * (query_position - 2 * key_position)


def bias(num_heads: int):
    def make(query_positions: Tensor, key_positions: Tensor) -> Tensor:
        heads = torch.arange(1, num_heads + 1, dtype=torch.float64).view(-1, 1, 1)
        places = query_positions.unsqueeze(-1) - 2 * key_positions.unsqueeze(-2)
        return heads * 0.1 * places.unsqueeze(-3)

    return make


class Kept:
    """Keep all, and note the shape of what is kept; with `window`, the newest."""

    def __init__(self, window: int | None = None):
        if window is not None:
            self.window = window
        self.length = 0
        self.tokens: list[tuple[Tensor, Tensor, Tensor]] = []

    def append(self, key: Tensor, value: Tensor, positions: Tensor):
        new = key.shape[-2]
        for t in range(new):
            self.tokens.append((key[..., t, :], value[..., t, :], positions[..., t]))
        self.length += new
        # The oldest of the new tokens sees a window, and the newest itself.
        window = getattr(self, "window", self.length)
        kept = self.tokens[-min(self.length, window + new - 1) :]
        key, value = (torch.stack([token[i] for token in kept], -2) for i in (0, 1))
        return key, value, torch.stack([token[2] for token in kept], -1)


CHUNKS = [[7], [1] * 7, [3, 4], [5, 1, 1]]
assert all(sum(lengths) == T for lengths in CHUNKS)
