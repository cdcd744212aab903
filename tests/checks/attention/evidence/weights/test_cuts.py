"""Packed weights are cut in every order of their rows."""

import itertools

import pytest
import torch

from headway.checks.attention.evidence.weights.cuts import cuts, innermost
from tests.support.sizes import D, H


def numbered(order: tuple[str, ...], parts: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Number the rows of each part, and pack them in an order."""
    sizes = {"part": parts, "head": H, "number": D}
    rows = torch.arange(parts * H * D).view(parts, H, D)
    names = ["part", "head", "number"]
    packed = rows.permute([names.index(one) for one in order]).flatten()
    assert len(packed) == parts * H * D == len(rows.flatten())
    assert [*rows.shape] == [sizes[one] for one in names]
    return packed, rows.flatten(1)


ORDERS = [*itertools.permutations(("part", "head", "number"))]


@pytest.mark.parametrize("parts", [2, 3])
@pytest.mark.parametrize("order", ORDERS)
def test_one_of_the_cuts_undoes_each_order(order: tuple[str, ...], parts: int) -> None:
    packed, expected = numbered(order, parts)
    right = [
        common
        for cut, common in cuts(len(packed), parts, H, None)
        if torch.equal(torch.stack([*cut(packed)]), expected)
    ]
    assert right == [order in (ORDERS[0], ORDERS[2])]


def test_the_common_orders_come_first() -> None:
    found = [common for _, common in cuts(3 * H * D, 3, H, H)]
    assert found == [True, True, False, False, False, False]


def test_rows_that_do_not_fit_are_not_cut() -> None:
    assert [*cuts(3 * H * D + 1, 3, H, None)] == []
    assert [*cuts(10 * D + 1, 3, 6, 2)] == []
    assert [*cuts(9 * D, 3, 5, 2)] == []


def test_few_keys_stand_beside_all_queries_or_in_each_group() -> None:
    side_by_side, by_group = (cut for cut, _ in cuts(10 * D, 3, 6, 2))
    rows = torch.arange(10 * D)
    assert [len(one) for one in side_by_side(rows)] == [6 * D, 2 * D, 2 * D]
    query, key, value = by_group(rows.view(2, 5, D).flatten())
    heads = rows.view(2, 5, D)
    assert torch.equal(query, heads[:, :3].flatten())
    assert torch.equal(key, heads[:, 3].flatten())
    assert torch.equal(value, heads[:, 4].flatten())


def test_heads_that_are_innermost_are_brought_out() -> None:
    rows = torch.arange(H * D).view(H, D)
    assert torch.equal(innermost(rows.T.flatten(), H), rows.flatten())
