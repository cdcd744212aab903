"""What stands inside attention besides the equation on purpose, the likeliest first."""

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn

from headway.checks.attention.evidence.apart import InGroup
from headway.checks.attention.evidence.design import Buckets, Design, Rotation
from headway.checks.attention.evidence.held_values import held_values
from headway.checks.attention.evidence.influence import side_of_window, window_size
from headway.checks.attention.evidence.tables import (
    Angles,
    tables_in_use,
    without_lengths,
)
from headway.checks.attention.evidence.weights import Projections, Weights
from headway.checks.attention.subject import Subject
from headway.checks.core import intent
from headway.checks.core.cannot_check import CannotCheckError
from headway.checks.core.names import read_names, used_names
from headway.checks.core.signature import parts
from headway.positions.relative_bias import relative_buckets

_ROTARY = re.compile(r"rope|rotary|rotate(?!_?heads)|freqs|inv_freq", re.IGNORECASE)
_KEPT = re.compile(rf"{_ROTARY.pattern}|(^|_)(cos|sin)(_|$)", re.IGNORECASE)
_BASE = re.compile(r"(rope_?|rotary_?)?(base|theta)(_?base)?|rotary_emb_base")
_ALIBI = re.compile(r"alibi|slope", re.IGNORECASE)
_RELATIVE = re.compile(r"relative|rel_?pos|(^|_)bias", re.IGNORECASE)
_REACH = re.compile(r"max_?(relative_?)?distance$", re.IGNORECASE)
_CAP = re.compile(
    r"(attn?_?(ention_?)?)?(logits?_?|scores?_?)?soft_?cap(ping)?|attn_logit_softcapping"
    r"|(attn_?|attention_?)?logits?_?cap|soft_?clamp_value|tanh_?cap",
    re.IGNORECASE,
)
_JOINS = {"cat", "concat", "concatenate", "hstack", "pad"}
_SINK = re.compile(r"sink", re.IGNORECASE)
_NORM = re.compile(r"norm|(^|_)(ln|rms)(_|$)|layernorm", re.IGNORECASE)
_OF = {
    "query": re.compile(r"(^|_)(q|query|queries|qk|wq)(_|$)|^qnorm|^normq|^qk", re.I),
    "key": re.compile(r"(^|_)(k|key|keys|qk|wk)(_|$)|^knorm|^normk|^qk", re.I),
}
_WINDOW = re.compile(r"(sliding_?|local_?|attention_?|attn_?)?window(_?size)?")
_SCALED = re.compile(r"scaling|yarn|ntk|interpolat|rope_factor|partial", re.IGNORECASE)
_LENGTHENS = re.compile(
    r"scaling|yarn|concentration|mscale|(rope|attention|attn)_factor", re.IGNORECASE
)
_USUAL = "the usual base"
ANGLES_IN_USE = "angles that a call uses"
_MOST = 16
Features = dict[str, Any]


class _Known(NamedTuple):
    """What designs are read off."""

    subject: Subject
    weights: Weights
    visible: Tensor

    @property
    def first(self) -> Projections | None:
        """The likeliest weights."""
        return next(iter(self.weights.candidates), None)

    @property
    def heads(self) -> int | None:
        """The number of heads, if it is known."""
        return self.first.heads if self.first else self.subject.num_heads

    @property
    def width(self) -> int | None:
        """The width of a head."""
        return self.first.query.shape[0] // self.first.heads if self.first else None


def find_designs(
    subject: Subject, weights: Weights, visible: Tensor
) -> tuple[Design, ...]:
    """List what may be meant, the likeliest first; the plain equation comes last.

    Args:
        subject: The code.
        weights: Which of its parameters make queries, keys and values.
        visible: Which row sees which token, (T, T).
    """
    known = _Known(subject, weights, visible)
    told = _told(known)
    kinds: list[Sequence[Features]] = [
        [*kind(known)] or [{}]
        for kind in (_rotations, _norms, _biases, _caps, _sinks, _windows)
    ]
    # The first has all that is meant for sure, and nothing that may be an option.
    chosen = [*itertools.islice(itertools.product(*kinds), _MOST)]
    found = [_design(told, one) for one in chosen]
    if any(chosen[-1]):
        found.append(_design(told, ()))
    return (*found, Design()) if told else (*found,)


