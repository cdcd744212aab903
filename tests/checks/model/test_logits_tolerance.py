"""How far apart logits may be depends on how large they are, and on their type."""

import pytest
import torch

from headway.checks.model.logits_tolerance import logits_tolerance


@pytest.mark.parametrize(
    ("dtype", "share"),
    [
        (torch.float64, 1e-5),
        (torch.float32, 1e-4),
        (torch.bfloat16, 0.05),
        (torch.float16, 0.05),
    ],
)
def test_a_share_of_the_largest_logit(dtype: torch.dtype, share: float) -> None:
    logits = torch.tensor([[3.0, -8.0], [0.5, 2.0]], dtype=dtype)
    assert logits_tolerance(logits) == pytest.approx(8 * share)
