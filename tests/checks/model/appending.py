"""A model whose layers append to caches, and a function beside it that writes."""

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from tests.checks.model import models


class Appending(models.Plain):
    """It takes a cache for each layer, which appends to its own."""

    class attention(models.Attention):  # noqa: D106, N801
        reach = 0

        def forward(self, x: Tensor, cache: object = None) -> Tensor:
            q, k, v = self.split(x)
            T = q.shape[-2]
            if cache is not None:
                places = torch.arange(cache.length, cache.length + T)
                k, v, _ = cache.append(k, v, places)
            later = k.shape[-2] - T
            mask = torch.ones(T, later + T, dtype=torch.bool)
            mask = mask.tril(later + (self.reach if later else 0))
            rows = F.scaled_dot_product_attention(q, k, v, mask)
            return self.proj(rows.transpose(1, 2).flatten(2))

    def forward(self, ids: Tensor, caches: list | None = None) -> Tensor:
        start = caches[0].length if caches else 0
        places = self.places.weight[start : start + ids.shape[-1]]
        x = self.tokens(ids) + places
        for block, cache in zip(
            self.blocks, caches or [None] * len(self.blocks), strict=True
        ):
            x = block(x, cache=cache)
        return self.head(self.norm(x))

    def chosen(self, logits: Tensor) -> Tensor:
        return logits.argmax(-1, keepdim=True)


class SeesItsPiece(Appending):
    """Behind a cache, later tokens of a piece are seen."""

    class attention(Appending.attention):  # noqa: D106, N801
        reach = 1


class WritesLeast(Appending):
    """The least likely token is written."""

    def chosen(self, logits: Tensor) -> Tensor:
        return logits.argmin(-1, keepdim=True)


def generate(
    model: Appending, ids: Tensor, length: int, *, temperature: float = 1.0
) -> Tensor:
    assert temperature == 0.0
    for _ in range(length):
        ids = torch.cat([ids, model.chosen(model(ids)[:, -1])], dim=1)
    return ids
