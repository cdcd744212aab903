"""Where tokens stand, and which keys they may see, below all modules with heads."""

import torch

from headway import _heads
from tests.support.sizes import CONTEXT, D_IN, B, S, T, draw


def test_tokens_stand_behind_those_that_are_kept() -> None:
    x = draw(B, T, D_IN)
    for kept in (0, 1, CONTEXT - T):
        places = _heads.positions(x, None, kept, CONTEXT)
        assert places.tolist() == [*range(kept, kept + T)]
    assert _heads.positions(x.to("meta"), None, 3, CONTEXT).device.type == "meta"


def test_what_one_says_goes_before_what_is_kept() -> None:
    x = draw(B, T, D_IN)
    for shape in ((T,), (1,), (B, T), (B, 1), (1, T)):
        given = torch.randint(CONTEXT, shape)
        assert _heads.positions(x, given, CONTEXT, CONTEXT) is given


def test_a_mask_is_cut_to_the_newest_and_gets_an_axis_for_heads() -> None:
    mask = torch.rand(B, T, S) < 0.5
    cut = _heads.mask_of_newest(mask, T)
    assert torch.equal(cut, mask[:, None, :, S - T :])
    assert _heads.mask_of_newest(mask[..., :1], T).shape == (B, 1, T, 1)
    assert _heads.mask_of_newest(None, T) is None


def test_a_mask_is_over_all_keys() -> None:
    x = draw(B, T, D_IN)
    for shape in ((T, T + 3), (1, T + 3), (B, 1, T + 3), (B, T, 1)):
        _heads.check_mask(torch.zeros(shape, dtype=torch.bool), x, kept=3)
    _heads.check_mask(None, x, kept=3)
