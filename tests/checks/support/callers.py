"""Attention of one head that is called in many ways."""

from typing import Any

from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from headway.checks.attention.subject import Options, Subject, discover

WIDTH = 15


def discovered(target: Any, **options: Any) -> Subject:
    """Find out how code is called."""
    return discover(target, Options(**({"d_in": WIDTH} | options)))


class Attend(nn.Module):
    """Attention of one head, for others to be called otherwise."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(WIDTH, WIDTH) for _ in range(3))

    def mix(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        three = self.q(query), self.k(key), self.v(value)
        return scaled_dot_product_attention(*three)


class OfTokens(Attend):
    def forward(self, x: Tensor) -> Tensor:
        return self.mix(x, x, x)


class WithMask(Attend):
    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        seen = None if mask is None else mask.bool()
        three = self.q(x), self.k(x), self.v(x)
        return scaled_dot_product_attention(*three, attn_mask=seen)


class WithMaskAndCache(WithMask):
    def forward(self, x: Tensor, mask: Tensor | None, cache: Any) -> Tensor:
        return super().forward(x, mask)


class OfTwo(Attend):
    def forward(self, x: Tensor, context: Tensor) -> Tensor:
        return self.mix(x, context, context)


class OfThree(Attend):
    def forward(self, first: Tensor, second: Tensor, third: Tensor) -> Tensor:
        return self.mix(first, second, third)


class OfThreeAndMask(Attend):
    def forward(self, q: Tensor, k: Tensor, v: Tensor, mask: Any) -> Tensor:
        return self.mix(q, k, v)


class OfThreeByDefault(Attend):
    def forward(self, query: Tensor, key: Any = None, value: Any = None) -> Tensor:
        return self.mix(query, key, value)


class OfMany(Attend):
    def forward(self, x: Tensor, *others: Any, scale: float = 1.0) -> Tensor:
        return self.mix(x, x, x)


def of_three(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return scaled_dot_product_attention(query, key, value)
