"""Find the weights of queries, keys and values, by their names and shapes."""

import functools
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor, nn

from headway.checks.attention.evidence.weights.cuts import Cut, cuts, innermost
from headway.checks.attention.evidence.weights.latent import (
    latent_roles,
    latent_weights,
)
from headway.checks.attention.evidence.weights.layouts import biases, matrices
from headway.checks.attention.evidence.weights.roles import (
    ROLES,
    biases_of_their_own,
    first_layer_of_several,
    roles,
    without_role,
)
from headway.checks.attention.evidence.weights.shapes import roles_by_shape
from headway.checks.attention.subject import Subject
from headway.checks.attention.subject.calls import Packing
from headway.checks.core import intent
from headway.checks.core.names import read_names

Three = tuple[Tensor, Tensor, Tensor]
_MOST_HEADS = 64
_FIRST_NUMBERS = re.compile(r"\[\.\.\., ?:(\d+)\]")  # such as x[..., :20]
_MOST_CANDIDATES = 400
_THREE = re.compile(r"(?<![a-z])[qkv]{3}", re.IGNORECASE)


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
        certain: Whether names tell so; what only fits by its shape may be wrong.
        interleaved: Whether heads are merged in another order than they are split.
        averaged: Whether all heads have the same values, and their mean goes on.
    """

    query: Tensor
    key: Tensor
    value: Tensor
    out: Tensor | None
    biases: Mapping[str, Tensor]
    heads: int
    names: str
    certain: bool = True
    interleaved: bool = False
    averaged: bool = False

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
        small: What they may be if all heads share a layer for a part of a token.
        named: The names of the weights of each role, of the likeliest.
    """

    candidates: tuple[Projections, ...] = ()
    without_role: tuple[str, ...] = ()
    layer: str | None = None
    small: tuple[Projections, ...] = ()
    named: Mapping[str, list[str]] = field(default_factory=dict)


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
    named: Mapping[str, list[str]] = roles(module, subject.options.weights)
    found = found or _of_names(subject, module, named)
    small: tuple[Projections, ...] = ()
    if not found and (subject.num_heads or 1) > 1:
        small = _fitting(_Reading(subject, module, named, part=True))
    if subject.options.weights is None:
        if latent := _of_latent(subject, module, latent_roles(module)):
            found, named = latent, latent_roles(module)
        if not found:
            found, named = _by_shape(subject, module, named)
    return Weights(
        found,
        tuple(without_role(module, named)),
        first_layer_of_several(named),
        small,
        named,
    )


def _of_names(
    subject: Subject, module: nn.Module, named: Mapping[str, list[str]]
) -> tuple[Projections, ...]:
    """Read the weights of these names, as they are or behind one on whole tokens."""
    found = _fitting(_Reading(subject, module, named))
    if any(one.certain for one in found) or not named:
        return found
    stored = dict(module.named_parameters())
    for name in without_role(module, named):
        if stored[name].ndim == 2:
            found += _fitting(
                _Reading(subject, module, named, certain=False, before=name)
            )
    return found


