"""Training, eval, and one call after another."""

from collections.abc import Callable
from math import nan
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import dropout

from tests.checks.support.asking import calling, expect, rows_of, said
from tests.support.attention_in_steps import SMALL, Attention, Sizes, function
from tests.support.mistakes import MISTAKES
from tests.support.mistakes.mistake import AGAIN, DROPOUT, TRAINING


def test_what_cannot_be_called_again_is_found() -> None:
    def once(m: Any, run: Any, x: Tensor) -> Tensor:
        if hasattr(m, "called"):
            raise RuntimeError("once is enough")
        m.called = True
        return run(x)

    assert said(calling(once), AGAIN) == (
        "failed",
        "After other calls it raised RuntimeError: once is enough.",
    )


class Normed(nn.Module):
    """Attention whose output goes through a batch norm."""

    def __init__(self, norm: nn.Module) -> None:
        super().__init__()
        self.attend, self.norm = Attention(SMALL), norm

    def forward(self, x: Tensor) -> Tensor:
        rows = self.attend(x)
        normed: Tensor = self.norm(rows.flatten(0, 1)).unflatten(0, rows.shape[:2])
        return normed


def test_batch_norms_compute_something_else_in_training() -> None:
    width = Attention(SMALL)(torch.zeros(1, 2, SMALL.d_in)).shape[-1]
    verdict, sentence = said(Normed(nn.BatchNorm1d(width)), TRAINING)
    assert verdict == "not applicable"
    assert sentence == "In training its batch norms use the means of a batch."
    assert said(Normed(nn.LayerNorm(width)), TRAINING)[0] == "passed"


def of_functions(drops: Any) -> Any:
    """Make a function that takes a rate of dropout."""

    def attention(
        query: Tensor, key: Tensor, value: Tensor, dropout_p: float = 0.0
    ) -> Tensor:
        return function(
            causal=False, drop=lambda m, weights: drops(weights, dropout_p)
        )(query, key, value)

    return attention


def test_functions_are_asked_about_dropout_too() -> None:
    assert said(of_functions(dropout), DROPOUT)[0] == "passed"
    kept = of_functions(lambda w, p: w * (torch.rand_like(w) >= p))
    assert said(kept, DROPOUT)[0] == "failed"
    assert said(of_functions(lambda w, p: w), DROPOUT)[0] == "failed"
    assert said(function(causal=False), DROPOUT)[0] == "not applicable"


def test_a_function_that_drops_the_same_in_all_texts_keeps_the_mean() -> None:
    def drops(weights: Tensor, p: float) -> Tensor:
        return weights * dropout(torch.ones_like(weights[:1]), p)

    assert said(of_functions(drops), DROPOUT)[0] == "passed"


