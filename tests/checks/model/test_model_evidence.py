"""What is known of a model before it is asked."""

import torch

from headway.checks.model.model_evidence import distances
from tests.checks.model import models
from tests.checks.model.asking import embeds, evidence
from tests.checks.model.building import build


def test_who_sees_whom() -> None:
    right = evidence(build(models.Plain))
    assert torch.equal(right.influence > 0, torch.ones(11, 11).triu() > 0)
    assert not right.leaks
    assert float(right.ahead.max()) <= right.same_order_tolerance
    wrong = evidence(build(models.WrapsRound))
    assert wrong.leaks
    assert wrong.far_ahead > 0.1
    assert not evidence(build(models.Encoder), causal=False).leaks


def test_other_texts_are_another_matter() -> None:
    found = evidence(embeds(lambda m, x: x - x.mean(0, keepdim=True)))
    assert found.mixed
    assert float(found.ahead.max()) == 0.0
    assert not found.leaks
    # Nor does it hide who sees whom that other texts are changed in the same call.
    assert torch.equal(
        found.influence > found.same_order_tolerance, torch.ones(11, 11).triu() > 0
    )
    assert not evidence(build(models.Plain)).mixed


def test_a_leak_is_seen_beside_other_texts() -> None:
    found = evidence(embeds(lambda m, x: x - x.mean((0, 1), keepdim=True)))
    assert found.mixed
    assert found.leaks


def test_numbers_that_are_not_finite() -> None:
    one = torch.tensor([[[1.0, torch.nan], [torch.inf, 2.0], [3.0, 4.0]]])
    other = torch.tensor([[[1.0, torch.nan], [5.0, 2.0], [3.0, 4.5]]])
    assert distances(one, one).tolist() == [[0.0, 0.0, 0.0]]
    assert distances(one, other).tolist() == [[0.0, torch.inf, 0.5]]
