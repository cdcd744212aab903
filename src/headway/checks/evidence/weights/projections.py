"""Find the weights of queries, keys and values, by their names and shapes."""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from headway.checks.evidence.weights.layouts import biases, layouts, matrices
from headway.checks.evidence.weights.roles import (
    ROLES,
    first_layer_of_several,
    roles,
    without_role,
)
from headway.checks.subject import Subject
from headway.checks.subject.calls import Packing

Three = tuple[Tensor, Tensor, Tensor]
_MOST_HEADS = 64


@dataclass(frozen=True)
class Projections:
    """The weights of one attention layer, each as (out, in), and the number of heads.

    Attributes:
        query: Makes the queries of all heads, one head below the other.
        key: The same for keys; fewer heads if queries share them.
        value: The same for values.
        out: Joins the heads, if there is such a layer.
        biases: By role, where there are any.
        heads: Number of heads of the queries.
        names: Which weights these are.
    """

    query: Tensor
    key: Tensor
    value: Tensor
    out: Tensor | None
    biases: Mapping[str, Tensor]
    heads: int
    names: str

    @property
    def fits(self) -> bool:
        """Whether the shapes agree with each other and with the number of heads."""
        D = self.query.shape[0] / self.heads
        groups = self.key.shape[0] / D
        return (
            int(D) == D
            and groups == int(groups)
            and not self.heads % int(groups or 1)
            and self.query.shape[1] == self.key.shape[1] == self.value.shape[1]
            and not self.value.shape[0] % int(groups or 1)
        )


@dataclass(frozen=True)
class Weights:
    """What was found out about the weights of a piece of code.

    Attributes:
        candidates: What they may be, the likeliest first; empty if none were found.
        without_role: The parameters that are no such weights.
        layer: The first layer of attention, if there are several.
        small: A weight that makes the queries of each head of its part of a token.
    """

    candidates: tuple[Projections, ...] = ()
    without_role: tuple[str, ...] = ()
    layer: str | None = None
    small: str | None = None


def find_weights(subject: Subject) -> Weights:
    """Find the weights of a module, by their names and shapes.

    Raises:
        ValueError: If the reader named a role or a weight that does not exist.
    """
    module = subject.module
    found: tuple[Projections, ...] = ()
    if subject.call.packing is not None:
        found = (_of_function(subject, subject.call.packing),)
    if module is None:
        return Weights(found)
    named = roles(module, subject.options.weights)
    return Weights(
        found or tuple(one for one in _read(subject, module, named) if one.fits),
        tuple(without_role(module, named)),
        first_layer_of_several(named),
        _small(subject, module, named),
    )


def _small(
    subject: Subject, module: nn.Module, named: Mapping[str, list[str]]
) -> str | None:
    heads = subject.num_heads or 1
    for name in named.get("query", named.get("packed", [])) if heads > 1 else []:
        if layouts(module, name, subject.d_in // heads):
            return name
    return None


def _of_function(subject: Subject, packing: Packing) -> Projections:
    """Let the identity, cut into three, take queries, keys and values out of tokens."""
    eye = torch.eye(subject.d_in, dtype=torch.float64, device=subject.device)
    query, key, value = eye.split(packing.widths)
    return Projections(query, key, value, None, {}, packing.heads, "")


def _read(
    subject: Subject, module: nn.Module, named: Mapping[str, list[str]]
) -> Iterator[Projections]:
    """Read the weights in every way in which they may be stored."""
    names = ", ".join(
        named[role][0] for role in ("packed", "key_value", *ROLES) if role in named
    )
    stacked = len(named.get("query") or named.get("packed") or [1])
    heads_known = subject.num_heads or (stacked if stacked > 1 else None)
    for heads in [heads_known] if heads_known else range(1, _MOST_HEADS + 1):
        for three, three_biases in _threes(module, named, subject.d_in, heads):
            wide = three[2].shape[0] * three[0].shape[0] // three[1].shape[0]
            outs = matrices(module, named.get("out", []), wide)
            joins: list[Tensor | None] = [*outs.values()] if outs else [None]
            for out in joins:
                yield Projections(*three, out, three_biases, heads, names)


def _threes(
    module: nn.Module, named: Mapping[str, list[str]], d_in: int, heads: int
) -> Iterator[tuple[Three, dict[str, Tensor]]]:
    """Give the three projections and their biases."""
    found = {role: matrices(module, names, d_in) for role, names in named.items()}
    known = {role: biases(module, names) for role, names in named.items()}
    given = {role: one for role, one in known.items() if one is not None}
    if {"query", "key", "value"} <= named.keys():
        for layout, query in found["query"].items():
            if layout in found["key"] and layout in found["value"]:
                yield (query, found["key"][layout], found["value"][layout]), given
    elif {"query", "key_value"} <= named.keys():
        both = _cut(given.get("key_value"), ("key", "value"), _halves)
        for layout, query in found["query"].items():
            if layout in found["key_value"]:
                key, value = _halves(found["key_value"][layout])
                yield (query, key, value), given | both
    for packed in found.get("packed", {}).values():
        if packed.shape[0] % (3 * heads):
            continue
        for cut in (_side_by_side, functools.partial(_head_by_head, heads)):
            yield cut(packed), given | _cut(given.get("packed"), ROLES[:3], cut)


def _cut(
    packed: Tensor | None,
    names: Sequence[str],
    cut: Callable[[Tensor], Sequence[Tensor]],
) -> dict[str, Tensor]:
    """Cut a bias as the weight beside it is cut."""
    return {} if packed is None else dict(zip(names, cut(packed), strict=True))


def _halves(packed: Tensor) -> Sequence[Tensor]:
    return packed.chunk(2)


def _side_by_side(packed: Tensor) -> Three:
    query, key, value = packed.chunk(3)
    return query, key, value


def _head_by_head(heads: int, packed: Tensor) -> Three:
    query, key, value = packed.unflatten(0, (heads, 3, -1)).unbind(1)
    return query.flatten(0, 1), key.flatten(0, 1), value.flatten(0, 1)