def test_code_that_takes_no_large_batch_drops_in_small_ones() -> None:
    def few(m: Any, run: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
        if len(x) > 50:
            raise ValueError("too many texts")
        return run(x)

    assert said(Attention(SMALL, p=0.1, call=few), DROPOUT)[0] == "passed"


class Dropping(nn.Module):
    """Attention of one head with layers of its own, whose steps are as told."""

    def __init__(self, weigh: Any, end: Any, **layers: nn.Module) -> None:
        super().__init__()
        self.weigh, self.end = weigh, end
        self.qkv = nn.Linear(17, 3 * 5)
        for name, layer in layers.items():
            setattr(self, name, layer)

    def forward(self, x: Tensor) -> Tensor:
        query, key, value = self.qkv(x).chunk(3, dim=-1)
        if hasattr(self, "q_norm"):
            query, key = self.q_norm(query), self.k_norm(key)
        weights = self.weigh(self, query @ key.mT / 5**0.5)
        return self.end(self, weights @ value)


def drops_weights(m: Any, scores: Tensor) -> Tensor:
    return m.dropout(scores.softmax(dim=-1))


def drops_scores(m: Any, scores: Tensor) -> Tensor:
    return m.dropout(scores).softmax(dim=-1)


def normed(**norms: nn.Module) -> Dropping:
    """Make attention with a norm at the end, and others on queries and keys."""
    layers = {"dropout": nn.Dropout(0.1), "norm": nn.LayerNorm(5)}
    return Dropping(drops_weights, lambda m, rows: m.norm(rows), **layers, **norms)


def test_a_norm_after_dropout_is_no_mistake_of_dropout() -> None:
    assert said(normed(), DROPOUT)[0] == "passed"


def test_a_layer_that_may_move_the_mean_is_named() -> None:
    module = normed(q_norm=nn.LayerNorm(5), k_norm=nn.LayerNorm(5))
    words = "Besides attention it has *, which may move the mean."
    expect(module, DROPOUT, "not applicable", words)


def in_a_block(last: Any) -> Dropping:
    """Make attention without dropout, with layers behind it."""
    layers = {"drop": nn.Dropout(0.1), "first": nn.Linear(17, 9)}
    layers |= {"second": nn.Linear(9, 17), "proj": nn.Linear(5, 17)}

    def end(m: Any, rows: Tensor) -> Tensor:
        joined = m.proj(rows)
        hidden: Tensor = m.second(nn.functional.gelu(m.first(joined)))
        return joined + last(m, hidden)

    return Dropping(lambda m, scores: scores.softmax(-1), end, **layers)


def test_dropout_may_be_in_layers_behind_attention_alone() -> None:
    module = in_a_block(lambda m, hidden: m.drop(hidden))
    assert said(module, DROPOUT)[0] == "passed"
    words = "It has a dropout rate, but in training nothing is dropped."
    expect(in_a_block(lambda m, hidden: hidden), DROPOUT, "failed", words)


def the_same(m: Any, scores: Tensor) -> Tensor:
    weights = scores.softmax(dim=-1)
    return weights * m.first(torch.ones_like(weights[:1]))


@pytest.mark.parametrize(
    ("weigh", "rate", "words"),
    [
        (the_same, 0.1, "All texts of a batch lose the same*"),
        (lambda m, s: s.softmax(-1), 0.1, "first has a rate but drops nothing*"),
        (
            lambda m, s: m.first(s.softmax(-1)),
            0.9,
            "It drops at a rate of 0.9, more than it keeps*",
        ),
    ],
)
def test_what_dropout_does_in_each_place_is_noted(
    weigh: Any, rate: float, words: str
) -> None:
    layers = {"first": nn.Dropout(rate), "last": nn.Dropout(0.1)}
    module = Dropping(weigh, lambda m, rows: m.last(rows), **layers)
    expect(module, DROPOUT, "note", words)


def bent(bend: Callable[[Tensor], Tensor], weigh: Any = drops_weights) -> Dropping:
    """Make attention with something behind it that has no weights."""
    layers = {"dropout": nn.Dropout(0.1), "proj": nn.Linear(5, 17)}
    return Dropping(weigh, lambda m, rows: m.proj(bend(rows)), **layers)


@pytest.mark.parametrize("bend", [nn.functional.gelu, torch.tanh, nn.LayerNorm(5)])
def test_what_is_not_linear_behind_dropout_may_move_the_mean(bend: Any) -> None:
    words = "The result is not linear in the values*"
    expect(bent(bend), DROPOUT, "not applicable", words)


def of_several_tokens(x: Tensor) -> Tensor:
    if x.shape[-2] == 1:
        raise RuntimeError("one token")
    return x


@pytest.mark.parametrize("bend", [nn.Identity(), of_several_tokens])
def test_dropout_on_scores_is_seen_where_all_else_is_linear(bend: Any) -> None:
    assert said(bent(bend, drops_scores), DROPOUT)[0] == "failed"


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(
    ("off", "verdict"), [(-0.1, "failed"), (0.0, "passed"), (0.1, "failed")]
)
def test_a_rate_that_is_a_tenth_off_moves_the_mean(
    causal: bool, off: float, verdict: str
) -> None:
    def drop(m: Any, weights: Tensor) -> Tensor:
        p = m.dropout.p
        if not m.training or p == 0:
            return weights
        return weights * (torch.rand_like(weights) >= p + off) / (1 - p)

    module = Attention(SMALL, causal=causal, p=0.3, drop=drop)
    assert said(module, DROPOUT)[0] == verdict


def test_dropout_in_two_places_keeps_the_mean() -> None:
    module = Attention(SMALL, p=0.3, drop=lambda m, w: m.dropout(m.dropout(w)))
    assert said(module, DROPOUT)[0] == "passed"


def kept(rate: str) -> Attention:
    """Make a module whose rate of dropout is what is kept, in a way."""

    def drop(m: Any, weights: Tensor) -> Tensor:
        if not m.training:
            return weights
        keep = m.dropout.p
        drawn = weights * (torch.rand_like(weights) < keep)
        return drawn / keep if rate == "grows" and keep else drawn

    return Attention(SMALL, p=0.1, drop=drop)


def test_a_rate_that_is_taken_for_what_is_kept_is_named() -> None:
    rows = rows_of(kept("grows"), TRAINING, DROPOUT)
    assert [row.sentence for row in rows] == [
        "In training, a rate of 0 drops everything, and a rate of 1 nothing: the "
        "dropout rate is used as the share that is kept.",
        "A rate of 0.001 changes nearly everything: the rate is used as the share that "
        "is kept.",
    ]


def test_another_way_in_training_is_no_matter_of_dropout() -> None:
    module = Attention(SMALL, p=0.1, call=lambda m, run, x: run(x) * (1 + m.training))
    rows = rows_of(module, TRAINING, DROPOUT)
    assert [row.verdict for row in rows] == ["failed", "not applicable"]


def test_wide_tokens_need_fewer_draws() -> None:
    wide = Sizes(144, 36, 4, 64, 144)
    assert said(Attention(wide, p=0.1), DROPOUT)[0] == "passed"
    lost = MISTAKES["dropout: dropout of scores"]
    assert said(Attention(wide, **lost.options, **lost.steps), DROPOUT)[0] == "failed"


def test_what_is_dropped_of_minus_infinity_is_nan() -> None:
    module = Attention(
        SMALL, p=0.3, softmax=lambda m, s: m.dropout(s).softmax(-1), drop=lambda m, w: w
    )
    words = "In training, rows become nan where something is dropped*"
    expect(module, DROPOUT, "failed", words)


def test_dropout_on_scores_as_well_shows_with_large_tokens() -> None:
    """It moves the mean of ordinary tokens by less than chance does."""
    module = Attention(
        SMALL,
        causal=False,
        p=0.3,
        score=lambda m, q, k: q @ k.mT * 0.01,
        softmax=lambda m, s: m.dropout(s).softmax(-1),
    )
    [row] = rows_of(module, DROPOUT)
    assert row.figure == 64 * 12  # draws
    assert (row.verdict, row.sentence) == (
        "failed",
        "With large tokens, the mean of many draws in training is not the answer of "
        "eval: dropout acts on scores as well, before the softmax.",
    )
    right = Attention(SMALL, causal=False, p=0.3)
    assert said(right, DROPOUT)[0] == "passed"


def test_texts_that_are_mixed_are_no_matter_of_dropout() -> None:
    module = Attention(SMALL, p=0.1, call=lambda m, run, x: run(x + x.mean(0)))
    assert said(module, DROPOUT)[0] == "passed"


def test_large_tokens_that_become_nan_say_nothing_of_dropout() -> None:
    module = Attention(
        SMALL, p=0.3, call=lambda m, run, x: run(x) * torch.where(x.max() > 99, nan, 1)
    )
    assert said(module, DROPOUT)[0] == "passed"


class Twice(nn.Module):
    """What the first layer drops moves the scores of the second."""

    def __init__(self) -> None:
        super().__init__()
        self.first_attn, self.second_attn = (
            nn.MultiheadAttention(12, 3, dropout=0.1, batch_first=True)
            for _ in range(2)
        )

    def forward(self, x: Tensor) -> Any:
        rows, _ = self.first_attn(x, x, x)
        return self.second_attn(rows, rows, rows)[0]


def test_of_two_layers_of_attention_the_mean_is_not_asked() -> None:
    assert said(Twice(), DROPOUT) == (
        "not applicable",
        "Besides attention it has a second layer of attention, which may move the "
        "mean.",
    )


def gated(rows: Tensor) -> Tensor:
    return rows * (0.03 * rows).sigmoid()


def test_dropout_before_a_gate_is_no_dropout_on_scores() -> None:
    """With large tokens the gate moves the mean, and with usual ones hardly."""
    words = "Dropout acts in training, and keeps the mean of many draws."
    expect(bent(gated), DROPOUT, "passed", words)
