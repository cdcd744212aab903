"""Attention over images, with a memory, of two texts, or with one row for a text."""

from typing import Any

import torch
from torch import Tensor, nn

from tests.checks.support.callers import WIDTH, Attend


class Windows(Attend):
    """An image of four by four pixels, in windows of two by two."""

    def forward(self, x: Tensor) -> Tensor:
        windows = x.unflatten(1, (2, 2, 2, 2)).transpose(2, 3)
        y = windows.flatten(3, 4).flatten(0, 2)
        rows = self.mix(y, y, y).unflatten(0, (len(x), 2, 2)).unflatten(3, (2, 2))
        return rows.transpose(2, 3).flatten(1, 4)


class Rows(Attend):
    """Four tokens that stand side by side see each other."""

    def forward(self, x: Tensor) -> Tensor:
        y = x.unflatten(1, (4, 4)).flatten(0, 1)
        return self.mix(y, y, y).unflatten(0, (len(x), 4)).flatten(1, 2)


class NamedRows(Rows):
    """The same, and a name tells of it."""

    def __init__(self) -> None:
        super().__init__()
        self.window_size = 4

    def forward(self, x: Tensor) -> Tensor:
        assert x.shape[1] % self.window_size == 0
        return super().forward(x)


class OfHeightAndWidth(Attend):
    """It makes keys of every second pixel, so one row of pixels is too few."""

    def __init__(self) -> None:
        super().__init__()
        self.less = nn.Conv2d(WIDTH, WIDTH, 2, stride=2)

    def forward(self, x: Tensor, H: int, W: int) -> Tensor:
        fewer = self.less(x.mT.reshape(len(x), WIDTH, H, W)).flatten(2).mT
        return self.mix(x, fewer, fewer)


class DecoderLayer(nn.Module):
    """It attends to its own tokens, and then to other ones."""

    def __init__(self, *, time_first: bool = False) -> None:
        super().__init__()
        self.self_attn, self.cross_attn = (
            nn.MultiheadAttention(12, 3, batch_first=not time_first) for _ in range(2)
        )

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
    ) -> Any:
        rows, _ = self.self_attn(
            tgt, tgt, tgt, key_padding_mask=tgt_key_padding_mask, attn_mask=tgt_mask
        )
        rows = tgt + rows
        return rows + self.cross_attn(rows, memory, memory)[0]


class Pool(Attend):
    """Two learned queries ask all tokens of a text."""

    def __init__(self) -> None:
        super().__init__()
        self.query = nn.Parameter(torch.randn(2, WIDTH))

    def forward(self, x: Tensor) -> Tensor:
        return self.mix(self.query.expand(len(x), -1, -1), x, x)


class Both(nn.Module):
    """Two kinds of tokens ask each other, by the same scores."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = nn.Linear(10, 12), nn.Linear(14, 12)
        self.of_left, self.of_right = nn.Linear(10, 12), nn.Linear(14, 12)

    def forward(self, one: Tensor, two: Tensor) -> Any:
        scores = self.left(one) @ self.right(two).mT / 12**0.5
        ours = scores.softmax(-1) @ self.of_right(two)
        return ours, scores.mT.softmax(-1) @ self.of_left(one)
