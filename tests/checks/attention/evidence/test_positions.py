"""Positions are told by what code does, and names say whether they are meant."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from tests.checks.support import attention_designs
from tests.checks.support.asking import evidence_of, said, verdicts
from tests.checks.support.attention_designs import Base, Halves
from tests.checks.support.callers import WIDTH, OfTokens
from tests.support.mistakes.mistake import ORDER, SUM


class Unused(Halves):
    def inside(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, ...]:
        return q, k, v


class OnValues(Halves):
    def inside(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, ...]:
        return self.turn(q), self.turn(k), self.turn(v)


class Added(Base):
    """Learned positions are added to tokens."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.position_embedding = nn.Embedding(attention_designs.CONTEXT, 24)

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x + self.position_embedding.weight[: x.shape[1]])


class Fading(Base):
    """Scores fall with the distance, by a factor that is learned."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.gamma = nn.Parameter(torch.ones(1, 1))

    def weigh(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        T = q.shape[2]
        steps = torch.arange(T).to(q)
        scores = (
            q @ k.mT / 8**0.5 - self.gamma.square() * (steps[:, None] - steps).abs()
        )
        hidden = torch.ones(T, T, dtype=torch.bool).triu(1) & self.causal
        return scores.masked_fill(hidden, -torch.inf).softmax(-1) @ v


class Mixed(Base):
    """Weights are mixed between heads afterwards, so they do not sum to one."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.reattend = nn.Parameter(torch.ones(3, 3))

    def weigh(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        weights = (q @ k.mT / 8**0.5).softmax(-1)
        weights = torch.einsum("bhts,hg->bgts", weights, self.reattend)
        return (weights * weights.shape[-1] ** self.reattend[0, 1]) @ v


both = pytest.mark.parametrize("causal", [True, False])


@both
def test_positions_are_felt_or_not(causal: bool) -> None:
    felt = evidence_of(Halves(causal=causal))
    assert felt.positions
    assert felt.places.felt
    assert felt.places.kept == "rotary_emb"
    unused = evidence_of(Unused(causal=causal))
    assert not unused.positions
    assert not unused.places.felt
    plain = evidence_of(Base(causal=causal))
    assert plain.places.named is None
    assert not plain.places.felt
    given = evidence_of(
        attention_designs.Given(causal=causal), call=attention_designs.given
    )
    assert given.positions


@both
def test_what_is_named_and_not_felt_is_a_finding(causal: bool) -> None:
    assert said(Halves(causal=causal), ORDER)[0] == "not applicable"
    assert said(Unused(causal=causal), ORDER) == (
        "failed",
        "It has rotary_emb, but the order of the tokens that a row sees does not "
        "matter: positions are never used, or do not reach the keys.",
    )


@both
def test_equal_tokens_stay_equal_where_queries_and_keys_are_turned(
    causal: bool,
) -> None:
    assert said(Halves(causal=causal), SUM)[0] == "passed"
    assert said(attention_designs.Biased(causal=causal), SUM)[0] == "passed"
    verdict, sentence = said(OnValues(causal=causal), SUM)
    assert verdict == "failed"
    assert "rotary_emb should act on queries and keys only" in sentence


@both
def test_positions_that_are_added_tell_equal_tokens_apart(causal: bool) -> None:
    module = Added(causal=causal)
    assert verdicts(module, SUM, ORDER) == ["not applicable"] * 2


def test_weights_of_its_own_excuse_what_they_change() -> None:
    assert said(Fading(causal=False), ORDER) == (
        "not applicable",
        "It has weights of its own that change this: gamma.",
    )
    assert said(Mixed(causal=False), SUM) == (
        "not applicable",
        "It has weights of its own that change this: reattend.",
    )


def test_weights_of_its_own_excuse_nothing_else() -> None:
    class Wrong(attention_designs.ByHand):
        def __init__(self) -> None:
            super().__init__(causal=False)
            self.norm = nn.LayerNorm(24)

        def weights(self, scores: Tensor) -> Tensor:
            return scores.exp()

        def forward(self, x: Tensor) -> Tensor:
            return super().forward(self.norm(x))

    assert said(Wrong(), SUM)[0] == "failed"


class Convolved(nn.Module):
    """A convolution makes all three, of each token and its neighbours if it is wide."""

    def __init__(self, wide: int) -> None:
        super().__init__()
        self.mix = nn.Conv1d(24, 72, wide, padding=wide // 2)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.mix(x.mT).mT.chunk(3, dim=-1)
        return scaled_dot_product_attention(q, k, v)


@pytest.mark.parametrize(("wide", "verdict"), [(3, "not applicable"), (1, "passed")])
def test_a_convolution_over_tokens_lets_their_order_matter(
    wide: int, verdict: str
) -> None:
    module = Convolved(wide)
    assert said(module, ORDER)[0] == said(module, SUM)[0] == verdict


class OfPlaces(OfTokens):
    """Each place has a column of its own, as many as there are places."""

    def __init__(self, columns: int, longest: int = 20) -> None:
        super().__init__()
        self.block_size = longest
        self.columns = nn.Parameter(torch.randn(WIDTH, columns))

    def forward(self, x: Tensor) -> Tensor:
        weights = (x @ self.columns[:, : x.shape[1]]).softmax(-1)
        return weights @ super().forward(x)


@pytest.mark.parametrize(("columns", "verdict"), [(20, "n"), (19, "n"), (18, "f")])
def test_a_matrix_may_have_a_column_for_each_place(columns: int, verdict: str) -> None:
    assert said(OfPlaces(columns), ORDER, d_in=WIDTH)[0].startswith(verdict)


def test_a_length_that_is_also_a_width_tells_nothing() -> None:
    assert said(OfPlaces(WIDTH, longest=WIDTH), ORDER, d_in=WIDTH)[0] == "failed"
