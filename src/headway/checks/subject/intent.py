"""What a piece of code is meant to do, read off the names in it."""

import functools
import re
from collections.abc import Iterator, Mapping

import torch
from torch import Tensor, nn

from headway.checks.subject.names import optional_flags, used_names
from headway.checks.subject.signature import Target, arguments, parts

_CAUSAL = re.compile(r"causal|^tril|^triu|autoregressive", re.IGNORECASE)
_POSITIONS = re.compile(
    r"rope|rotary|rotate|alibi|(?<!max_)(?<!n_)position|pos_?e(mb|nc)|sinusoid|freqs"
    r"|inv_freq|relative|slopes|(^|_)(cos|sin)(_|$)",
    re.IGNORECASE,
)
_WINDOW = re.compile(r"window|sliding|banded", re.IGNORECASE)
_FLAGS = ("is_causal", "causal", "masked", "mask")
_CONTEXT = (
    "context_length block_size max_seq_len max_seq_length max_sequence_length max_len "
    "max_length max_position_embeddings max_seq max_tokens n_positions n_ctx "
    "context_size seq_len seq_length sequence_length"
)
_WIDTH = (
    "d_in embed_dim embed_size emb_size emb_dim embedding_dim d_model dim_model "
    "model_dim hidden_size hidden_dim num_hiddens n_embd dim_in dim"
)
_HEADS = (
    "num_heads n_heads n_head num_attention_heads nhead heads num_head nheads "
    "attention_heads attn_heads num_q_heads num_query_heads n_q_heads head_num "
    "n_local_heads head h H"
)
_HEAD_WIDTH = (
    "rotary_dim rope_dim head_dim dim_head d_head head_size head_width d_k dim_k "
    "dim_per_head attention_head_size"
)
_CONFIGS = ("config", "cfg", "args", "params", "hparams")


def is_causal(target: Target) -> bool | None:
    """Read from names whether code is to hide the future; `None`: they are silent.

    A flag decides, then a triangle among the tensors of a module, then the names that
    the code uses, unless these are arguments of its own that a caller has to set.
    """
    for flag in _flags(target):
        return flag
    if any(is_triangle(tensor) for _, tensor in _tensors(target)):
        return True
    optional = {name for name in arguments(target) if re.search("causal|mask", name)}
    optional |= {name for name in optional_flags(target) if _CAUSAL.search(name)}
    if not optional and any(_CAUSAL.search(name) for name in used_names(target)):
        return True
    return True if re.search("causal", _class_names(target), re.IGNORECASE) else None


def _flags(target: Target) -> Iterator[bool]:
    """Give the flags that are set: by a partial, in a module, and by default."""
    given = target.keywords if isinstance(target, functools.partial) else {}
    found = [given.get(name) for name in _FLAGS]
    found += [getattr(part, name, None) for part in parts(target) for name in _FLAGS]
    yield from (flag for flag in found if isinstance(flag, bool))
    known = arguments(target)
    if any(known[name].default is True for name in _FLAGS if name in known):
        yield True


def has_positions(target: Target) -> bool:
    """Read from names whether code tells tokens by where they stand."""
    return _mentions(target, _POSITIONS)


def has_window(target: Target) -> bool:
    """Read from names whether code sees only the nearest keys on purpose."""
    return _mentions(target, _WINDOW)


def context_length(target: Target) -> int | None:
    """Find the largest number of tokens, in an attribute or as the size of a mask."""
    sizes = [tensor.shape[-1] for _, tensor in _tensors(target) if is_triangle(tensor)]
    return next(_numbers(target, _CONTEXT), min(sizes, default=None))


def widths(target: Target) -> list[int]:
    """List what the width of tokens may be, the likeliest first.

    An attribute may say it, and the first layer or the first matrix may have it.
    """
    found = [*_numbers(target, _WIDTH)]
    if isinstance(target, nn.Module):
        layers = [part for part in target.modules() if isinstance(part, nn.Linear)]
        found += [layer.in_features for layer in layers[:1]]
        matrices = [one for one in target.parameters() if one.ndim >= 2]
        for one in matrices[:1]:
            found += [one.shape[-2], one.shape[0], one.shape[-1]]
    return [*dict.fromkeys(found)]


def num_heads(target: Target) -> int | None:
    """Find the number of heads in an attribute, or as the length of a list of heads."""
    return next(_numbers(target, _HEADS), None)


def head_width(target: Target) -> int | None:
    """Find the width of a head in an attribute."""
    return next(_numbers(target, _HEAD_WIDTH), None)


def synonyms(option: str) -> list[str]:
    """List the names under which code may know an option of a check."""
    known = {"d_in": _WIDTH, "num_heads": _HEADS, "context_length": _CONTEXT}
    flags = {"causal": "is_causal autoregressive"}
    return (known | flags).get(option, "").split()


def is_triangle(tensor: Tensor) -> bool:
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


def _mentions(target: Target, pattern: re.Pattern[str]) -> bool:
    stored = {name for name, _ in _tensors(target)}
    if isinstance(target, nn.Module):
        stored |= {name for name, _ in target.named_parameters()}
        stored |= {name for name, _ in target.named_modules()}
    names = used_names(target) | stored | {_class_names(target)}
    return any(pattern.search(name) for name in names)


def _class_names(target: Target) -> str:
    names = [getattr(part, "__name__", type(part).__name__) for part in parts(target)]
    return " ".join(names)


def _tensors(target: Target) -> Iterator[tuple[str, Tensor]]:
    """Give the tensors in a module that are no weights, buffers or not."""
    for part in target.modules() if isinstance(target, nn.Module) else ():
        for name, value in {**vars(part), **part._buffers}.items():
            if isinstance(value, Tensor):
                yield name, value


def _numbers(target: Target, names: str) -> Iterator[int]:
    """Give the whole numbers of these names in each part and in its configuration."""
    for part in parts(target):
        if isinstance(part, nn.Softmax):
            continue  # its `dim` is an axis
        configs = [getattr(part, name, None) for name in _CONFIGS]
        for place in (part, *configs):
            stored = place.get if isinstance(place, Mapping) else None
            for name in names.split():
                value = stored(name) if stored else getattr(place, name, None)
                if isinstance(value, nn.ModuleList):
                    value = len(value)
                if isinstance(value, int) and not isinstance(value, bool) and value > 0:
                    yield value
