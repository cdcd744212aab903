"""A cache of one layer, for code that appends to it by itself."""

import torch
from torch import Tensor

from headway.checks.core.errors import at_the_border


class LayerCache:
    """Keep the keys and values of one layer, and hand back those that may be seen.

    Args:
        window: How many tokens a token may see, itself among them, if older ones are to
            be forgotten.
    """

    def __init__(self, window: int | None = None) -> None:
        self._forgets_after = window
        self._kept: list[Tensor] = []
        self._length = 0
        if window is not None:  # code asks whether there is one
            self.window = window

    @property
    def length(self) -> int:
        """Number of tokens appended so far, those forgotten included."""
        return self._length

    @at_the_border
    def append(
        self, key: Tensor, value: Tensor, positions: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Append keys, values and positions; give those that new tokens may see."""
        S = key.shape[-2]
        places = positions.expand(*positions.shape[:-1], S).unsqueeze(-1)
        rows = [key, value, places]
        if self._kept:
            old = self._kept[2]
            texts = torch.broadcast_shapes(old.shape[:-2], places.shape[:-2])
            self._kept[2] = old.expand(*texts, *old.shape[-2:])
            rows[2] = places.expand(*texts, *places.shape[-2:])
            pairs = zip(self._kept, rows, strict=True)
            rows = [torch.cat(pair, dim=-2) for pair in pairs]
        first = 0
        if self._forgets_after is not None:
            first = max(rows[0].shape[-2] - (self._forgets_after - 1), 0)
        self._kept = [one[..., first:, :] for one in rows]
        self._length += S
        return rows[0], rows[1], rows[2].squeeze(-1)
