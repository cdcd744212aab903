"""Checkpoints with a mask: it is compared and left out, wherever the module stands."""

import pytest
import torch
from torch import nn

from headway import _saved_mask
from sizes import S, T


class Limited(nn.Module):
    """A module with a context length and the hook, and no weights."""

    def __init__(self, length: int) -> None:
        super().__init__()
        self.context_length = length
        self.register_load_state_dict_pre_hook(_saved_mask.accept_saved_mask)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bool, torch.int64], ids=str)
def test_the_mask_of_the_sources_is_accepted(dtype: torch.dtype) -> None:
    mask = torch.ones(T, T).triu(1).to(dtype)
    state = {"mask": mask}
    assert str(Limited(T).load_state_dict(state)) == "<All keys matched successfully>"
    model = nn.Sequential(nn.Identity(), Limited(T))
    status = model.load_state_dict({"1.mask": mask})
    assert str(status) == "<All keys matched successfully>"
    assert [*state] == ["mask"]


def test_no_mask_is_asked_for() -> None:
    assert str(Limited(T).load_state_dict({})) == "<All keys matched successfully>"


@pytest.mark.parametrize(
    "mask",
    [
        torch.ones(S, S).triu(1),
        torch.ones(T, T).triu(),
        torch.ones(T, T).tril(-1),
        torch.zeros(T, T),
    ],
    ids=["another length", "with the diagonal", "turned around", "nothing hidden"],
)
def test_another_mask_is_refused(mask: torch.Tensor) -> None:
    model = nn.Sequential(nn.Identity(), Limited(T))
    with pytest.raises(RuntimeError) as refusal:
        model.load_state_dict({"1.mask": mask})
    sentence = (
        f"1.mask must be torch.ones({T}, {T}).triu(1); "
        f"got 1.mask.shape={tuple(mask.shape)}, 1.mask.sum()={float(mask.sum()):g}."
    )
    assert sentence in str(refusal.value)
