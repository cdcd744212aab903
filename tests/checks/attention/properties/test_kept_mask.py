"""A mask that is kept may hide a token from all, from itself too."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.checks.support.asking import expect
from tests.support.mistakes.mistake import EQUATION


class Kept(nn.Module):
    """Attention that hides the future by a table, and what else the table hides."""

    def __init__(
        self, table: Tensor, *, scale: float = 13**-0.5, hides: int = 0
    ) -> None:
        super().__init__()
        self.register_buffer("seen", table)
        self.scale, self.hides = scale, hides
        self.query, self.key, self.value = (nn.Linear(13, 13) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        T = x.shape[1]
        seen: Any = self.seen
        scores = self.query(x) @ self.key(x).mT * self.scale
        scores = scores.masked_fill(seen[..., :T, :T] == self.hides, -torch.inf)
        rows: Tensor = scores.softmax(-1) @ self.value(x)
        return rows


def without(*columns: int) -> Tensor:
    table = torch.ones(20, 20).tril()
    table[:, [*columns]] = 0.0
    return table


@pytest.mark.parametrize(
    ("table", "which"),
    [
        (without(6, 13), "token 7 is"),
        (without(6)[None] == 1, "token 7 is"),
        (without(5, 6), "each of tokens 6, 7 is"),
    ],
)
def test_a_token_may_be_hidden_from_all(table: Tensor, which: str) -> None:
    words = "It is what the equation gives with seen, a mask that is kept: by it, "
    words += f"{which} hidden from all, from itself too."
    expect(Kept(table), EQUATION, "note", words, causal=True)


def test_ones_may_be_what_is_hidden() -> None:
    words = "*a mask that is kept: by it, token 7 is hidden from all, from itself too."
    expect(Kept(1 - without(6), hides=1), EQUATION, "note", words, causal=True)


def but_the_first() -> Tensor:
    """Give a table by which each token sees those before it, and the first itself."""
    table = torch.ones(20, 20).tril(-1)
    table[0, 0] = 1.0
    return table


def in_its_own_row() -> Tensor:
    """Give a table by which a token does not see itself, and those after it see it."""
    table = without()
    table[4, 4] = 0.0
    return table


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (but_the_first(), "*the mask is shifted by one place: no token sees itself."),
        (in_its_own_row(), "It is not what the equation gives, and no mistake known *"),
    ],
)
def test_a_token_that_others_see_is_not_hidden_from_itself(
    table: Tensor, words: str
) -> None:
    expect(Kept(table), EQUATION, "failed", words, causal=True)


def test_all_else_must_be_right_where_a_token_is_hidden_from_all() -> None:
    expect(Kept(without(6), scale=0.7), EQUATION, "failed", "It is *", causal=True)
