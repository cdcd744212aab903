"""Packed weights cut into queries, keys and values, in every order of their rows."""

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence

from torch import Tensor

Cut = Callable[[Tensor], Sequence[Tensor]]
# Side by side, and the three of each head together: what most code does.
_COMMON = (("part", "head", "number"), ("head", "part", "number"))


def cuts(
    rows: int, parts: int, heads: int, groups: int | None
) -> Iterator[tuple[Cut, bool]]:
    """Give the ways to cut rows into parts, and whether each is a common one.

    Any order of the three axes is right, as long as code keeps to it: weights in one
    order are those of another under other numbers.

    Args:
        rows: How many rows there are.
        parts: Three for queries, keys and values; two for keys and values.
        heads: How many heads each part has.
        groups: How many heads keys and values have, if fewer than the queries.
    """
    if groups is not None and parts == 3 and groups != heads:
        yield from _cuts_of_groups(rows, heads, groups)
        return
    if rows % (parts * heads):
        return
    sizes = {"part": parts, "head": heads, "number": rows // parts // heads}
    others = [one for one in itertools.permutations(sizes) if one not in _COMMON]
    for order in (*_COMMON, *others):
        yield functools.partial(_cut, order, sizes), order in _COMMON


def _cut(order: Sequence[str], sizes: dict[str, int], packed: Tensor) -> list[Tensor]:
    stacked = packed.unflatten(0, [sizes[one] for one in order])
    places = [order.index(one) for one in ("part", "head", "number")]
    ordered = stacked.movedim(places, (0, 1, 2))
    return [part.flatten(0, 1) for part in ordered.unbind(0)]


def _cuts_of_groups(rows: int, heads: int, groups: int) -> Iterator[tuple[Cut, bool]]:
    if heads % groups or rows % (heads + 2 * groups):
        return
    width = rows // (heads + 2 * groups)
    few = groups * width
    yield lambda packed: packed.split([heads * width, few, few]), True

    def group_by_group(packed: Tensor) -> list[Tensor]:
        each = packed.unflatten(0, (groups, heads // groups + 2, width))
        three = each[:, :-2], each[:, -2:-1], each[:, -1:]
        return [one.flatten(0, 2) for one in three]

    yield group_by_group, True


def innermost(rows: Tensor, heads: int) -> Tensor:
    """Bring rows where the heads of each number are neighbours to head after head."""
    return rows.unflatten(0, (-1, heads)).transpose(0, 1).flatten(0, 1)
