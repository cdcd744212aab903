"""Learned biases for buckets of distances, and distances in wrong buckets."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from headway import relative_buckets
from tests.checks.support.asking import evidence_of, said
from tests.checks.support.attention_designs import HEADS, WIDTH, Base, D
from tests.support.mistakes.mistake import EQUATION

BUCKETS, REACH = 6, 20


class Bucketed(Base):
    """Each head adds a learned number for the bucket of a distance."""

    def __init__(self, wrong: Any = None, heads: int = HEADS, **options: Any) -> None:
        super().__init__(**options)
        self.relative_attention_bias = nn.Embedding(BUCKETS, heads)
        self.max_distance, self.wrong = REACH, wrong

    def numbers(self, T: int) -> Tensor:
        places = torch.arange(T)
        both = not self.causal
        found = relative_buckets(
            places,
            places,
            num_buckets=BUCKETS,
            max_distance=REACH,
            bidirectional=both,
        )
        return found if self.wrong is None else self.wrong(found)

    def weigh(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        T = q.shape[2]
        bias = self.relative_attention_bias(self.numbers(T))[..., :HEADS].movedim(-1, 0)
        scores = q @ k.mT / D**0.5 + bias
        if self.causal:
            scores = scores.masked_fill(torch.ones(T, T).triu(1).bool(), -torch.inf)
        return scores.softmax(-1) @ v


@pytest.mark.parametrize("causal", [True, False])
def test_learned_biases_are_part_of_the_equation(causal: bool) -> None:
    module = Bucketed(causal=causal)
    assert said(module, EQUATION) == (
        "passed",
        "It is what the equation gives in 64 bits, with the learned biases of "
        "relative_attention_bias.",
    )
    designs = evidence_of(module).designs
    assert [one.buckets is None for one in designs] == [False] * (2 - causal) + [True]


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        (
            lambda n: (n - 1).clamp(min=0),
            "distance 1 falls into bucket 0 of the bias, and not into bucket 1, and 5 "
            "larger ones into others as well",
        ),
        (
            lambda n: n.masked_fill(n == 4, 3),
            "distance 6 falls into bucket 3 of the bias, and not into bucket 4",
        ),
        (
            lambda n: n.where(n < 3, n - 1),
            "distance 3 falls into bucket 2 of the bias, and not into bucket 3, and 3 "
            "larger ones into others as well",
        ),
        (
            torch.zeros_like,
            "the bias of positions is left out, or all of the past falls into one "
            "bucket, as where queries and keys change places in it",
        ),
    ],
)
def test_distances_in_wrong_buckets_are_named(wrong: Any, what: str) -> None:
    assert said(Bucketed(wrong), EQUATION) == (
        "failed",
        f"It is exactly what comes out when {what}.",
    )


def test_what_no_buckets_explain_is_not_named() -> None:
    def blurred(places: Tensor) -> Tensor:
        return (places + torch.arange(len(places))) % BUCKETS

    verdict, sentence = said(Bucketed(blurred), EQUATION)
    assert verdict == "note"
    assert sentence.endswith("no mistake known here explains it.")


def test_a_bucket_too_far_away_is_found_in_a_long_text() -> None:
    verdict, sentence = said(Bucketed(lambda n: n.clamp(max=4)), EQUATION)
    assert verdict == "failed"
    assert "in a text of 64 tokens, distance" in sentence


@pytest.mark.parametrize("change", ["heads", "reach", "few"])
def test_tables_of_another_kind_are_no_such_biases(change: str) -> None:
    module = Bucketed(heads=HEADS + (change == "heads"))
    if change == "reach":
        module.max_distance = None
    if change == "few":
        module.max_distance = 1
    evidence = evidence_of(module, d_in=WIDTH)
    assert all(one.buckets is None for one in evidence.designs)


def test_a_bias_of_another_name_is_no_such_bias() -> None:
    module = Bucketed()
    module.words = module.relative_attention_bias
    del module.relative_attention_bias
    module.weigh = Base.weigh.__get__(module)
    assert all(one.buckets is None for one in evidence_of(module).designs)
