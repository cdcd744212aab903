"""What counts with a mask tells how it hides."""

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import normalize

from checks.support.asking import evidence_of
from stepwise import SMALL, KeyMasked, PairMasked, hide


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