@dataclass(frozen=True)
class _Reading:
    """One way to read the weights of a module.

    Attributes:
        subject: The code.
        module: What has the weights.
        named: The names of the weights of each role.
        certain: Whether names tell the roles.
        part: Whether each head sees its own part of a token, through one shared layer.
        before: What acts on the whole token first.
    """

    subject: Subject
    module: nn.Module
    named: Mapping[str, list[str]]
    certain: bool = True
    part: bool = False
    before: str | None = None

    @functools.cached_property
    def takes_means(self) -> bool:
        """Whether the code takes a mean of something when it is called."""
        return "mean" in read_names(self.subject.target)

    @property
    def names(self) -> str:
        """The names, for the report."""
        order = ("packed", "key_value", *ROLES)
        return ", ".join(self.named[role][0] for role in order if role in self.named)

    def matrices(self, role: str, heads: int) -> dict[str, Tensor]:
        """Give the weights of a role as (out, d_in), for each possible layout."""
        names, d_in = self.named.get(role, []), self.subject.d_in
        before = self._before(d_in)
        width = d_in if before is None else before.shape[0]
        if self.part and width % heads:
            return {}
        if self.part:
            return {
                layout: torch.block_diag(*[one] * heads)
                for layout, one in matrices(self.module, names, width // heads).items()
            }
        found = matrices(self.module, names, width)
        part = self._part_of_a_token(role)
        if part is not None and not found and before is None:
            found = {
                layout: nn.functional.pad(one, (0, d_in - part))
                for layout, one in matrices(self.module, names, part).items()
            }
        found |= _blocks(self.module, names, width)
        if before is None:
            return found
        return {layout: one @ before for layout, one in found.items()}

    def _part_of_a_token(self, role: str) -> int | None:
        """Give how many numbers of a token a call hands to keys and values, if told."""
        told = _FIRST_NUMBERS.search(self.subject.call.text)
        if told is None or role not in ("key", "value", "key_value"):
            return None
        return int(told[1]) if int(told[1]) < self.subject.d_in else None

    def _before(self, d_in: int) -> Tensor | None:
        if self.before is None:
            return None
        return next(iter(matrices(self.module, [self.before], d_in).values()), None)

    def biases(self, heads: int) -> dict[str, Tensor]:
        """Give the biases by role; of what all heads share, once for each."""
        stored = dict(self.module.named_parameters())
        own = biases_of_their_own(self.module).items()
        found = {role: stored[name].detach().double().flatten() for role, name in own}
        for role, names in self.named.items():
            beside = biases(self.module, names)
            if beside is not None:
                shared = self.part and role != "out"
                found[role] = beside.repeat(heads) if shared else beside
        return found


def _fitting(reading: _Reading) -> tuple[Projections, ...]:
    return tuple(one for one in _read(reading) if one.fits)


def _of_latent(
    subject: Subject, module: nn.Module, named: Mapping[str, list[str]]
) -> tuple[Projections, ...]:
    """Read the weights of attention with a latent between tokens and keys."""
    heads = subject.num_heads or 1
    reading = _Reading(subject, module, named)
    out_bias = biases(module, named.get("out", []))
    given = {} if out_bias is None else {"out": out_bias}
    return tuple(
        found
        for three in latent_weights(module, named, heads)
        for out, _ in _outs(reading, three.value.shape[0], None)
        if (found := Projections(*three, out, given, heads, reading.names)).fits
    )


def _by_shape(
    subject: Subject, module: nn.Module, named: Mapping[str, list[str]]
) -> tuple[tuple[Projections, ...], Mapping[str, list[str]]]:
    """Let shapes tell where names fail; only the result can say which are right."""
    found: list[Projections] = []
    first = named
    for roles_of_shapes in roles_by_shape(module, subject.d_in):
        reading = _Reading(subject, module, roles_of_shapes, certain=False)
        fitting = _fitting(reading)
        if fitting and not found:
            first = roles_of_shapes
        found += fitting
        if len(found) >= _MOST_CANDIDATES:
            break
    return tuple(found[:_MOST_CANDIDATES]), first


def _blocks(module: nn.Module, names: Sequence[str], d_in: int) -> dict[str, Tensor]:
    """Read a matrix for each head that acts on the head's own part of a token."""
    stored = dict(module.named_parameters())
    if len(names) != 1 or stored[names[0]].ndim != 3:
        return {}
    weight = stored[names[0]].detach().double()
    return {
        f"own part, {layout}": torch.block_diag(*one)
        for layout, one in (("out, in", weight), ("in, out", weight.mT))
        if len(one) * one.shape[2] == d_in and len(one) > 1
    }


def _of_function(subject: Subject, packing: Packing) -> Projections:
    """Let the identity, cut into three, take queries, keys and values out of tokens."""
    eye = torch.eye(subject.d_in, dtype=torch.float64, device=subject.device)
    query, key, value = eye.split(packing.widths)
    return Projections(query, key, value, None, {}, packing.heads, "")


def _read(reading: _Reading) -> Iterator[Projections]:
    """Read the weights in every way in which they may be stored, common ways first."""
    named = reading.named
    stacked = len(named.get("query") or named.get("packed") or [1])
    known = reading.subject.num_heads or (stacked if stacked > 1 else None)
    found = [
        one
        for heads in ([known] if known else range(1, _MOST_HEADS + 1))
        for one in _with_heads(reading, heads, any_order=known is not None)
    ]
    yield from sorted(found, key=lambda one: not one.certain)


def _with_heads(
    reading: _Reading, heads: int, *, any_order: bool
) -> Iterator[Projections]:
    biases = reading.biases(heads)
    for three, cut_biases, common in _threes(reading, heads, biases):
        if not (common or any_order):
            continue
        wide = three[2].shape[0] * three[0].shape[0] // max(three[1].shape[0], 1)
        certain = common and reading.certain
        for out, bias in _outs(reading, wide, biases.get("out")):
            given = {**cut_biases, **({} if bias is None else {"out": bias})}
            found = Projections(*three, out, given, heads, reading.names, certain)
            yield found
            if heads > 1:
                yield from _averaged(found, shared=reading.takes_means)
            if any_order and heads > 1 and not wide % heads:
                yield from _relabelled(found, common=common)


def _averaged(found: Projections, *, shared: bool) -> Iterator[Projections]:
    """Let all heads have the same values, and the mean of what they find go on.

    So it is where heads have keys of their own, and there are values for one head.

    Args:
        found: The weights.
        shared: Whether values that are as wide as all heads may be those of each.
    """
    wide, heads, values = found.query.shape[0], found.heads, found.value.shape[0]
    of_one = values * heads == wide or (shared and values == wide)
    if found.key.shape[0] != wide or not of_one:
        return
    biases = {
        name: bias.repeat(heads) if name == "value" else bias
        for name, bias in found.biases.items()
    }
    value = found.value.repeat(heads, 1)
    mean = torch.eye(len(found.value)).to(found.value).repeat(1, heads) / heads
    out = mean if found.out is None else found.out @ mean
    yield replace(found, value=value, out=out, biases=biases, averaged=True)


def _relabelled(found: Projections, *, common: bool) -> Iterator[Projections]:
    """Give the same weights with the heads of each number beside each other."""
    if found.query.shape[0] != found.key.shape[0] or found.query.shape[0] % found.heads:
        return
    if not common:
        if found.out is not None:
            out = innermost(found.out.T, found.heads).T
            yield replace(found, out=out, certain=False, interleaved=True)
        return
    turned = functools.partial(innermost, heads=found.heads)
    three = turned(found.query), turned(found.key), turned(found.value)
    biases = {
        role: turned(one) if role in ROLES[:3] else one
        for role, one in found.biases.items()
    }
    uncertain = replace(found, certain=False)
    query, key, value = three
    other = replace(uncertain, query=query, key=key, value=value, biases=biases)
    yield replace(other, interleaved=found.out is not None)
    if found.out is not None:
        out = turned(found.out.T).T
        yield replace(uncertain, out=out, interleaved=True)
        yield replace(other, out=out)


def _outs(
    reading: _Reading, wide: int, bias: Tensor | None
) -> Iterator[tuple[Tensor | None, Tensor | None]]:
    """Give what joins the heads: one layer, two that follow each other, or none."""
    module, names = reading.module, reading.named.get("out", [])
    found = matrices(module, names, wide)
    for out in found.values():
        yield out, bias
    for one, other in itertools.permutations(names, 2) if len(names) == 2 else ():
        for first in matrices(module, [one], wide).values():
            for second in matrices(module, [other], first.shape[0]).values():
                inner, outer = biases(module, [one]), biases(module, [other])
                parts = [second @ inner] if inner is not None else []
                parts += [outer] if outer is not None else []
                yield second @ first, torch.stack(parts).sum(0) if parts else None
    if not found:
        yield None, None


def _threes(
    reading: _Reading, heads: int, known: Mapping[str, Tensor]
) -> Iterator[tuple[Three, dict[str, Tensor], bool]]:
    """Give the three projections, their biases, and whether they are cut as usual."""
    named = reading.named
    found = {role: reading.matrices(role, heads) for role in named}
    given = {role: one for role, one in known.items() if role in ROLES[:3]}
    if {"query", "key", "value"} <= named.keys():
        for layout, query in found["query"].items():
            if layout in found.get("key", {}) and layout in found.get("value", {}):
                three = query, found["key"][layout], found["value"][layout]
                yield three, given, not layout.startswith("own part")
    elif {"query", "key_value"} <= named.keys():
        for layout, query in found["query"].items():
            if layout not in found["key_value"]:
                continue
            both = found["key_value"][layout]
            for cut, common in _cuts_of_two(reading.subject, both.shape[0], heads):
                key, value = cut(both)
                bias = _beside(both, known.get("key_value"))
                own = _cut(bias, ("key", "value"), cut)
                yield (query, key, value), given | own, common
    for packed in found.get("packed", {}).values():
        groups = _groups(reading.subject)
        order = _order_of_parts(named["packed"][0])
        for cut, common in cuts(packed.shape[0], 3, heads, groups):
            parts = dict(zip(order, cut(packed), strict=True))
            own = _cut(_beside(packed, known.get("packed")), order, cut)
            three = parts["query"], parts["key"], parts["value"]
            yield three, given | own, common


def _order_of_parts(name: str) -> list[str]:
    """Read from a name such as `kqv` what stands where in packed weights."""
    letters = next((one for one in _THREE.findall(name) if len({*one}) == 3), "qkv")
    return [{"q": "query", "k": "key", "v": "value"}[one] for one in letters.lower()]


def _cuts_of_two(subject: Subject, rows: int, heads: int) -> Iterator[tuple[Cut, bool]]:
    for number, (cut, _) in enumerate(cuts(rows, 2, _groups(subject) or heads, None)):
        yield cut, number == 0


def _groups(subject: Subject) -> int | None:
    """Give the number of heads of keys and values, as declared or found."""
    return subject.options.groups or intent.num_kv_heads(subject.target)


def _beside(weight: Tensor, bias: Tensor | None) -> Tensor | None:
    """Give the bias, if it is one of this weight: shapes may have been guessed."""
    return bias if bias is not None and len(bias) == len(weight) else None


def _cut(packed: Tensor | None, names: Sequence[str], cut: Cut) -> dict[str, Tensor]:
    """Cut a bias as the weight beside it is cut."""
    return {} if packed is None else dict(zip(names, cut(packed), strict=True))
