"""Tables are seen where functions of torch are handed them, and nothing else is."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from headway.checks.core.errors import is_ours
from headway.checks.core.table_watch import TableWatch, is_constant

T = 5


def kept(call: Callable[[], object], rows: int = T) -> list[tuple[int, ...]]:
    """Give the shapes of the tables that a call uses."""
    with TableWatch(rows) as watch:
        call()
    return [tuple(one.shape) for one in watch.kept]


def test_a_table_is_kept_in_64_bits_as_it_was() -> None:
    table = torch.arange(10.0).view(T, 2)
    with TableWatch(T) as watch:
        doubled = table * 2
        table.zero_()
    assert [one.dtype for one in watch.kept[:2]] == [torch.float64] * 2
    assert torch.equal(watch.kept[0], torch.arange(10.0).view(T, 2).double())
    assert torch.equal(watch.kept[1], doubled.double())


@pytest.mark.parametrize(
    ("shape", "seen"),
    [
        ((T, 3), (T, 3)),
        ((1, T, 3), (T, 3)),
        ((T, 1, 3), (T, 3)),
        ((2, 4, T, 3), (T, 3)),  # the same for all texts and heads
        ((T,), None),
        ((4, 3), None),
        ((2, 0, 3), None),
    ],
)
def test_axes_that_repeat_are_left_out(
    shape: tuple[int, ...], seen: tuple[int, ...] | None
) -> None:
    whole = torch.randn(T, 3)
    if T in shape and len(shape) > 1:
        whole = whole.unsqueeze(1) if shape[0] == T and len(shape) == 3 else whole
        table = whole.expand(shape).contiguous()
    else:
        table = torch.randn(shape)
    assert kept(lambda: table.relu())[:1] == ([seen] if seen else [])


def test_what_differs_from_text_to_text_is_no_table() -> None:
    rows = torch.randn(2, T, 3)
    assert kept(lambda: rows.relu()) == []
    assert kept(lambda: torch.arange(2 * T).view(T, 2) + 1) == []


def test_a_single_row_may_be_a_table() -> None:
    assert kept(lambda: torch.randn(2, 1, 3).cos(), rows=1) == []
    assert (1, 3) in kept(lambda: torch.randn(1, 3).cos(), rows=1)


def test_pairs_of_numbers_are_complex_ones_if_they_rotate() -> None:
    angles = torch.arange(T)[:, None] * torch.tensor([1.0, 0.1, 0.01])
    rotation = torch.stack([angles.cos(), angles.sin()], dim=-1)
    with TableWatch(T) as watch:
        torch.view_as_complex(rotation)
    assert watch.kept[0].is_complex()
    assert torch.allclose(watch.kept[0].real, angles.cos().double())
    assert kept(lambda: torch.randn(2, T, 2).abs()) == []


def test_tables_in_lists_are_seen() -> None:
    two = [torch.randn(T, 2), nn.Parameter(torch.randn(T, 3))]
    assert kept(lambda: torch.cat(two, dim=1)) == [(T, 2), (T, 3), (T, 5)]


def test_a_call_with_very_many_tables_is_cut_off() -> None:
    table = torch.randn(T, 2)
    assert len(kept(lambda: [table + 1 for _ in range(300)])) == 400


def test_tensors_of_vmap_are_left_out() -> None:
    table = torch.randn(3, T, 2)
    assert kept(lambda: torch.vmap(torch.cos)(table)) == []


def test_errors_of_the_code_that_is_watched_are_its_own() -> None:
    with pytest.raises(IndexError) as raised, TableWatch(T):
        torch.zeros(3)[7]
    assert not is_ours(raised.value)


@pytest.mark.parametrize(
    ("x", "constant"),
    [
        (torch.full((2, 3), 4.0), True),
        (torch.full((2, 3), 4.0) + torch.tensor([0.0, 0.0, 1e-3]), False),
        (torch.zeros(2, 3), False),
        (torch.full((2, 3), -4.0), False),
    ],
)
def test_a_constant_is_one_number_and_not_zero(x: Tensor, constant: bool) -> None:
    assert is_constant(x) == constant
