"""Evidence says what was seen, and what is meant."""

from dataclasses import FrozenInstanceError

import pytest
import torch
from torch import Tensor

from headway.checks import Fact
from tests.checks.support.asking import evidence_of
from tests.checks.support.callers import WIDTH, OfTokens
from tests.checks.support.nearby import Around, Latest
from tests.checks.support.other_shapes import Pool
from tests.checks.support.right import NAMED
from tests.support.attention_in_steps import SMALL, Attention, function, past


@pytest.mark.parametrize("causal", [True, False])
def test_a_row_may_see_the_past_or_everything(causal: bool) -> None:
    evidence = evidence_of(Attention(SMALL, causal=causal))
    T = evidence.subject.T
    full = torch.ones(T, T, dtype=torch.bool)
    assert torch.equal(evidence.visible, full.tril() if causal else full)
    assert torch.equal(evidence.allowed, evidence.visible)
    assert evidence.causal is causal
    assert evidence.future == Fact("hidden" if causal else "seen", "guessed")


def test_what_is_told_stands_above_what_is_seen() -> None:
    evidence = evidence_of(function(causal=True), causal=False)
    assert (evidence.causal, evidence.future) == (False, Fact("seen", "declared"))


def test_code_without_names_is_meant_as_it_behaves() -> None:
    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        scores = q @ k.mT / q.shape[-1] ** 0.5
        return scores.masked_fill(~past(q.shape[2]), -torch.inf).softmax(-1) @ v

    evidence = evidence_of(attend)
    assert (evidence.causal, evidence.future) == (True, Fact("hidden", "measured"))


def test_a_future_that_hardly_counts_is_meant_to_be_hidden() -> None:
    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        scores = q @ k.mT / q.shape[-1] ** 0.5
        return scores.masked_fill(~past(q.shape[2]), -10.0).softmax(-1) @ v

    evidence = evidence_of(attend)
    assert bool(evidence.visible.all())
    assert (evidence.causal, evidence.future) == (
        True,
        Fact("hidden", "measured", "later tokens hardly count"),
    )


def test_a_window_that_nobody_names_is_none() -> None:
    assert evidence_of(NAMED["window"](SMALL)).window == 3
    assert evidence_of(Attention(SMALL)).window is None
    assert evidence_of(NAMED["rotary"](SMALL)).positions
    assert not evidence_of(Attention(SMALL)).positions


def test_texts_are_compared_with_what_they_get_alone() -> None:
    evidence = evidence_of(Attention(SMALL))
    keep = torch.ones(evidence.x.shape[:2], dtype=torch.bool)
    right = evidence.difference_alone(evidence.output, evidence.x, keep)
    assert right <= evidence.tolerance
    changed = evidence.output.clone()
    changed[1, 2] += 3.0
    wrong = evidence.difference_alone(changed, evidence.x, keep)
    assert wrong == pytest.approx(3.0)
    keep[1, 2] = False
    alone = evidence.difference_alone(changed, evidence.x, keep)
    assert alone > evidence.tolerance  # the rows after it have one token less to see
    keep[1, 3:] = False
    assert evidence.difference_alone(changed, evidence.x, keep) <= evidence.tolerance


def test_nothing_of_it_can_be_set() -> None:
    evidence = evidence_of(Attention(SMALL))
    with pytest.raises(FrozenInstanceError):
        evidence.causal = False  # type: ignore[misc]


class Loud(OfTokens):
    """Its scores are so large that a query sees its best key alone."""

    def mix(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        return super().mix(100 * query, key, value)


def test_large_scores_hide_no_tokens() -> None:
    assert bool(evidence_of(Loud(), d_in=WIDTH).visible.all())


def test_of_one_token_alone_nothing_is_measured() -> None:
    class Alone(OfTokens):
        def forward(self, x: Tensor) -> Tensor:
            if x.ndim != 3 or x.shape[1] > 1:
                raise ValueError("one token, please")
            return super().forward(x)

    found = evidence_of(Alone(), d_in=WIDTH)
    assert (found.subject.T, found.causal) == (1, False)
    assert found.future.hint == "a text has one token alone"


def test_a_row_for_each_text_hides_no_future() -> None:
    class CausalPool(Pool):
        causal = True

    assert not evidence_of(CausalPool()).causal


def test_a_number_that_is_kept_may_tell_of_a_window() -> None:
    module = Latest(4)
    assert evidence_of(module).window == 4
    module.kernel_size = 3  # how far a row looks back
    assert evidence_of(module).window == 4
    assert evidence_of(module, window="none").window is None
    module.kernel_size = 5
    assert evidence_of(module).window is None
    assert evidence_of(module, window=4).window == 4


def test_a_pixel_that_sees_its_neighbours_hides_no_future() -> None:
    found = evidence_of(Around(1))
    assert not found.causal
    assert str(found.future) == "seen (measured; its tokens are pixels of an image)"
