"""Find the weights of queries, keys and values, by their names and shapes."""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from headway.checks import naming, vocabulary
from headway.checks.calling import Cut
from headway.checks.naming import ROLES
from headway.checks.stored import bias, matrices, oriented
from headway.checks.subject import Subject


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


def find(subject: Subject) -> list[Projections]:
    """List what the weights may be, the likeliest first; empty if none are found.

    Raises:
        ValueError: If the reader named a role or a weight that does not exist.
    """
    if subject.call.cut is not None:
        return [_of_function(subject, subject.call.cut)]
    if subject.module is None:
        return []
    named = naming.roles(subject.module, subject.told.weights)
    return [one for one in _read(subject, subject.module, named) if one.fits]


def small(subject: Subject) -> str:
    """Name a layer that makes the queries of each head out of its part of a token."""
    if subject.module is None:
        return ""
    named = naming.roles(subject.module, subject.told.weights)
    heads = subject.told.num_heads or vocabulary.heads(subject.module) or 1
    for name in named.get("query", named.get("packed", [])) if heads > 1 else []:
        if oriented(subject.module, name, subject.d_in // heads):
            return name
    return ""


def _of_function(subject: Subject, cut: Cut) -> Projections:
    """Let the identity, cut into three, take queries, keys and values out of tokens."""
    eye = torch.eye(subject.d_in, dtype=torch.float64, device=subject.device)
    wide = cut.heads * cut.key_width
    query, key, value = eye.split([wide, wide, cut.heads * cut.value_width])
    return Projections(query, key, value, None, {}, cut.heads, "")


def _read(
    subject: Subject, module: nn.Module, named: dict[str, list[str]]
) -> Iterator[Projections]:
    """Read the weights in every way in which they may be stored."""
    words = ", ".join(
        named[role][0] for role in ("packed", "key_value", *ROLES) if role in named
    )
    told = subject.told.num_heads or vocabulary.heads(module)
    stacked = len(named.get("query") or named.get("packed") or [1])
    counts = [told or stacked] if told or stacked > 1 else [*range(1, 65)]
    for heads in counts:
        for three, biases in _threes(module, named, subject.d_in, heads):
            wide = three[2].shape[0] * three[0].shape[0] // three[1].shape[0]
            outs = matrices(module, named.get("out", []), wide)
            joins: list[Tensor | None] = [*outs.values()] if outs else [None]
            for out in joins:
                yield Projections(*three, out, biases, heads, words)


Three = tuple[Tensor, Tensor, Tensor]


def _threes(
    module: nn.Module, named: dict[str, list[str]], d_in: int, heads: int
) -> Iterator[tuple[Three, dict[str, Tensor]]]:
    """Give the three projections and their biases."""
    found = {role: matrices(module, names, d_in) for role, names in named.items()}
    known = {role: bias(module, names) for role, names in named.items()}
    biases = {role: one for role, one in known.items() if one is not None}
    if {"query", "key", "value"} <= named.keys():
        for form, query in found["query"].items():
            if form in found["key"] and form in found["value"]:
                yield (query, found["key"][form], found["value"][form]), biases
    elif {"query", "key_value"} <= named.keys():
        for form in found["query"].keys() & found["key_value"].keys():
            key, value = found["key_value"][form].chunk(2)
            yield (
                (found["query"][form], key, value),
                biases
                | _cut(
                    biases.get("key_value"), ("key", "value"), lambda one: one.chunk(2)
                ),
            )
    for packed in found.get("packed", {}).values():
        if packed.shape[0] % (3 * heads):
            continue
        for cut in (_side_by_side, functools.partial(_head_by_head, heads)):
            yield cut(packed), biases | _cut(biases.get("packed"), ROLES[:3], cut)


def _cut(
    packed: Tensor | None,
    roles: Sequence[str],
    cut: Callable[[Tensor], Sequence[Tensor]],
) -> dict[str, Tensor]:
    """Cut a bias as the weight beside it is cut."""
    return {} if packed is None else dict(zip(roles, cut(packed), strict=True))


def _side_by_side(packed: Tensor) -> Three:
    query, key, value = packed.chunk(3)
    return query, key, value


def _head_by_head(heads: int, packed: Tensor) -> Three:
    query, key, value = packed.unflatten(0, (heads, 3, -1)).unbind(1)
    return query.flatten(0, 1), key.flatten(0, 1), value.flatten(0, 1)
