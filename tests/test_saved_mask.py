"""Checkpoints with a mask: it is compared and left out, wherever the module stands."""

import copy
import pickle
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from headway import (
    CausalAttention,
    MultiHeadAttention,
    MultiHeadAttentionWrapper,
    _saved_mask,
)
from tests.support.sizes import CONTEXT, D_IN, D, E, H, S, T, draw

MATCHED = "<All keys matched successfully>"


class Limited(nn.Module):
    """A module with a context length and the hook, and no weights."""

    def __init__(self, length: int) -> None:
        super().__init__()
        self.context_length = length
        self.register_load_state_dict_pre_hook(_saved_mask.accept_saved_mask)


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float16, torch.bool, torch.int64], ids=str
)
def test_the_mask_of_the_sources_is_accepted(dtype: torch.dtype) -> None:
    mask = torch.ones(T, T).triu(1).to(dtype)
    state = {"mask": mask}
    with torch.device("meta"):  # it is compared where it is
        assert str(Limited(T).load_state_dict(state)) == MATCHED
    model = nn.Sequential(nn.Identity(), Limited(T))
    assert str(model.load_state_dict({"1.mask": mask})) == MATCHED
    assert [*state] == ["mask"]


def test_no_mask_is_asked_for() -> None:
    assert str(Limited(T).load_state_dict({})) == MATCHED


WRONG_MASKS = {
    "another length": torch.ones(S, S).triu(1),
    "with the diagonal": torch.ones(T, T).triu(),
    "turned around": torch.ones(T, T).tril(-1),
    "nothing hidden": torch.zeros(T, T),
    "minus infinity": torch.full((T, T), -torch.inf).triu(1),
    "one axis": torch.ones(T),
    "no axis": torch.ones(()),
}


@pytest.mark.parametrize("kind", WRONG_MASKS)
def test_another_mask_is_refused(kind: str) -> None:
    mask = WRONG_MASKS[kind]
    model = nn.Sequential(nn.Identity(), Limited(T))
    with pytest.raises(RuntimeError) as refusal:
        model.load_state_dict({"1.mask": mask})
    sentence = (
        f"1.mask must be torch.ones({T}, {T}).triu(1); "
        f"got 1.mask.shape={tuple(mask.shape)}, 1.mask.sum()={float(mask.sum()):g}."
    )
    assert sentence in str(refusal.value)


# The modules that take such checkpoints, and where a mask stands in them.
MODULES: dict[str, tuple[Callable[[], nn.Module], list[str]]] = {
    "CausalAttention": (lambda: CausalAttention(D_IN, D, CONTEXT, 0.0), ["mask"]),
    "MultiHeadAttentionWrapper": (
        lambda: MultiHeadAttentionWrapper(D_IN, D, CONTEXT, 0.0, H),
        [f"heads.{h}.mask" for h in range(H)],
    ),
    "MultiHeadAttention": (
        lambda: MultiHeadAttention(D_IN, E, CONTEXT, 0.0, H),
        ["mask"],
    ),
}


def saved_by_the_sources(module: nn.Module, masks: list[str]) -> dict[str, Tensor]:
    """Make the checkpoint of a class that keeps its masks, one above the diagonal."""
    weights = {name: draw(*p.shape).float() for name, p in module.named_parameters()}
    return weights | {name: torch.ones(CONTEXT, CONTEXT).triu(1) for name in masks}


@pytest.mark.parametrize("kind", MODULES)
def test_a_checkpoint_with_masks_loads_and_is_left_alone(kind: str) -> None:
    build, masks = MODULES[kind]
    module = build()
    checkpoint = saved_by_the_sources(module, masks)
    before = {name: tensor.clone() for name, tensor in checkpoint.items()}
    # A copy loads without its original.
    twins = [copy.deepcopy(module), pickle.loads(pickle.dumps(module))]  # noqa: S301
    del module
    for twin in (build(), *twins):
        assert str(twin.load_state_dict(checkpoint)) == MATCHED
        assert not any("mask" in name for name in twin.state_dict())
        for name, weight in twin.named_parameters():
            assert torch.equal(weight, checkpoint[name])
    assert [*checkpoint] == [*before]
    for name, tensor in checkpoint.items():
        assert torch.equal(tensor, before[name])


@pytest.mark.parametrize("kind", MODULES)
def test_what_does_not_fit_is_named(kind: str) -> None:
    build, masks = MODULES[kind]
    checkpoint = saved_by_the_sources(build(), masks)
    last, weight = masks[-1], next(iter(checkpoint))
    checkpoint[last] = torch.ones(T, T).triu(1)
    del checkpoint[weight]
    for module in (build(), copy.deepcopy(build())):
        with pytest.raises(RuntimeError) as refusal:
            module.load_state_dict(checkpoint)
        lines = str(refusal.value).splitlines()
        assert lines[0] == f"Error(s) in loading state_dict for {kind}:"
        assert sorted(lines[1:]) == [
            f'\tMissing key(s) in state_dict: "{weight}". ',
            f"\t{last} must be torch.ones({CONTEXT}, {CONTEXT}).triu(1); "
            f"got {last}.shape=({T}, {T}), {last}.sum()={T * (T - 1) // 2}.",
        ]
