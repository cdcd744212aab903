"""What counts with a mask tells how it hides."""

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import normalize

from headway.checks.attention.evidence.mask_faults import Given, fault
from tests.checks.support.asking import evidence_of
from tests.support.attention_in_steps import SMALL, KeyMasked, PairMasked, hide


def filling(fill: float, heads: slice = slice(None)) -> Any:
    def put(m: Any, scores: Tensor, mask: Tensor | None) -> Tensor:
        scores = hide(m, scores, None)
        if mask is None:
            return scores
        mask = mask[:, None] if mask.ndim == 3 else mask
        filled = scores.clone()
        filled[:, heads] = scores[:, heads].masked_fill(~mask, fill)
        return filled

    return put


@pytest.mark.parametrize("kind", [PairMasked, KeyMasked])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(
    ("put", "effect"),
    [
        (filling(1e-9), "near zero"),
        (filling(-10.0), "too near"),
        (filling(-torch.inf, slice(1)), "some heads"),
    ],
)
def test_what_counts_tells_how_a_mask_hides(
    kind: Any, causal: bool, put: Any, effect: str
) -> None:
    masks = evidence_of(kind(SMALL, causal=causal, hide=put)).masks
    assert [*masks.disobeyed.values()] == [effect]


def of_directions(m: Any, q: Tensor, k: Tensor) -> Tensor:
    """Score by directions alone, so that large tokens score no more than small ones."""
    return 3 * normalize(q, dim=-1) @ normalize(k, dim=-1).mT


@pytest.mark.parametrize("fill", [1e-9, -10.0])
def test_scores_that_do_not_grow_with_tokens_tell_only_that_it_counts(
    fill: float,
) -> None:
    module = PairMasked(SMALL, bias=False, score=of_directions, hide=filling(fill))
    assert [*evidence_of(module).masks.disobeyed.values()] == ["counts"]


X = torch.randn(2, 7, 5, generator=torch.Generator().manual_seed(0)).double()
EVERY = torch.ones(7, 7, dtype=torch.bool)
KEEP = (torch.arange(7) % 3 != 1).expand(7, 7)


def attending(bias: float = 0.0, factor: float = 1.0) -> Given:
    """Give attention that adds a number to the scores of what a mask hides."""

    def attend(x: Tensor) -> Tensor:
        weights = (x @ x.mT + bias * ~KEEP).softmax(dim=-1)
        return factor * weights @ x

    return attend


@pytest.mark.parametrize(
    ("visible", "keep"),
    [(EVERY.tril().triu(), KEEP), (EVERY, EVERY), (EVERY, ~EVERY)],
)
def test_of_a_mask_that_hides_or_shows_nothing_else_no_fault_is_known(
    visible: Tensor, keep: Tensor
) -> None:
    assert fault(attending(-5.0), attending(), X, visible, keep) is None
    assert fault(attending(-5.0), attending(), X, EVERY, KEEP) == "too near"


def test_a_mask_that_turns_what_it_shows_around_has_no_name() -> None:
    assert fault(attending(-5.0, -1.0), attending(), X, EVERY, KEEP) is None
    assert fault(attending(-5.0, 2.0), attending(), X, EVERY, KEEP) == "too near"


@pytest.mark.parametrize(
    ("bias", "either", "effect"),
    [
        (-0.1, True, None),
        (-0.1, False, "near zero"),
        (-1.0, True, "near zero"),
        (-5.0, True, "too near"),
    ],
)
def test_where_either_is_seen_it_has_to_count_for_less(
    bias: float, either: bool, effect: str | None
) -> None:
    found = fault(attending(bias), attending(), X, EVERY, KEEP, either=either)
    assert found == effect


PAIRS = (torch.arange(7)[:, None] + 2 * torch.arange(7)) % 3 != 1
OTHER = (torch.arange(7) % 3 != 0).expand(7, 7)


def beside(keep: Tensor, *, after: bool, factor: Tensor | float = 1.0) -> Given:
    """Give tokens and what attention adds, whose weights or scores a mask hides."""

    def attend(x: Tensor) -> Tensor:
        scores = x @ x.mT
        if after:
            weights = scores.softmax(dim=-1) * keep
        else:
            weights = scores.masked_fill(~keep, 1e-9).softmax(dim=-1)
        return x + factor * (weights @ x)

    return attend


@pytest.mark.parametrize("keep", [KEEP, PAIRS])
def test_weights_are_hidden_beside_what_is_added_to_attention(keep: Tensor) -> None:
    plain = beside(EVERY, after=True)
    for after, effect in ((True, "after the softmax"), (False, "near zero")):
        others = {beside(OTHER, after=after): OTHER}
        masked = beside(keep, after=after)
        assert fault(masked, plain, X, EVERY, keep, others=others) == effect


@pytest.mark.parametrize(
    "factor", [torch.arange(7.0)[:, None], 2.0], ids=["by row", "2"]
)
def test_rows_that_lack_other_shares_have_no_weights_hidden(factor: Any) -> None:
    plain, alike = beside(EVERY, after=True), beside(EVERY, after=True, factor=factor)
    found = fault(alike, plain, X, EVERY, KEEP, others={alike: OTHER})
    assert found != "after the softmax"
