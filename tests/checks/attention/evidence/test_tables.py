"""Tables of angles are found by what a call does with them, wherever they come from."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from headway.checks.attention.evidence.tables import (
    computes_angles,
    tables_in_use,
    without_lengths,
)
from headway.checks.attention.subject import Options, Subject, discover
from headway.checks.core.errors import is_ours
from tests.checks.support.attention_designs import (
    CONTEXT,
    Complex,
    Given,
    Halves,
    InPart,
    Pairs,
    angles,
    given,
)
from tests.checks.support.callers import OfTokens, discovered


def subject(target: Any, **options: Any) -> Subject:
    return discover(target, Options(d_in=24, **options))


@pytest.mark.parametrize(
    ("make", "layout", "pairs"),
    [
        (Halves, "twice", 4),
        (Complex, "complex", 4),
        (Pairs, "neighbours", 4),
        (InPart, "complex", 2),
        (Given, "one of each", 4),
    ],
)
def test_a_table_is_found_wherever_it_is(make: Any, layout: str, pairs: int) -> None:
    one = subject(make(), call=given if make is Given else None)
    found = tables_in_use(one)
    assert layout in {table.layout for table in found}
    expected = angles(one.T, pairs)
    assert any(
        table.angles.shape == expected.shape
        and torch.allclose(table.angles.cos(), expected.cos(), atol=1e-5)
        and torch.allclose(table.angles.sin(), expected.sin(), atol=1e-5)
        for table in found
    )


def called(function: Any) -> list[tuple[int, ...]]:
    """Give the shapes of the tables that a function of tokens uses."""
    found = tables_in_use(subject(function))
    return [tuple(table.angles.shape) for table in found]


def rows(x: Tensor, columns: int = 4) -> Tensor:
    return angles(x.shape[1], columns).to(x)


def using(x: Tensor, *tables: Tensor) -> Tensor:
    """Hand tables to torch, and give the tokens back."""
    torch.stack([one.expand(2, *one.shape[-2:]) for one in tables])
    return x * 1


def test_what_is_no_table_is_none() -> None:
    assert called(lambda x: x * 1) == []
    constant = {"all the same": 0.0, "of two sizes": 1.0}
    for shift in constant.values():
        table = torch.full((CONTEXT, 4), shift).double()
        assert called(lambda x, t=table: using(x, t[: x.shape[1]].cos())) == []

    def still(x: Tensor) -> Tensor:
        turned = torch.ones_like(rows(x))
        return using(x, turned.cos(), turned.sin())

    assert called(still) == []


def test_one_pair_for_each_position_is_a_table() -> None:
    def one(x: Tensor) -> Tensor:
        turned = rows(x, 1)
        return using(x, turned.cos(), turned.sin())

    assert called(one) == [(7, 1)]


def test_tables_that_differ_from_text_to_text_are_none() -> None:
    def own(x: Tensor) -> Tensor:
        turned = x.sum(-1, keepdim=True) * torch.ones(4).to(x)
        return x * (turned.cos() + turned.sin()).sum(-1, keepdim=True)

    assert called(own) == []


def test_empty_tensors_and_single_tokens_have_none() -> None:
    def empty(x: Tensor) -> Tensor:
        return x * 1 + torch.zeros(0, 7, 4).sum().to(x)

    assert called(empty) == []
    assert tables_in_use(replace(subject(Halves()), T=1)) == []


def test_of_very_many_tensors_some_are_kept() -> None:
    def many(x: Tensor) -> Tensor:
        turned = rows(x)
        for _ in range(500):
            turned = turned * 1
        return using(x, turned.cos(), turned.sin())

    assert called(many) == []


def test_a_table_tells_how_much_longer_vectors_become() -> None:
    def longer(x: Tensor) -> Tensor:
        turned = rows(x)
        return using(x, 1.25 * turned.cos(), 1.25 * turned.sin())

    def complex_numbers(x: Tensor) -> Tensor:
        return using(x, torch.polar(torch.full((1,), 1.25).double(), rows(x))) * 1

    for function in (longer, complex_numbers):
        found = tables_in_use(subject(function))
        assert 1.25 in [round(one.length, 6) for one in found]
    assert {one.length for one in tables_in_use(subject(Halves()))} == {1.0}
    assert [one.length for one in without_lengths(found)] == [1.0]


def test_an_error_beside_a_watch_is_one_of_the_code() -> None:
    class Short(OfTokens):
        def forward(self, x: Tensor) -> Tensor:
            if x.shape[1] > 7:
                x = x[:, torch.arange(x.shape[1]) + 1]
            return super().forward(x)

    subject = replace(discovered(Short()), T=8)
    for look in (tables_in_use, computes_angles):
        with pytest.raises(IndexError) as raised:
            [*look(subject)]  # type: ignore[misc]
        assert not is_ours(raised.value)
