"""Results are compared in kind, shape, type and number."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from headway.practice.judging.compare import (
    comparable,
    copied,
    difference,
    fitted,
    kind,
    same,
    shown,
    shown_apart,
    shown_in,
)

ONE = torch.tensor([1.0, 2.0], dtype=torch.float64)
TABLE = torch.arange(18.0, dtype=torch.float64).reshape(2, 3, 3) - 7


@pytest.mark.parametrize(
    ("mine", "right", "said"),
    [
        (ONE + 1e-12, ONE, None),
        (ONE.float(), ONE, "its type is float32, but must be float64"),
        (ONE[None], ONE, "its shape is (1, 2), but must be (2,)"),
        (ONE + 0.5, ONE, "2 of 2 numbers are wrong, the farthest by 0.5"),
        (ONE + 1e-7, ONE, "the numbers are right to six digits but not to nine"),
        (ONE, -ONE / 0, "2 of 2 numbers are wrong, the farthest by inf"),
        (ONE * torch.nan, ONE, "it gives nan"),
        (ONE * torch.nan, ONE * torch.nan, None),
        (ONE.long() + 1, ONE.long(), "2 of 2 entries are wrong"),
        (ONE.long(), ONE.long(), None),
        (ONE > 1, ONE > 0, "1 of 2 entries are wrong"),
        (None, ONE, "it gives nothing (None), but must give a tensor of shape (2,)"),
        ([1], ONE, "it gives a list of 1 value, but must give a tensor of shape (2,)"),
        ((ONE, ONE), [ONE, ONE], None),
        ((ONE, ONE + 1), (ONE, ONE), "of 2 results, number 2: 2 of 2"),
        (
            ONE,
            (ONE, ONE),
            "it gives a tensor of shape (2,), but must give a tuple of 2 values",
        ),
        (1.5, 1.5 + 1e-13, None),
        (torch.tensor(1.5), 1.5, None),
        (1, 1.0, None),
        (2.0, 1.0, "the number is wrong, by 1"),
        (ONE[:1] + 0.5, ONE[:1], "the number is wrong, by 0.5"),
        (ONE[:1] > 1, ONE[:1] > 0, "it gives [False], but must give [True]"),
        (None, True, "it gives nothing (None), but must give True"),
        ("a", 1.0, "it gives 'a', but must give 1"),
        (True, True, None),
        (torch.tensor(True), True, None),
        (torch.tensor(2), 3, "it gives 2, but must give 3"),
        ("a", "b", "it gives 'a', but must give 'b'"),
        ({"a": 1}, {"a": 1}, None),
        ({"b": 1}, {"a": 1}, "it gives b: 1, but must give a: 1"),
        ({}, {"a": 1}, "it gives nothing, but must give a: 1"),
        (
            {"the output": ONE, "the gradient": ONE + 1},
            {"the output": ONE, "the gradient": ONE},
            "the gradient: 2 of 2 numbers are wrong, the farthest by 1",
        ),
        (
            {"the mask": "a parameter"},
            {"the mask": "a buffer"},
            "the mask: a parameter, but must be a buffer",
        ),
        (
            ONE,
            {"the weight": ONE, "the bias": ONE},
            "it gives a tensor of shape (2,), but must give the weight, the bias",
        ),
        (torch.tensor([]), torch.tensor([]), None),
        (ONE / 0, ONE / 0, None),
        (ONE / 0, -ONE / 0, "2 of 2 numbers are wrong, the farthest by inf"),
        (1e9 * ONE + 0.5, 1e9 * ONE, None),
        (1e9 * ONE + 5, 1e9 * ONE, "the numbers are right to six digits"),
        ([(ONE, ONE)], [(ONE, ONE + 1)], "of 1 results, number 1: of 2 results"),
        ([ONE], [ONE, ONE], "it gives a list of 1 value"),
        ({"a": [ONE]}, {"a": [ONE + 1]}, "a: of 1 results, number 1: 2 of 2"),
        (ONE.to(torch.complex128) * 1j, ONE.to(torch.complex128) * 1j, None),
    ],
)
def test_a_difference_is_told(mine: Any, right: Any, said: str | None) -> None:
    found = difference(mine, right)
    assert found == said or (said and found and found.startswith(said))
    assert same(mine, right) is (said is None)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (ONE / 3, "[0.3333, 0.6667]"),
        (-ONE * 0, "[0.0, 0.0]"),
        (ONE > 1, "[False, True]"),
        (1 / 3, "0.3333"),
        ((1, ONE), "(1, [1.0, 2.0])"),
        (
            {"the rows": ONE, "the module": "moved"},
            "the rows: [1.0, 2.0], the module: moved",
        ),
        ("x" * 300, "'" + "x" * 196 + "..."),
        (len, "Return the number of items in a container."),
    ],
)
def test_values_are_shown_in_few_digits(value: Any, text: str) -> None:
    assert shown(value) == text


def test_kinds_have_words() -> None:
    assert kind(3) == "a value of type int"


def test_copies_share_nothing() -> None:
    given = {"a": [ONE.clone(), (1, ONE.clone())]}
    again = copied(given)
    again["a"][0].zero_()
    again["a"][1][1].zero_()
    assert same(given["a"][0], ONE)
    assert same(given["a"][1][1], ONE)


def test_two_values_that_differ_are_never_written_alike() -> None:
    one = torch.tensor([1.0], dtype=torch.float64)
    assert shown_apart(one, one + 1) == ("[1.0]", "[2.0]")
    assert shown_apart(one, one + 1e-6) == ("[1.0]", "[1.000001]")
    assert shown_apart(1.0, 1.0 + 2e-16) == ("1", "1.0000000000000002")
    assert shown_apart((one, 1), (one + 1e-15, 1))[0] == "([1.0], 1)"
    assert shown_apart([one], one[None]) == (
        "a list of 1 value: [[1.0]]",
        "a tensor of shape (1, 1): [[1.0]]",
    )


@pytest.mark.parametrize("stack", [list, tuple])
def test_a_list_of_the_right_numbers_is_told(stack: Callable[..., object]) -> None:
    right = torch.stack([ONE, 2 * ONE])
    told = ": torch.stack makes one tensor of them"
    assert str(difference(stack([ONE, 2 * ONE]), right)).endswith(told)
    for other in ([ONE, ONE], [ONE, 2], [], [ONE, torch.ones(3)]):
        assert not str(difference(stack(other), right)).endswith(told)


def test_what_max_gives_is_told() -> None:
    assert difference(torch.ones(2, 3).max(dim=1), ONE) == (
        "it gives what torch.max gives, 2 tensors, but must give a tensor of shape (2,)"
    )


def test_of_named_results_the_first_that_differs_is_written() -> None:
    mine = {"the output": ONE, "the gradient": ONE + 1, "the rest": 1}
    right = {"the output": ONE, "the gradient": ONE, "the rest": 2}
    assert shown_apart(mine, right) == (
        "the gradient: [2.0, 3.0]",
        "the gradient: [1.0, 2.0]",
    )
    assert shown_apart({"a row": 1}, {"a key": 1}) == ("a row: 1", "a key: 1")


@pytest.mark.parametrize(
    ("mine", "right", "said"),
    [
        (ONE.float(), ONE, "in 32 bits (float32); make it with dtype=x.dtype"),
        (ONE.half(), ONE, "in 16 bits (float16); make it with dtype=x.dtype"),
        (ONE, ONE.float(), "in 64 bits (float64), and must be float32"),
        (ONE.long(), ONE, "of type int64; make it with dtype=x.dtype"),
        (ONE > 1, ONE * 0 + (ONE > 1), "of type bool; make it with dtype=x.dtype"),
        (ONE, ONE.long(), "of type float64, and must be int64: .long() makes it so"),
        ((ONE > 1).int(), ONE > 1, "of type int32, and must be bool: .bool() makes"),
        (ONE[:, None].float() @ ONE[None].float(), ONE[:, None] @ ONE[None], "in 32"),
        (ONE[None], ONE, "of shape (1, 2), and must be of shape (2,)"),
        (ONE[0], ONE[:1], "of shape (), and must be of shape (1,)"),
        (ONE[None].float(), ONE, "of shape (1, 2), and must be of shape (2,), and in"),
        (TABLE.mT, TABLE, "with axes 1 and 2 exchanged: .transpose(1, 2) puts them"),
        (TABLE[0].mT, TABLE[0], "with axes 0 and 1 exchanged: .transpose(0, 1) puts"),
        (
            (TABLE % 4 > 1).mT,
            TABLE % 4 > 1,
            "with axes 1 and 2 exchanged: .transpose(1, 2)",
        ),
        (2.0, 2, "a float, and must be an int: int(...) makes it one"),
        ((ONE, ONE.float()), [ONE, ONE], "of 2 results, number 2 is in 32 bits"),
        ({"a": 1, "b": ONE.float()}, {"a": 1, "b": ONE}, "b is in 32 bits (float32)"),
    ],
)
def test_a_result_is_turned_into_the_right_type(
    mine: Any, right: Any, said: str
) -> None:
    value, told, near = fitted(mine, right)
    assert told.startswith(said)
    assert not same(mine, right)
    assert same(value, right, near)


@pytest.mark.parametrize(
    ("mine", "right"),
    [
        (ONE, ONE),
        (ONE[:1].float(), ONE),
        ([1.0], ONE),
        (ONE.to(torch.complex64), ONE),
        (ONE + 0.5, ONE.long()),  # a fraction would be lost
        (ONE, {"a": ONE}),
        ({"b": ONE}, {"a": ONE}),
        (ONE, [ONE]),
        ([ONE, ONE], [ONE]),
        (TABLE.mT + 1, TABLE),
        (TABLE.reshape(3, 2, 3), TABLE),
        (2.5, 2),
        (True, True),
        ("a", "b"),
    ],
)
def test_another_result_stays_as_it_is(mine: Any, right: Any) -> None:
    value, told, _ = fitted(mine, right)
    assert value is mine or same(value, mine)
    assert told == ""


def test_numbers_of_few_bits_may_be_farther_off() -> None:
    _, _, near = fitted((ONE, ONE.float()), (ONE, ONE))
    assert same(ONE * (1 + 1e-5), ONE, near)
    assert not same(ONE * (1 + 1e-3), ONE, near)


@pytest.mark.parametrize(
    ("mine", "right", "numbers"),
    [
        (ONE, ONE + 1, True),
        (ONE.float(), ONE, False),
        (ONE[:1], ONE, False),
        (None, ONE, False),
        ({"a": ONE, "b": "x"}, {"a": ONE + 1, "b": "x"}, True),
        ({"a": ONE, "b": "y"}, {"a": ONE, "b": "x"}, False),
        ({"a": ONE}, {"b": ONE}, False),
        (ONE, {"b": ONE}, False),
        ((ONE, 1), [ONE, 2], True),
        ((ONE,), [ONE, 2], False),
        (ONE, [ONE, 2], False),
        (ONE.sum(), 2.0, True),
        (1, 2.0, True),
        ("a", 2.0, False),
        ("a", "b", True),
        (None, "b", False),
    ],
)
def test_numbers_are_compared_where_kind_shape_and_type_agree(
    mine: Any, right: Any, numbers: bool
) -> None:
    assert comparable(mine, right) is numbers


def test_long_values_are_cut_inside_and_none_is_left_out() -> None:
    table = torch.arange(400.0).reshape(20, 20)
    texts = shown_in([table, [table], (1, 2, 3, 4, 5, 6), "end"], 200)
    assert texts[0] == "[[0.0, 1.0, ..., 19.0], [20.0, 21.0, ..., 39.0], ..., " + (
        "[380.0, 381.0, ..., 399.0]]"
    )
    assert texts[2:] == ["(1, 2, ..., 6)", "'end'"]
    deep = shown_in([torch.ones(3, 3, 3)] * 9, 200)
    assert (
        deep
        == [
            "[[[1.0, ..., 1.0], ..., [1.0, ..., 1.0]], ..., [[1.0, ..., 1.0], "
            "..., [1.0, ..., 1.0]]]"
        ]
        * 9
    )
    assert shown_in([ONE, 3], 200) == ["[1.0, 2.0]", "3"]


def test_what_differs_is_not_cut_out() -> None:
    row = torch.zeros(100)
    other = row.clone()
    other[-1] = 1.0
    mine, right = shown_apart(row, other)
    assert mine == "[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, ..., 0.0]"
    assert right == "[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, ..., 1.0]"
    other = row.clone()
    other[20] = 1.0  # no number of those at both ends
    mine, right = shown_apart(row, other)
    assert mine.endswith("0...")
    assert right.startswith(mine[:90])
    assert mine != right
