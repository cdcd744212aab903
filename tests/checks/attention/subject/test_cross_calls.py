"""Which argument gets other tokens than the queries'."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from headway.checks.attention.subject.cross_calls import (
    as_cross_attention,
    hands_over_values,
)
from tests.checks.support.callers import WIDTH, OfThree, OfTokens, OfTwo, discovered
from tests.checks.support.other_shapes import DecoderLayer


def three(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return (query @ key.mT / query.shape[-1] ** 0.5).softmax(dim=-1) @ value


class MemoryFirst(OfTwo):
    def forward(self, memory: Tensor, decoder_input: Tensor) -> Tensor:
        rows: Tensor = super().forward(decoder_input, memory)
        return rows


@pytest.mark.parametrize(
    ("target", "options", "values"),
    [
        (MemoryFirst(), {}, False),
        (OfThree(), {}, True),
        (OfTwo(), {}, False),
        (three, {"d_in": None}, True),
        (nn.MultiheadAttention(WIDTH, 3), {}, True),
        (nn.MultiheadAttention(WIDTH, 3), {"call": "m(x, x, x)[0]"}, True),
        (nn.MultiheadAttention(WIDTH, 3), {"call": "m(x, y, y)[0]"}, False),
    ],
)
def test_keys_and_values_are_of_other_tokens(
    target: Any, options: dict[str, Any], values: bool
) -> None:
    subject = discovered(target, **options)
    x, y, z = (subject.tokens(T=n, seed=n) for n in (7, 9, 9))
    asking = as_cross_attention(subject, y, z + 1)
    assert asking is not None
    assert hands_over_values(subject) is values
    rows = asking(x)
    assert rows.shape[:2] == x.shape[:2]
    with_others = as_cross_attention(subject, y, y)
    assert with_others is not None
    assert torch.equal(rows, with_others(x)) is not values


def test_what_takes_one_text_has_no_others() -> None:
    subject = discovered(OfTokens())
    assert as_cross_attention(subject, subject.tokens()) is None
    assert not hands_over_values(subject)
    one_text = discovered(
        lambda q, k, v: three(q, k, v) if q.ndim == 2 else q[5], d_in=None
    )
    assert as_cross_attention(one_text, one_text.tokens()) is None


def attend_texts(m: Any, x: Tensor) -> Tensor:
    return m(x, x)


def test_a_call_of_the_reader_that_says_nothing_hands_over_no_values() -> None:
    subject = discovered(OfTwo(), call=attend_texts)
    assert as_cross_attention(subject, subject.tokens()) is None
    assert not hands_over_values(subject)


def test_a_memory_is_exchanged() -> None:
    subject = discovered(DecoderLayer(), d_in=12)
    x, y = subject.tokens(), subject.tokens(T=9, seed=1)
    asking = as_cross_attention(subject, y)
    assert asking is not None
    expected = asking.target(x, y)  # type: ignore[operator]
    torch.testing.assert_close(asking(x), expected)
