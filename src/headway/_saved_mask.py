"""Checkpoints of the sources' classes, which kept a mask that ours do not have."""

from typing import Any, cast

import torch
from torch import nn


def accept_saved_mask(  # noqa: PLR0917 - PyTorch hands over all of these
    module: nn.Module,
    state_dict: dict[str, Any],
    prefix: str,
    local_metadata: dict[str, Any],
    strict: bool,
    missing_keys: list[str],
    unexpected_keys: list[str],
    error_msgs: list[str],
) -> None:
    """Let a checkpoint load whose class kept the causal mask as the buffer `mask`.

    A hook for `nn.Module.register_load_state_dict_pre_hook`, with the arguments that
    PyTorch hands to one. The sources' classes save a square that is one above the
    diagonal, where a token may not look. It says nothing that `context_length` does
    not say, so it is checked and left out.

    Args:
        module: The module that is being loaded, with a `context_length`.
        state_dict: The checkpoint; its `mask` entry is removed.
        prefix: Where in the checkpoint the module stands.
        local_metadata: Not used, as the next three.
        strict: Not used.
        missing_keys: Not used.
        unexpected_keys: Not used.
        error_msgs: Gets a sentence if the mask is another one.
    """
    saved = state_dict.pop(prefix + "mask", None)
    if saved is None:
        return
    length = cast(int, module.context_length)
    expected = torch.ones(length, length, device=saved.device).triu(1)
    if not torch.equal(saved.float(), expected):
        error_msgs.append(
            f"{prefix}mask must be torch.ones({length}, {length}).triu(1); "
            f"got {prefix}mask.shape={tuple(saved.shape)}, "
            f"{prefix}mask.sum()={float(saved.sum()):g}."
        )
