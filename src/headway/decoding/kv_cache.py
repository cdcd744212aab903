"""The key-value cache: what a token computes from the past is computed once."""

import torch
from jaxtyping import Float, Int
from torch import Tensor


class KeyValueCache:
    """Keep the keys and values of all tokens so far, for one layer."""

    def __init__(self) -> None:
        self._kept: tuple[Tensor, Tensor, Tensor] | None = None

    @property
    def length(self) -> int:
        """Number of tokens appended so far."""
        return 0 if self._kept is None else self._kept[0].shape[-2]

    def append(
        self,
        key: Float[Tensor, "*B S D"],
        value: Float[Tensor, "*B S V"],
        positions: Int[Tensor, "*#B S"],
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Keep what new tokens have; give that of all tokens, in order."""
        if self._kept is not None:
            old_key, old_value, old_positions = self._kept
            key = torch.cat([old_key, key], dim=-2)
            value = torch.cat([old_value, value], dim=-2)
            positions = torch.cat([old_positions, positions], dim=-1)
        self._kept = key, value, positions
        return self._kept