def _design(told: Features, chosen: Sequence[Features]) -> Design:
    features = {name: value for one in chosen for name, value in one.items()}
    words = [one["source"] for one in chosen if "source" in one]
    return Design(**{**features, **told, "source": "; ".join(words)})


def _told(known: _Known) -> Features:
    options = known.subject.options
    told: Features = {}
    if options.scale is not None:
        told["scale"] = options.scale
    if options.normalize is not None:
        told["normalize"] = options.normalize
    return told


# Rotations


def _rotations(known: _Known) -> Iterator[Features]:
    """Give the rotations that a call makes, or that names and a base tell of."""
    told, kind = known.subject.options.rotary_base, known.subject.options.positions
    if kind not in (None, "rotary"):
        return
    T = max(known.subject.T, 2)  # one position tells nothing
    used = _as_long_as_named(known, tables_in_use(known.subject))
    tables = [way for one in used for way in _spread(one, known.width)]
    kept = kind == "rotary" or bool(
        _KEPT.search(intent.kept_positions(known.subject.target) or "")
    )
    named = kept or _is_named(known, _ROTARY)
    found = [(one, ANGLES_IN_USE) for one in tables]
    if told is None and not kept and not (tables and named):
        yield {}  # a name may be that of an option, and a table that of sines added
    if told is not None or (named and not tables):
        columns = [2 * one.angles.shape[1] for one in tables] or [known.width or 0]
        found = [
            (_of_base(T, width, base), source)
            for width in columns
            if width > 1
            for base, source in _bases(known)
        ]
    elif named and known.width and not _SCALED.search(" ".join(_all_names(known))):
        found += [
            (_of_base(T, 2 * tables[0].angles.shape[1], base), source)
            for base, source in _bases(known)
            if source != _USUAL
        ]
    for angles, source in found:
        for pairing in _pairings(known, angles):
            rotation = Rotation(angles.angles, pairing, source, angles.length)
            longer = f", {angles.length:.4g} times as long" * (angles.length != 1)
            said = f"rotary positions, {pairing}{longer}"
            yield {"rotation": rotation, "source": said}


def _as_long_as_named(known: _Known, tables: list[Angles]) -> list[Angles]:
    """Give tables that lengthen vectors first, where a name tells that it is meant."""
    if any(one.length != 1 for one in tables) and _is_named(known, _LENGTHENS):
        return sorted(tables, key=lambda one: one.length == 1)
    return without_lengths(tables)


