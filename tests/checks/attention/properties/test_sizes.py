"""Batches, texts and contexts of many sizes."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import group_norm

from headway.checks import check
from tests.checks.support.asking import calling, evidence_of, expect, said
from tests.checks.support.callers import WIDTH, OfTokens
from tests.checks.support.other_shapes import OfHeightAndWidth
from tests.checks.support.right import STEPS
from tests.support.attention_in_steps import SIZES, SMALL, Attention, Sizes, hide
from tests.support.mistakes import MISTAKES, build
from tests.support.mistakes.mistake import (
    ALONE,
    CONTEXT,
    EQUATION,
    LONGER,
    SIZE,
    SUM,
)


def test_a_text_beyond_the_context_may_be_refused() -> None:
    refuses = STEPS["call"]["refuses"]
    verdict, sentence = said(calling(refuses), CONTEXT)
    assert verdict == "passed"
    assert sentence == "It refuses 18 tokens: ValueError: the text is too long"


def test_a_text_as_long_as_the_context_may_not_be_refused() -> None:
    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        if x.shape[1] > 13:
            raise IndexError("the table has 13 rows")
        return run(x)

    words = (
        "It refuses 17 tokens, which its context should hold: IndexError: the table "
        "has 13 rows. A table or a mask ends early."
    )
    expect(calling(call), CONTEXT, "note", words)
    expect(calling(call), CONTEXT, "failed", words, context_length=17)
    expect(calling(call), CONTEXT, "passed", "It refuses 14 *", context_length=13)


def test_a_text_beyond_the_context_may_not_be_nan() -> None:
    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        return run(x) * (torch.nan if x.shape[1] > m.context_length else 1)

    assert said(calling(call), CONTEXT) == ("failed", "With 18 tokens it gives nan.")


def test_without_a_hidden_future_a_longer_text_is_only_called() -> None:
    verdict, _ = said(Attention(SMALL, causal=False), CONTEXT)
    assert verdict == "passed"
    assert said(Attention(SMALL, causal=False), LONGER)[0] == "not applicable"


def test_rows_stay_in_long_texts_too() -> None:
    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        return run(x) * (1 + (x.shape[1] > 255))

    module = calling(call)
    module.context_length = 1000
    assert said(module, LONGER)[0] == "failed"


def test_a_context_may_be_as_long_as_the_texts() -> None:
    module = Attention(SIZES["five heads"])
    module.context_length = 7
    assert said(module, LONGER) == (
        "passed",
        "No row changes when its text goes on, to 7 tokens.",
    )
    assert said(module, CONTEXT)[0] == "passed"


def test_a_row_less_than_there_are_tokens_is_not_attention() -> None:
    with pytest.raises(ValueError, match="it returned shape"):
        evidence_of(calling(lambda m, run, x: run(x)[:, 1:]))


# What is refused by design is no mistake.


def refusing(limit: int) -> Attention:
    """Make a module that takes no longer text, and has no name for that."""

    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        assert x.shape[1] <= limit
        return run(x)

    module = calling(call)
    del module.context_length
    return module


@pytest.mark.parametrize(("limit", "longest"), [(20, 10), (6, 6), (5, 5), (400, 300)])
def test_a_long_text_may_be_refused(limit: int, longest: int) -> None:
    assert said(refusing(limit), LONGER) == (
        "passed",
        f"No row changes when its text goes on, to {longest} tokens.",
    )


class OfOneLength(Attention):
    """A bias for each pair of tokens fixes how many there are, as in a window."""

    def __init__(self, length: int, **options: Any) -> None:
        super().__init__(SMALL, **options)
        self.context_length = length
        self.relative_bias = nn.Parameter(torch.zeros(length, length))

    def forward(self, x: Tensor) -> Any:
        table = self.relative_bias
        self.steps = self.steps | {"hide": lambda m, s, mask: hide(m, s + table, mask)}
        return super().forward(x)


@pytest.mark.parametrize("causal", [True, False])
def test_a_size_may_be_fixed_by_design(causal: bool) -> None:
    report = check(OfOneLength(16, causal=causal))
    assert [one.id for one in report.failed] == []
    [row] = [one for one in report.rows if one.id == SIZE]
    assert row.verdict == "note"
    assert row.sentence.startswith("It takes texts of 16 tokens only: with more")


def test_a_size_that_is_fixed_in_a_view_is_said_to_be() -> None:
    class Viewed(Attention):
        def forward(self, x: Tensor) -> Any:
            return super().forward(x.view(x.shape[0], 16, SMALL.d_in))

    report = check(Viewed(SMALL))
    [row] = [one for one in report.failed if one.id == SIZE]
    assert row.sentence.startswith("It takes texts of 16 tokens only, and raised")
    assert row.sentence.endswith("a size is fixed in a view.")


def test_one_token_alone_is_a_finding() -> None:
    report = check(refusing(1))
    assert [(one.id, one.sentence.partition(":")[0]) for one in report.failed] == [
        (SIZE, "It takes texts of one token only")
    ]


def test_a_view_of_what_is_elsewhere_in_memory_is_said_to_be_one() -> None:
    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        if x.shape[:2] == (2, 2):
            x = x.transpose(0, 1).view(4, -1).view(x.shape)
        return run(x)

    words = "*use reshape() where view() finds numbers in a different order in memory."
    expect(calling(call), SIZE, "failed", words)


class OfTheLargest(nn.Module):
    """A query keeps its largest scores, if there are so many."""

    def __init__(self, kept: int = 3, factor: float = 1.0) -> None:
        super().__init__()
        self.kept, self.factor = kept, factor
        self.query, self.key, self.value = (nn.Linear(13, 13) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        scores = self.query(x) @ self.key(x).mT / 13**0.5
        least = scores.topk(self.kept, dim=-1)[0][..., -1:]
        weights = scores.masked_fill(scores < least, -torch.inf).softmax(-1)
        rows: Tensor = weights * (1 + self.factor * (x.shape[1] > 6)) @ self.value(x)
        return rows


def test_a_text_of_fewer_tokens_than_are_kept_may_be_refused() -> None:
    report = check(OfTheLargest(factor=0.0))
    assert [one.id for one in report.failed] == []
    rows = {one.id: (one.verdict, one.sentence) for one in report.rows}
    assert rows[SIZE] == (
        "note",
        "It takes texts of 3 tokens or more: with one token it raised RuntimeError: "
        "selected index k out of range.",
    )
    verdict, sentence = rows[EQUATION]
    assert verdict == "note"
    assert sentence.startswith("It is not what the equation gives. It uses topk, which")
    assert rows[SUM][0] == "passed"


def test_equal_tokens_are_compared_with_one_less_if_one_is_not_taken() -> None:
    assert said(OfTheLargest(), SUM)[0] == "failed"


def test_a_text_of_one_token_that_raises_is_told() -> None:
    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        if x.shape[1] == 1:
            raise RuntimeError("no axis is left")
        return run(x)

    words = "With tokens of shape (3, 1, 13) it raised RuntimeError: no axis is left: *"
    expect(calling(call), SIZE, "failed", words)


def test_a_size_that_is_refused_is_told() -> None:
    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        if x.shape[:2] == (2, 2):
            raise ValueError("not two times two")
        return run(x)

    assert said(calling(call), SIZE) == (
        "failed",
        "With tokens of shape (2, 2, 13) it raised ValueError: not two times two: two "
        "axes are confused, or a size is fixed.",
    )


@pytest.mark.parametrize("count", [2, 5, 8])
def test_a_text_gets_the_same_among_any_number(count: int) -> None:
    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        return run(x) * (1 + (len(x) == count))

    verdict, sentence = said(calling(call), ALONE)
    assert verdict == "failed"
    assert f"among {count} texts than among" in sentence or count == 2


def test_what_is_kept_of_a_short_text_may_not_refuse_a_long_one() -> None:
    module = build("two heads", MISTAKES["mask: of the first call"])
    words = "*something of the first call is kept, such as its mask."
    expect(module, LONGER, "failed", words)


def test_a_wide_module_is_asked_about_its_context_in_32_bits() -> None:
    types: list[torch.dtype] = []

    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        if x.shape[1] == 401:
            types.append(x.dtype)
        return run(x)

    wide = Attention(Sizes(144, 36, 4, 400, 144), call=call)
    assert said(wide, CONTEXT)[0] == "passed"
    assert types == [torch.float32]
    assert said(wide, LONGER)[1].endswith("to 300 tokens.")


def at_most(count: int) -> Attention:
    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        if len(x) > count:
            raise RuntimeError("The expanded size of the tensor does not match")
        return run(x)

    return calling(call)


def test_a_limit_of_texts_is_no_mistake() -> None:
    words = "It takes 4 texts at once: with 5 it raised RuntimeError: The expanded*"
    expect(at_most(4), SIZE, "note", words)
    assert said(at_most(4), ALONE)[0] == "passed"


def test_some_numbers_of_texts_that_are_refused_are_one() -> None:
    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        if len(x) in (5, 6):
            raise RuntimeError("shape is invalid")
        return run(x)

    expect(calling(call), SIZE, "failed", "With tokens of shape (5, 3, *")
    assert said(calling(call), ALONE)[0] == "failed"


@pytest.mark.parametrize("side", [4, (4, 4), (2, 8)])
def test_a_size_in_a_view_may_be_that_of_an_image(side: Any) -> None:
    class Viewed(Attention):
        def forward(self, x: Tensor) -> Any:
            return super().forward(x.view(x.shape[0], 16, SMALL.d_in))

    module = Viewed(SMALL)
    module.resolution = side
    assert said(module, SIZE)[0] == "note"


def test_a_size_in_a_view_may_be_a_number_of_frames() -> None:
    class Frames(OfTokens):
        def forward(self, x: Tensor) -> Tensor:
            y = x.view(len(x), 4, x.shape[1] // 4, WIDTH).transpose(1, 2).flatten(0, 1)
            rows = self.mix(y, y, y).unflatten(0, (len(x), -1)).transpose(1, 2)
            return rows.flatten(1, 2)

    assert said(Frames(), SIZE, d_in=WIDTH)[0] == "note"


def test_a_size_in_a_view_is_not_the_longest_text() -> None:
    class Viewed(Attention):
        def forward(self, x: Tensor) -> Any:
            return super().forward(x.view(-1, self.context_length, SMALL.d_in))

    assert said(Viewed(SMALL), SIZE)[0] == "failed"


def test_a_norm_over_tokens_may_refuse_a_single_one() -> None:
    class Normed(OfTokens):
        def forward(self, x: Tensor) -> Tensor:
            return super().forward(group_norm(x.mT, WIDTH).mT)

    assert said(Normed(), SIZE, d_in=WIDTH)[0] == "passed"


def test_a_size_in_a_view_may_be_one_of_its_multiples() -> None:
    assert said(OfHeightAndWidth(), SIZE)[0] == "note"


def test_types_that_do_not_fit_are_no_matter_of_sizes() -> None:
    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        return run(x @ torch.eye(x.shape[2]) if x.shape[1] == 1 else x)

    assert said(calling(call), SIZE)[0] == "passed"


def test_parts_of_one_size_are_no_fixed_size() -> None:
    class InParts(Attention):
        def forward(self, x: Tensor) -> Any:
            return super().forward(x.view(len(x), -1, 16, SMALL.d_in).flatten(1, 2))

    row = next(one for one in check(InParts(SMALL)).rows if one.id == SIZE)
    assert row.verdict == "note"
    assert row.sentence.startswith("It takes texts of 16 tokens only: with more")


def test_a_size_that_the_height_of_an_image_decides_is_no_fault() -> None:
    class OfAnImage(Attention):
        def forward(self, x: Tensor, hw_shape: Any) -> Any:
            height, width = hw_shape
            x[:, 1:].reshape(len(x), height, width, -1).view(len(x), -1, 4, SMALL.d_in)
            return super().forward(x)

    row = next(one for one in check(OfAnImage(SMALL)).rows if one.id == SIZE)
    assert row.verdict != "failed", row.sentence
