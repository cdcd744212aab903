"""Models whose positions begin behind that of padding, as RoBERTa counts them."""

from typing import Any

import torch
from torch import Tensor, nn

from tests.checks.model import models

FIRST = 2  # behind that of padding, which is 1


class Behind(nn.Module):
    """A table of positions; the rest of them is what a text may have."""

    def __init__(self) -> None:
        super().__init__()
        self.position_embeddings = nn.Embedding(models.LONGEST, models.WIDTH, 1)

    def forward(self, positions: Tensor) -> Tensor:
        return self.position_embeddings(positions)


def counted(model: nn.Module, T: int) -> Tensor:
    """Number positions, from that behind padding on."""
    table = model.get_submodule("places.position_embeddings")
    assert isinstance(table, nn.Embedding)
    return torch.arange(T) + (table.padding_idx or 0) + 1


class Padded(models.Padded):
    def __init__(self) -> None:
        super().__init__()
        self.add_module("places", Behind())

    def forward(
        self, input_ids: Tensor, attention_mask: Any = None, position_ids: Any = None
    ) -> Tensor:
        if position_ids is None:
            position_ids = counted(self, input_ids.shape[1])
        return super().forward(input_ids, attention_mask, position_ids)


class Cached(models.Cached):
    """Without positions that are told, each piece counts from the first one."""

    def __init__(self) -> None:
        super().__init__()
        self.add_module("places", Behind())

    def forward(
        self,
        ids: Tensor,
        past: Any = None,
        position_ids: Tensor | None = None,
        use_cache: bool = False,
    ) -> Any:
        self.told = position_ids
        return super().forward(ids, past, use_cache)

    def positions(self, ids: Tensor, past: Any) -> Tensor:
        return counted(self, ids.shape[-1]) if self.told is None else self.told
