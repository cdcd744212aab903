"""What a piece of code is meant to do, read off the names in it."""

import re
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from headway.checks.names import arguments, parts, words

_CAUSAL = re.compile(r"causal|^tril|^triu|autoregressive", re.IGNORECASE)
_POSITIONS = re.compile(
    r"rope|rotary|rotate|alibi|position|pos_?emb|freqs|inv_freq|relative|slopes",
    re.IGNORECASE,
)
_WINDOW = re.compile(r"window", re.IGNORECASE)
_CONTEXT = (
    "context_length",
    "block_size",
    "max_seq_len",
    "max_seq_length",
    "max_len",
    "max_length",
    "max_position_embeddings",
    "n_positions",
    "n_ctx",
)
_WIDTH = ("d_in", "embed_dim", "d_model", "hidden_size", "n_embd", "emb_size", "dim")
_HEADS = ("num_heads", "n_heads", "n_head", "num_attention_heads", "nhead", "heads")


def is_causal(target: Callable[..., Any]) -> bool | None:
    """Read from names whether code is to hide the future; `None`: they are silent.

    A flag on a module decides, then a triangle among its buffers, then the names that
    its code uses, unless these are arguments of its own that a caller has to set.
    """
    for part in parts(target):
        for name in ("is_causal", "causal"):
            flag = getattr(part, name, None)
            if isinstance(flag, bool):
                return flag
    if any(triangle(buffer) for _, buffer in _buffers(target)):
        return True
    optional = {name for name in arguments(target) if re.search("causal|mask", name)}
    if not optional and any(_CAUSAL.search(word) for word in words(target)):
        return True
    return True if re.search("causal", _class_names(target), re.IGNORECASE) else None


def has_positions(target: Callable[..., Any]) -> bool:
    """Read from names whether code tells tokens by where they stand."""
    return _mentions(target, _POSITIONS)


def has_window(target: Callable[..., Any]) -> bool:
    """Read from names whether code sees only the nearest keys on purpose."""
    return _mentions(target, _WINDOW)


def context_length(target: Callable[..., Any]) -> int | None:
    """Find the largest number of tokens, in an attribute or as the size of a mask."""
    sizes = [buffer.shape[-1] for _, buffer in _buffers(target) if triangle(buffer)]
    return _attribute(target, _CONTEXT) or (min(sizes) if sizes else None)


def width(target: Callable[..., Any]) -> int | None:
    """Find the width of the tokens, in an attribute or as that of the first layer."""
    found = _attribute(target, _WIDTH)
    if found or not isinstance(target, nn.Module):
        return found
    linear = [part for part in target.modules() if isinstance(part, nn.Linear)]
    if linear:
        return linear[0].in_features
    matrices = [one for one in target.parameters() if one.ndim >= 2]
    return matrices[0].shape[-2] if matrices else None


def heads(target: Callable[..., Any]) -> int | None:
    """Find the number of heads in an attribute, or as the length of a list of heads."""
    for part in parts(target):
        for name in _HEADS:
            value = getattr(part, name, None)
            if isinstance(value, nn.ModuleList):
                return len(value)
            if isinstance(value, int) and not isinstance(value, bool) and value > 0:
                return value
    return None


def triangle(tensor: Tensor) -> bool:
    """Ask whether a tensor is a mask of the future, whatever its numbers are."""
    square = tensor.squeeze()
    if square.ndim != 2 or square.shape[0] != square.shape[1] or len(square) < 2:
        return False
    marks = square != 0
    full = torch.ones_like(marks)
    return any(
        torch.equal(marks, full.tril(shift)) or torch.equal(marks, full.triu(shift))
        for shift in (-1, 0, 1)
    )


def _mentions(target: Callable[..., Any], pattern: re.Pattern[str]) -> bool:
    stored = {name for name, _ in _buffers(target)}
    if isinstance(target, nn.Module):
        stored |= {name for name, _ in target.named_parameters()}
        stored |= {name for name, _ in target.named_modules()}
    names = words(target) | stored | {_class_names(target)}
    return any(pattern.search(name) for name in names)


def _class_names(target: Callable[..., Any]) -> str:
    names = [getattr(part, "__name__", type(part).__name__) for part in parts(target)]
    return " ".join(names)


def _buffers(target: Callable[..., Any]) -> list[tuple[str, Tensor]]:
    return [*target.named_buffers()] if isinstance(target, nn.Module) else []


def _attribute(target: Callable[..., Any], names: tuple[str, ...]) -> int | None:
    for part in parts(target):
        for name in names:
            value = getattr(part, name, None)
            if isinstance(value, int) and not isinstance(value, bool) and value > 0:
                return value
    return None
