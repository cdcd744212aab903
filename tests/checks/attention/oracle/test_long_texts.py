"""What is right in short texts, and wrong in long ones, is named."""

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from headway import ALiBi
from tests.checks.support.asking import said
from tests.checks.support.attention_designs import HEADS, Base, D, Halves, rotate_half
from tests.checks.support.nearby import OnBothSides
from tests.support.mistakes.mistake import EQUATION


class Counted(Halves):
    """Positions are counted in a type, from some number on."""

    def __init__(self, count: Any) -> None:
        super().__init__()
        self.count = count

    def turn(self, x: Tensor) -> Tensor:
        places = self.count(torch.arange(x.shape[2])).to(x)
        half = torch.outer(places, self.rotary_emb.inv_freq.to(x.dtype))
        both = torch.cat([half, half], dim=-1)
        return x * both.cos() + rotate_half(x) * both.sin()


@pytest.mark.parametrize("told", [{}, {"rotary_base": 1e4}])
def test_positions_in_16_bits_are_named(told: dict[str, float]) -> None:
    """Whether the angles are read off a call, or are those of a base that is told."""
    declared = " Declared: rotary_base=10000.0." if told else ""
    assert said(Counted(torch.Tensor.bfloat16), EQUATION, **told) == (
        "failed",
        "Short texts get what the equation gives; but in a text of 300 tokens, "
        "positions are counted in 16 bits: from position 257 on, neighbours share an "
        f"angle.{declared}",
    )


@pytest.mark.parametrize(
    "count",
    [
        lambda t: t,
        lambda t: t.half(),  # 300 are few for it
        lambda t: t.clamp(max=200),  # as a context that ends
        lambda t: t % 4,  # as those of an image
    ],
)
def test_other_positions_are_no_such_mistake(count: Any) -> None:
    assert said(Counted(count), EQUATION)[0] == "passed"


def test_a_table_that_ends_is_not_rounding() -> None:
    module = Counted(lambda t: t.clamp(max=200))
    assert said(module, EQUATION, rotary_base=1e4)[0] == "passed"


class Slanted(Base):
    """ALiBi in a type."""

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.alibi, self.dtype = ALiBi(HEADS), dtype

    def weigh(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        places = torch.arange(q.shape[2])
        bias = self.alibi(places, places).to(self.dtype).to(q)
        scores = q @ k.mT / D**0.5 + bias
        future = torch.ones_like(scores[0, 0]).triu(1).bool()
        return scores.masked_fill(future, -torch.inf).softmax(-1) @ v


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_bias_in_16_bits_is_named(dtype: torch.dtype) -> None:
    verdict, sentence = said(Slanted(dtype), EQUATION)
    rounded = dtype == torch.bfloat16
    assert verdict == ("failed" if rounded else "passed")
    assert ("300 tokens, the bias of positions is rounded to 16" in sentence) is rounded


class Branches(Base):
    """Texts of more than some tokens go another way."""

    def __init__(self, most: int, way: Any) -> None:
        super().__init__()
        self.most, self.way = most, way

    def weigh(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        if q.shape[2] > self.most:
            return self.way(q, k, v)
        return super().weigh(q, k, v)


def unscaled(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return scaled_dot_product_attention(q, k, v, is_causal=True, scale=1.0)


def odd(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return v.cumsum(2).tanh()


def refused(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    raise ValueError("too long")


def doubled(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return 2 * scaled_dot_product_attention(q, k, v, is_causal=True)


def test_another_way_of_long_texts_is_named_if_it_is_a_known_mistake() -> None:
    assert said(Branches(20, unscaled), EQUATION) == (
        "failed",
        "Short texts get what the equation gives; but in a text of 64 tokens, scores "
        "are not scaled.",
    )


@pytest.mark.parametrize("most", [8, 100])
@pytest.mark.parametrize("way", [odd, refused])
def test_what_is_not_known_of_long_texts_is_no_mistake(most: int, way: Any) -> None:
    assert said(Branches(most, way), EQUATION)[0] == "passed"


def test_texts_are_no_longer_than_the_context() -> None:
    module = Branches(20, unscaled)
    assert said(module, EQUATION, context_length=13)[0] == "passed"


def test_a_window_on_both_sides_is_as_wide_as_in_short_texts() -> None:
    said_of_one_side = said(OnBothSides("window_size"), EQUATION)
    assert said_of_one_side[0] == "passed"
    assert "with a window of 2 (window_size)" in said_of_one_side[1]