def _spread(angles: Angles, width: int | None) -> list[Angles]:
    """Let the only angle of each position turn all pairs, as broadcasting does.

    Or it turns the first pair alone, if the others are not to be rotated.
    """
    if angles.angles.shape[1] > 1 or width is None or width < 4:
        return [angles]
    return [angles._replace(angles=angles.angles.expand(-1, width // 2)), angles]


def _bases(known: _Known) -> Iterator[tuple[float, str]]:
    told = known.subject.options.rotary_base
    if told is not None:
        yield told, "rotary_base"
        return
    for name, value in held_values(known.subject.target):
        if _BASE.fullmatch(name) and _is_number(value) and value > 1:
            yield float(value), name
            return
    yield 10_000.0, _USUAL


def _of_base(T: int, width: int, base: float) -> Angles:
    n = torch.arange(0, width - 1, 2, dtype=torch.float64)
    places = torch.arange(T, dtype=torch.float64)
    return Angles(places[:, None] * base ** (-n / width), "one of each")


def _pairings(known: _Known, angles: Angles) -> list[Literal["pairs", "halves"]]:
    """Order the two pairings by what the table and the names in the code say."""
    names = used_names(known.subject.target, called=True)
    halves = angles.layout == "twice" or any("half" in one for one in names)
    pairs = angles.layout in ("neighbours", "complex")
    if halves and not pairs:
        return ["halves", "pairs"]
    return ["pairs", "halves"]


# Norms of queries and keys


def _norms(known: _Known) -> Iterator[Features]:
    """Give the modules that norm queries and keys, or the functions that names tell."""
    module, told = known.subject.module, known.subject.options.norms
    if module is None or known.width is None or told == "none":
        return
    query, key = (_norm_of(module, role) for role in ("query", "key"))
    if query is None or key is None:
        return
    one_head = _width_of_norm(query) in (None, known.width)
    norms = {
        "query_norm": query,
        "key_norm": key,
        "norm_of": "head" if one_head else "all heads",
        "source": "norms of queries and keys",
    }
    if told != "after rotation":
        yield norms
    if told == "after rotation" or (told is None and _is_named(known, _ROTARY)):
        yield norms | {"norms_after": "rotation"}


def norms_inside(module: nn.Module) -> list[nn.Module]:
    """Give the modules that norm queries and keys, if there is one for each."""
    found = (_norm_of(module, role) for role in ("query", "key"))
    both = [one for one in found if one is not None]
    return both if len(both) == 2 else []


def _norm_of(module: nn.Module, role: str) -> nn.Module | None:
    """Find the module that norms queries or keys, by its name."""
    for place, part in module.named_modules():
        names = place.split(".")[-2:]  # of a layer that norms what it makes, the last
        if _NORM.search(names[-1]) and any(_OF[role].search(one) for one in names):
            return part
    return None


def _width_of_norm(norm: Any) -> int | None:
    """Give how many numbers a norm takes together; `None` if nothing tells."""
    shape = getattr(norm, "normalized_shape", None)
    if shape:
        return int(shape[-1])
    sizes = [one.shape[-1] for one in norm.parameters() if one.ndim]
    return sizes[0] if sizes else None


# What is added to scores


def _biases(known: _Known) -> Iterator[Features]:
    if known.subject.options.positions in (None, "bias"):
        yield from _learned_biases(known)
        yield from _slanted_biases(known)


def _learned_biases(known: _Known) -> Iterator[Features]:
    """Give the biases of an embedding with a row for each bucket of distances."""
    module = known.subject.module
    reaches = (
        int(value)
        for name, value in held_values(known.subject.target)
        if _REACH.search(name) and _is_number(value)
    )
    reach = next(reaches, 0)
    places = torch.arange(known.subject.T)
    for name, part in module.named_modules() if module is not None and reach else ():
        if not isinstance(part, nn.Embedding) or part.embedding_dim != known.heads:
            continue
        if not _RELATIVE.search(name):
            continue
        values = part.weight.detach().double()
        for both in (True, False) if bool(known.visible.triu(1).any()) else (False,):
            with suppress(ValueError):  # so few that there are none for far keys
                numbers = relative_buckets(
                    places,
                    places,
                    num_buckets=len(values),
                    max_distance=reach,
                    bidirectional=both,
                )
                buckets = Buckets(f"{name}.weight", values, numbers)
                source = f"the learned biases of {name}"
                yield {"bias": buckets.bias, "buckets": buckets, "source": source}


def _slanted_biases(known: _Known) -> Iterator[Features]:
    named = _is_named(known, _ALIBI)
    told = known.subject.options.positions == "bias"
    if known.heads is None or not (named or told):
        return
    kept = _ALIBI.search(intent.kept_positions(known.subject.target) or "")
    if not (kept or (named and told)):
        yield {}
    T = known.subject.T
    places = torch.arange(T, dtype=torch.float64)
    steps = places - places[:, None]
    for slopes in _slopes(known, known.heads):
        bias = slopes.abs()[:, None, None]
        yield {"bias": -bias * steps.abs(), "source": "ALiBi"}
        if bool(known.visible.triu(1).any()):
            yield {"bias": bias * steps, "source": "ALiBi"}


def _slopes(known: _Known, heads: int) -> Iterator[Tensor]:
    """Give the slopes that are kept, or else the standard ones."""
    kept = False
    for name, value in held_values(known.subject.target):
        if not isinstance(value, Tensor) or not _ALIBI.search(name):
            continue
        if value.numel() == heads and value.is_floating_point():
            kept = True
            yield value.detach().double().flatten()
    if not kept:
        yield standard_slopes(heads)


def standard_slopes(heads: int) -> Tensor:
    """Give the slope of each head: powers of two, between which more are put."""
    n = 1 << (heads.bit_length() - 1)
    slopes = [2.0 ** (-8 * h / n) for h in range(1, n + 1)]
    between = [2.0 ** (-4 * h / n) for h in range(1, 2 * n, 2)]
    return torch.tensor((slopes + between)[:heads], dtype=torch.float64)


# Caps, sinks and windows


def _caps(known: _Known) -> Iterator[Features]:
    told = known.subject.options.softcap
    if told is not None:
        if not isinstance(told, str):
            yield {"softcap": float(told), "source": f"scores capped at {told:g}"}
        return
    for name, value in held_values(known.subject.target):
        if _CAP.fullmatch(name) and _is_number(value) and value > 0:
            yield {"softcap": float(value), "source": f"scores capped by {name}"}
            return


def _sinks(known: _Known) -> Iterator[Features]:
    """Give the scores of sinks: a parameter with one number for each head."""
    module, heads = known.subject.module, known.heads
    told = known.subject.options.sinks
    if told == "none" or module is None or heads is None:
        return
    if told is not None:
        yield _declared_sinks(module, told, heads)
        return
    # Without a join it is added to keys, and is no key of its own.
    joins = bool(_JOINS & read_names(known.subject.target)) or any(
        isinstance(part, nn.MultiheadAttention) for part in module.modules()
    )
    added = [
        name
        for name, value in held_values(known.subject.target)
        if (name == "add_zero_attn" and value is True)
        or (name == "bias_k" and isinstance(value, Tensor) and value.ndim > 2 and joins)
    ]
    if added:  # keys of zero, as the learned ones are where weights are taken off
        scores = torch.full((heads,), math.log(len(added)), dtype=torch.float64)
        yield {"sinks": scores, "source": " and ".join(added)}
        return
    unknown = set(known.weights.without_role)
    named = [
        (name, one.detach().double().flatten())
        for name, one in module.named_parameters()
        if one.numel() == heads and name in unknown
    ]
    named.sort(key=lambda one: _SINK.search(one[0]) is None)
    for name, scores in named[:1]:
        if not _SINK.search(name):
            yield {}
        yield {"sinks": scores, "source": f"sinks in {name}"}


def _declared_sinks(module: nn.Module, name: str, heads: int) -> Features:
    scores = dict(module.named_parameters()).get(name)
    if scores is None or scores.numel() != heads:
        raise CannotCheckError(
            "sinks must be the name of a parameter with a number for each of "
            f"{heads} heads; got sinks={name!r}."
        )
    values = scores.detach().double().flatten()
    return {"sinks": values, "source": f"sinks in {name}"}


def _windows(known: _Known) -> Iterator[Features]:
    told = known.subject.options.window
    if told == "none" or isinstance(known.subject.call.invoke, InGroup):
        return
    measured = window_size(known.visible)
    side = side_of_window(known.visible)
    for size, source in ((told, "window"), *_named_windows(known)):
        if side is not None and size in (side, 2 * side, 2 * side + 1):
            # It counts the tokens on one side, or those on both.
            yield {"window": side + 1, "source": f"a window of {size} ({source})"}
            return
        if size is not None:
            yield {"window": size, "source": f"a window of {size} ({source})"}
            if told is None and measured is None:
                yield {}  # it may be an option, or the caller's mask may do it
            return
    if measured is not None and known.subject.has_window:
        yield {"window": measured, "source": f"a window of {measured}"}


def _named_windows(known: _Known) -> Iterator[tuple[int, str]]:
    """Give the numbers that name a window, if a text is longer than that."""
    for name, value in held_values(known.subject.target):
        if not (_WINDOW.fullmatch(name) and _is_number(value)):
            continue
        if 0 < value < known.subject.T and int(value) == value:
            yield int(value), name


# Names


def _is_named(known: _Known, pattern: re.Pattern[str]) -> bool:
    """Ask whether a name in the code, or in what it keeps, tells of something."""
    return any(pattern.search(name) for name in _all_names(known))


def _all_names(known: _Known) -> set[str]:
    target = known.subject.target
    names = intent.required(target) | used_names(target)
    names |= {
        name
        for name, one in held_values(target)
        if one is not None and one is not False
    }
    return names | {type(one).__name__ for one in parts(target)}


def _is_number(value: Any) -> bool:
    plain = isinstance(value, (int, float)) and not isinstance(value, bool)
    return plain and math.isfinite(value)
