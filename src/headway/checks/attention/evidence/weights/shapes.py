"""Which parameter may play which role, by its shape, where names do not tell."""

import itertools
from collections.abc import Iterator, Mapping

from torch import nn

from headway.checks.attention.evidence.weights.layouts import layouts

_MOST = 8  # matrices; a stack of layers has more, and would take long


def roles_by_shape(module: nn.Module, d_in: int) -> Iterator[Mapping[str, list[str]]]:
    """Give assignments of roles to matrices that fit, in the order of definition.

    Nothing but the result can tell which of them is right.
    """
    names = [name for name, one in module.named_parameters() if one.ndim >= 2]
    takes = [name for name in names if layouts(module, name, d_in)]
    if len(names) > _MOST:
        return
    rows = {
        name: {one.shape[0] for one in layouts(module, name, d_in).values()}
        for name in takes
    }
    for three in _neighbours(takes, 3):
        if set.intersection(*(rows[one] for one in three[1:])):
            for order in itertools.permutations(three):
                yield from _joined(names, dict(zip(_THREE, order, strict=True)))
    for two in _neighbours(takes, 2):
        for order in itertools.permutations(two):
            yield from _joined(names, dict(zip(_TWO, order, strict=True)))
    for one in takes:
        yield from _joined(names, {"packed": one})


_THREE = ("query", "key", "value")
_TWO = ("query", "key_value")


def _neighbours(names: list[str], count: int) -> Iterator[list[str]]:
    for start in range(len(names) - count + 1):
        yield names[start : start + count]


def _joined(
    names: list[str], chosen: Mapping[str, str]
) -> Iterator[Mapping[str, list[str]]]:
    """Join the heads by each of the other matrices, the last one first, or by none."""
    known = {role: [name] for role, name in chosen.items()}
    for name in reversed([one for one in names if one not in chosen.values()]):
        yield known | {"out": [name]}
    yield known
