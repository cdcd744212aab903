"""Changed texts share a call only where texts do not move each other."""

from typing import Any

import pytest
import torch
from torch import Tensor

from headway.checks.attention.evidence.batched_changes import (
    influence,
    moved_rows,
    share_a_call,
)
from tests.checks.support.asking import calling, evidence_of
from tests.support.attention_in_steps import SMALL, Attention
from tests.support.mistakes import MISTAKES, build


def test_one_large_call_sees_what_many_small_ones_see() -> None:
    evidence = evidence_of(Attention(SMALL))
    assert evidence.together
    with torch.no_grad():
        alone = influence(evidence.subject, evidence.x, together=False)
    assert torch.allclose(alone, evidence.influence, atol=1e-12)


@pytest.mark.parametrize(
    "name", ["call: the mean of the batch", "call: depends on the size of the batch"]
)
def test_texts_that_move_each_other_share_no_call(name: str) -> None:
    assert not evidence_of(build("two heads", MISTAKES[name])).together


def test_texts_of_a_batch_of_one_size_share_no_call() -> None:
    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        if len(x) > 3:
            raise ValueError("three texts at most")
        return run(x)

    evidence = evidence_of(calling(call))
    assert not evidence.together
    assert not share_a_call(evidence.subject, evidence.x)
    assert int(evidence.visible.sum()) == 15  # a triangle of five tokens


def test_a_large_call_that_is_refused_becomes_small_ones() -> None:
    def call(x: Tensor) -> Tensor:
        if len(x) > 2:
            raise ValueError("two texts at most")
        return x.cumsum(1)

    x = torch.ones(2, 3, 1, dtype=torch.float64)
    versions = [x + torch.eye(3, dtype=torch.float64)[s, :, None] for s in range(3)]
    moved = moved_rows(call, x, versions, together=True)
    assert moved[:, 0].tolist() == [[1, 1, 1], [0, 1, 1], [0, 0, 1]]
    assert torch.equal(moved, moved_rows(call, x, versions, together=False))
