"""What a piece of code is meant to do, read off the names in it."""

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.conv import _ConvNd

from headway.checks.core.names import optional_flags, read_names, used_names
from headway.checks.core.signature import Target, arguments, parts

# A causal convolution says nothing of attention beside it.
_CAUSAL = re.compile(
    r"causal(?!_?(conv|pad|norm|lm|dwconv))|^tril|^triu|autoregressive", re.IGNORECASE
)
_POSITIONS = re.compile(
    r"rope|rotary|rotate|alibi|(?<!max_)(?<!n_)position(?!_?wise)|pos_?e(mb|nc)|sinusoid|freqs"
    r"|inv_freq|relative|slopes|(^|_)(cos|sin)(_|$)|(^|_)dist(ance)?s?(_|$)|decay"
    r"|rel_?pos",
    re.IGNORECASE,
)
_TABLES = re.compile(
    r"(^|_)(cos|sin)(_|$)|freqs_(cis|complex|cos|sin)|rope_cache|pos_?(emb|enc)|^pe$",
    re.IGNORECASE,
)
_TABLE = re.compile(r"(^|_)(cos|sin)(_|$)", re.IGNORECASE)
# Of these, what turns queries and keys or is added to scores ...
_ON_SCORES = re.compile(
    r"rope|rotary|rotate|alibi|slopes|freqs|relative(?!.*enc)|(^|_)rel_?pos",
    re.IGNORECASE,
)
_IN_VALUES = re.compile(r"values?_.*pos|pos.*_values?($|_)", re.IGNORECASE)
# ... and what is kept to be added to tokens.
_ADDED = re.compile(
    r"^(?!.*(rotary|rope|relative|rel_))(pos(ition(al)?)?_?(emb|enc)|pe$|positions?$)"
    r"|sinusoid|rotary_value",
    re.IGNORECASE,
)
_OTHER_SIZES = re.compile(r"head|dim|layer|embed|width|hidden|channel|d_|group|vocab")
_WINDOW = re.compile(r"window|sliding|banded", re.IGNORECASE)
_POOL = re.compile(r"^(adaptive_?)?(max|avg)_?pool", re.IGNORECASE)
_FLAGS = ("is_causal", "causal", "masked", "mask")
_OF_DECODERS = ("in_decoder", "is_decoder", "autoregressive", "is_autoregressive")
_CONTEXT = (
    "context_length max_position_embeddings block_size max_seq_len max_seq_length "
    "max_sequence_length max_len max_length "
    "max_seq max_tokens n_positions n_ctx "
    "context_size seq_len seq_length sequence_length"
)
_WIDTH = (
    "d_in embed_dim embed_size emb_size emb_dim embedding_dim d_model dim_model "
    "model_dim hidden_size hidden_dim num_hiddens n_embd dim_in dim emb embed n_embed "
    "embedding_size d_embed d_emb input_dim in_dim query_dim input_size d_input "
    "channels"
)
_HEADS = (
    "num_heads n_heads n_head num_attention_heads nhead heads num_head nheads "
    "attention_heads attn_heads num_q_heads num_query_heads n_q_heads head_num "
    "n_local_heads head h H"
)
_HEAD_WIDTH = (
    "rotary_dim rope_dim qk_rope_head_dim head_dim dim_head d_head head_size "
    "head_width d_k dim_k dim_per_head attention_head_size"
)
_GROUPS = (
    "num_kv_heads n_kv_heads num_key_value_heads n_kv_head n_query_groups "
    "num_kv_groups kv_heads n_local_kv_heads num_query_groups num_groups n_groups "
    "nb_kv_heads"
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
    used = used_names(target) - _left_empty(target)
    if not optional and any(_CAUSAL.search(name) for name in used):
        return True
    return True if _CAUSAL.search(_class_names(target)) else None


def _left_empty(target: Target) -> set[str]:
    """Collect the attributes that are `None`, such as a mask that was not asked for."""
    return {
        name
        for part in parts(target)
        for name, value in (_kept(part) if isinstance(part, nn.Module) else ())
        if value is None
    }


def _flags(target: Target) -> Iterator[bool]:
    """Give the flags that are set: by a partial, in a module, and by default.

    A layer of a whole library, which keeps the configuration of its model, may say that
    it is causal and leave the mask to the model: what it does decides.
    """
    given = target.keywords if isinstance(target, functools.partial) else {}
    found = [given.get(name) for name in _FLAGS]
    if not any(_is_of_a_library(part) for part in parts(target)):
        found += [
            getattr(part, name, None)
            for part in parts(target)
            for name in _FLAGS
            if not (_is_given_a_mask(target) and name not in read_names(target))
        ]
    yield from (flag for flag in found if isinstance(flag, bool))
    for part in parts(target):
        if any(getattr(part, name, None) is False for name in _OF_DECODERS):
            yield False
    known = arguments(target)
    if any(known[name].default is True for name in _FLAGS if name in known):
        yield True


def _is_given_a_mask(target: Target) -> bool:
    """Ask whether a caller may hand in a mask, which then is to hide the future.

    A flag that no call reads only tells the caller so.
    """
    return any("mask" in name for name in arguments(target))


def _is_of_a_library(part: object) -> bool:
    return hasattr(getattr(part, "config", None), "_attn_implementation")


def has_positions(target: Target) -> bool:
    """Read from names whether code tells tokens by where they stand."""
    return named_positions(target) is not None


def named_positions(target: Target) -> str | None:
    """Give a name in code, or in what it calls, that tells of positions."""
    return next(_mentions(target, _POSITIONS), None)


def convolves(target: Target) -> bool:
    """Ask whether a convolution or a pool mixes neighbours: their order matters."""
    parts = target.modules() if isinstance(target, nn.Module) else ()
    for one in parts:
        if isinstance(one, _ConvNd) and max(one.kernel_size) > 1:
            return True
        if _POOL.search(type(one).__name__):
            return True
    return any(_POOL.search(name) for name in used_names(target, called=True))


def kept_positions(target: Target) -> str | None:
    """Give the name of what an object keeps for positions: a table, or what makes it.

    A name in code may be that of an option. What is kept is meant, unless it is a
    number of a configuration, or a flag says that it is not used.
    """
    kept = None
    for part in target.modules() if isinstance(target, nn.Module) else ():
        for name, value in _kept(part):
            if not _POSITIONS.search(name):
                continue
            if value is False:
                return None
            is_table = isinstance(value, Tensor) and (
                value.is_floating_point() or value.is_complex()
            )
            is_maker = callable(value) and not isinstance(value, nn.Identity)
            if is_maker and _TABLE.search(name):
                continue  # cosines may be taken for similarity
            if kept is None and (is_table or is_maker):
                kept = name
    return kept


def positions_on_scores(target: Target) -> bool:
    """Read from names whether positions act on scores alone, and not on tokens."""
    named = set(_mentions(target, _POSITIONS))
    if isinstance(target, nn.Module):
        stored = {name for part in target.modules() for name, _ in _kept(part)}
        if any(_ADDED.search(name) for name in stored):
            return False
    if any(_IN_VALUES.search(name) for name in named):
        return False
    return any(_ON_SCORES.search(name) for name in named)


def _kept(part: nn.Module) -> Iterator[tuple[str, object]]:
    """Give what a module keeps by name, weights, buffers and modules among it."""
    for name, value in vars(part).items():
        if name in ("_parameters", "_buffers", "_modules"):
            yield from value.items()
        elif not name.startswith("_"):
            yield name, value


def has_window(target: Target) -> bool:
    """Read from names whether code sees only the nearest keys on purpose."""
    return next(_mentions(target, _WINDOW), None) is not None


def keeps(target: Target, numbers: Sequence[int]) -> bool:
    """Ask whether code keeps one of these whole numbers, other than as a width."""
    return any(
        type(value) is int and value in numbers and not _OTHER_SIZES.search(name)
        for part in parts(target)
        if isinstance(part, nn.Module) and not type(part).__module__.startswith("torch")
        for name, value in vars(part).items()
    )


def context_length(target: Target) -> int | None:
    """Find the largest number of tokens: in an attribute, or as the size of a table.

    Tables are masks of the future, and those of angles for each position.
    """
    sizes = [tensor.shape[-1] for _, tensor in _tensors(target) if is_triangle(tensor)]
    sizes += [
        rows
        for name, tensor in _tensors(target)
        if _TABLES.search(name) and (rows := _rows(tensor))
    ]
    return next(_numbers(target, _CONTEXT), min(sizes, default=None))


def _rows(table: Tensor) -> int | None:
    """Give how many positions a table has, if it has two axes, or pairs as a third."""
    shape = [*table.squeeze().shape]
    if len(shape) == 3 and shape[-1] == 2:
        shape = shape[:2]
    return shape[0] if len(shape) == 2 and shape[0] > 1 else None


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
        # A layer may be for one head's part of a token, or not be the first that acts.
        heads = num_heads(target) or 1
        found += [heads * layer.in_features for layer in layers[:1]]
        found += [layer.in_features for layer in layers[1:4]]
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
    flags = {
        "causal": "is_causal autoregressive",
        "vocab_size": "n_vocab vocab num_embeddings num_tokens n_tokens ntoken",
    }
    return (known | flags).get(option, "").split()


def num_kv_heads(target: Target) -> int | None:
    """Find the number of heads of keys and values in an attribute."""
    return next(_numbers(target, _GROUPS), None)


def is_triangle(tensor: Tensor) -> bool:
    """Ask whether a tensor is a mask of the future, whatever its numbers are."""
    square = tensor.squeeze()
    if square.ndim != 2 or square.shape[0] != square.shape[1] or len(square) < 2:
        return False
    lower, upper = bool(square[-1, 0]), bool(square[0, -1])
    if lower == upper:  # most matrices, at little cost
        return False
    marks = (square if lower else square.mT) != 0
    shift = int(marks[0, :2].sum()) - 1
    return torch.equal(marks, torch.ones_like(marks).tril(shift))


def required(target: Target) -> set[str]:
    """Collect the arguments that a caller must give."""
    known = arguments(target).items()
    return {name for name, one in known if one.default is one.empty}


def _mentions(target: Target, pattern: re.Pattern[str]) -> Iterator[str]:
    """Give the names that match, those of what is kept first."""
    stored = {name for name, _ in _tensors(target)}
    if isinstance(target, nn.Module):
        stored |= {name for name, _ in target.named_parameters()}
        stored |= {name for name, _ in target.named_modules()}
    used = used_names(target, called=True) | {*_class_names(target).split()}
    used |= required(target)
    for name in (*sorted(stored), *sorted(used - stored)):
        if pattern.search(name):
            yield name


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
    asked = names.split()
    for part in parts(target):
        if isinstance(part, nn.Softmax):
            continue  # its `dim` is an axis
        configs = [getattr(part, name, None) for name in _may_have(part, _CONFIGS)]
        for place in (part, *configs):
            stored = place.get if isinstance(place, Mapping) else None
            for name in _may_have(place, asked):
                if name == "max_length" and hasattr(place, "model_type"):
                    continue  # how long a text is generated, if nobody says so
                value = stored(name) if stored else getattr(place, name, None)
                if isinstance(value, nn.ModuleList):
                    value = len(value)
                if isinstance(value, int) and not isinstance(value, bool) and value > 0:
                    yield value


def _may_have(place: Any, names: Sequence[str]) -> Sequence[str]:
    """Leave out the names that a module has not, which it would be slow to say."""
    kind: Any = type(place)
    if (
        getattr(kind, "__getattr__", None) is not nn.Module.__getattr__
        or kind.__getattribute__ is not object.__getattribute__
    ):
        return names
    held = vars(place)
    weights, buffers, modules = (
        held[one] for one in ("_parameters", "_buffers", "_modules")
    )
    return [
        name
        for name in names
        if name in held
        or name in weights
        or name in buffers
        or name in modules
        or hasattr(kind, name)
    ]
