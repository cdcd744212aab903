"""Gradients, precision and size of numbers."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from headway.checks import check
from tests.checks.support.asking import calling, expect, row, said
from tests.checks.support.attention_designs import Halves, rotate_half
from tests.checks.support.callers import WIDTH, OfTokens
from tests.checks.support.other_shapes import Both
from tests.support.attention_in_steps import (
    SMALL,
    Attention,
    PairMasked,
    function,
    hide,
    past,
)
from tests.support.mistakes.mistake import GRADIENTS, HALF, LARGE

DECLARE = " Say half_precision=True if it is meant to run in 16 bits."
MEANT = {"half_precision": True}


def test_a_function_without_gradients_is_not_judged() -> None:
    attend = function(causal=False, softmax=lambda m, s: s.detach().softmax(-1))

    def frozen(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        return attend(query, key, value).detach()

    assert said(frozen, GRADIENTS) == (
        "not applicable",
        "The function does not take part in differentiation.",
    )


class OneWay(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        raise NotImplementedError("there is no way back")


class Explodes(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        return gradient * torch.inf


def test_code_that_cannot_be_differentiated_is_not_judged() -> None:
    module = calling(lambda m, run, x: OneWay.apply(run(x)))
    assert said(module, GRADIENTS) == (
        "not applicable",
        "It could not be differentiated: NotImplementedError: there is no way back",
    )


def test_a_kernel_without_a_way_back_is_not_judged() -> None:
    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        if x.requires_grad:
            raise NotImplementedError("no backward on this device")
        return run(x)

    assert said(calling(call), GRADIENTS) == (
        "not applicable",
        "It could not be differentiated: NotImplementedError: no backward on this "
        "device",
    )


def test_gradients_must_be_finite() -> None:
    module = calling(lambda m, run, x: run(Explodes.apply(x)))
    assert said(module, GRADIENTS) == (
        "failed",
        "The gradient of the tokens is not finite.",
    )


def test_gradients_must_reach_every_matrix() -> None:
    module = Attention(
        SMALL,
        project=lambda m, x: (
            m.W_query(x),
            m.W_key(x).detach(),
            m.W_value(x),
        ),
    )
    assert said(module, GRADIENTS) == (
        "failed",
        "No gradient reaches W_key.weight: it is never used, or cut off.",
    )


def test_frozen_weights_need_no_gradients() -> None:
    module = Attention(SMALL)
    module.W_key.requires_grad_(False)
    assert said(module, GRADIENTS)[0] == "passed"


def test_a_row_that_is_large_is_said_to_be() -> None:
    def naive(m: Any, scores: Tensor) -> Tensor:
        return scores.exp() / scores.exp().sum(-1, keepdim=True)

    words = "With tokens 100 times as large, in float64, a row is*"
    expect(Attention(SMALL, softmax=naive), LARGE, "failed", words)


def test_a_type_may_not_be_fixed() -> None:
    module = calling(lambda m, run, x: run(x).to(torch.float64))
    verdict, sentence = said(module, HALF)
    assert (verdict, sentence) == (
        "failed",
        "Given float32 it returns float64: a type is fixed.",
    )


def test_numbers_may_not_be_lost_in_16_bits() -> None:
    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        rows = run(x)
        return rows if rows.itemsize > 2 else rows * 4 - 3 * rows.roll(1, dims=-1)

    expect(calling(call), HALF, "failed", "In bfloat16 it is off by*")


def test_a_type_that_is_not_there_is_no_mistake() -> None:
    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        if x.dtype == torch.float16:
            raise RuntimeError('"attend" not implemented for Half')
        return run(x)

    assert said(calling(call), HALF)[0] == "passed"


def raising(*dtypes: torch.dtype, other: float = 1.0) -> Attention:
    """Make a module that raises in some types, and multiplies in float16."""

    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        if x.dtype in dtypes:
            short = x.dtype == torch.float16
            raise RuntimeError("too short" if short else "not implemented for a brain")
        return run(x) * (other if x.dtype == torch.float16 else 1.0)

    return calling(call)


IN_BFLOAT16 = "In bfloat16 it raised RuntimeError: not implemented for a brain."


def test_a_type_that_raises_is_one_where_16_bits_are_declared() -> None:
    module = raising(torch.bfloat16)
    assert said(module, HALF) == ("note", IN_BFLOAT16 + DECLARE)
    assert said(module, HALF, **MEANT) == ("failed", IN_BFLOAT16)
    assert said(module, HALF, half_precision=False)[0] == "note"


def test_a_type_that_raises_in_32_bits_is_one_anyway() -> None:
    expect(
        raising(torch.float32, torch.bfloat16),
        HALF,
        "failed",
        "In float32 it raised RuntimeError: not implemented for a brain.",
    )


def test_what_is_noted_hides_no_wrong_number() -> None:
    expect(raising(torch.bfloat16, other=2), HALF, "failed", "In float16 it is off by*")


def test_the_first_note_is_said() -> None:
    module = raising(torch.bfloat16, torch.float16)
    assert said(module, HALF) == ("note", IN_BFLOAT16 + DECLARE)


def test_weights_of_16_bits_declare_it_unless_somebody_does() -> None:
    module = raising(torch.bfloat16).half()
    assert said(module, HALF) == ("failed", IN_BFLOAT16)
    assert said(module, HALF, half_precision=False)[0] == "note"
    module.out_proj.float()  # to run it there, somebody has to change it
    assert said(module, HALF)[0] == "note"


def test_integers_beside_weights_of_16_bits_do_not_count() -> None:
    module = raising(torch.bfloat16).bfloat16()
    module.counts = nn.Parameter(torch.ones(2, 2, dtype=torch.int64), False)
    assert said(module, HALF)[0] == "failed"


def test_without_weights_nothing_declares_it() -> None:
    class Plain(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            if x.dtype == torch.bfloat16:
                raise RuntimeError("not implemented for a brain")
            return (x @ x.mT).softmax(-1) @ x

    expected = ("note", IN_BFLOAT16 + DECLARE)
    assert said(Plain(), HALF, d_in=5) == expected
    assert said(Plain().forward, HALF, d_in=5) == expected


@pytest.mark.parametrize("declare", ["keyword", "facts", "class"])
def test_16_bits_are_declared_as_other_facts_are(declare: str) -> None:
    module = raising(torch.bfloat16)
    assert row(check(module, only=[HALF]), HALF).verdict == "note"
    if declare == "class":
        module.attention_facts = MEANT
    options = {"keyword": MEANT, "facts": {"facts": MEANT}}.get(declare, {})
    report = check(module, only=[HALF], **options)
    assert [(one.id, one.sentence) for one in report.failed] == [(HALF, IN_BFLOAT16)]
    assert str(report.facts["half_precision"]) == "yes (declared)"


def only_32(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    if query.dtype != torch.float32:
        raise TypeError("32 bits, please")
    return (query @ key.mT / query.shape[-1] ** 0.5).softmax(dim=-1) @ value


def test_code_of_one_type_alone_is_not_asked_for_others() -> None:
    error = "TypeError: 32 bits, please."
    words = f"It works only in float32: in bfloat16 it raised {error}"
    assert said(only_32, HALF) == ("note", words + DECLARE)
    assert said(only_32, HALF, **MEANT) == ("failed", words)


def test_gradients_must_reach_every_vector() -> None:
    class Normed(Attention):
        def __init__(self) -> None:
            super().__init__(SMALL)
            self.norm = nn.LayerNorm(SMALL.d_in)

    assert said(Normed(), GRADIENTS) == (
        "failed",
        "No gradient reaches norm.weight: it is never used, or cut off.",
    )


def of_one_type(dtype: torch.dtype, times: float = 1.0, *, causal: bool = False) -> Any:
    def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        if query.dtype != dtype:
            raise TypeError("of one type alone")
        scores = query @ key.mT / query.shape[-1] ** 0.5 * times
        if causal:
            scores = scores.masked_fill(~past(scores.shape[-1]), -torch.inf)
        return scores.softmax(dim=-1) @ value

    return attend


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("causal", [True, False])
def test_kernels_of_16_bits_are_as_exact_as_the_formula(
    dtype: torch.dtype, causal: bool
) -> None:
    report = check(of_one_type(dtype, causal=causal), causal=causal)
    assert [(row.id, row.sentence) for row in report.failed] == []
    [row] = [row for row in report.rows if row.id == HALF]
    name = str(dtype).removeprefix("torch.")
    assert row.sentence == f"Only in {name}, and as exact as the plain formula."


def test_a_kernel_of_16_bits_may_not_be_farther_off_than_the_formula() -> None:
    words = "*times that of the plain formula in the same type*"
    expect(of_one_type(torch.bfloat16, 1.2), HALF, "failed", words)


def test_a_module_of_16_bits_is_not_compared() -> None:
    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        if x.dtype != torch.bfloat16:
            raise TypeError("of one type alone")
        return run(x)

    assert said(calling(call), HALF) == (
        "not applicable",
        "It works only in bfloat16.",
    )


class Filled(PairMasked):
    """What it hides is filled with a number that has to fit."""

    def __init__(self, fill: float, **steps: Any) -> None:
        super().__init__(SMALL, **steps)
        self.fill = fill

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Any:
        def put(m: Any, scores: Tensor, given: Any) -> Tensor:
            scores = hide(m, scores, None)
            if mask is None:
                return scores
            return scores.masked_fill(~mask, self.fill)

        self.steps = self.steps | {"hide": put}
        return self.run(x)


def test_rows_of_zeros_have_no_rounding() -> None:
    module = calling(lambda m, run, x: 0 * run(x))
    assert said(module, HALF)[0] == "passed"


def test_masks_must_work_in_half_precision() -> None:
    words = "With mask, in float16 it raised RuntimeError: *"
    expect(Filled(-1e9), HALF, "failed", words, **MEANT)
    expect(Filled(-1e9), HALF, "note", f"{words}{DECLARE}")
    assert said(Filled(-1e4), HALF, **MEANT)[0] == "passed"


class PickyOfMasks(PairMasked):
    """With a mask, it raises in a type."""

    dtype = torch.float32
    words = "no mask, please"

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Any:
        if mask is not None and x.dtype == self.dtype:
            raise RuntimeError(self.words)
        return super().forward(x, mask)


def test_a_mask_must_work_in_32_bits_anyway() -> None:
    words = "With mask, in float32 it raised RuntimeError: no mask, please."
    assert said(PickyOfMasks(SMALL), HALF) == ("failed", words)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("options", [{}, MEANT])
def test_a_mask_of_another_type_is_the_callers_to_change(
    dtype: torch.dtype, options: dict[str, Any]
) -> None:
    module = PickyOfMasks(SMALL)
    module.dtype, module.words = dtype, "expected scalar type Half but found Float"
    assert said(module, HALF, **options) == (
        "note",
        f"With mask, in {str(dtype).removeprefix('torch.')} it raised RuntimeError: "
        "expected scalar type Half but found Float.",
    )


def test_what_is_noted_of_a_mask_hides_no_row_that_is_not_finite() -> None:
    class Both(PickyOfMasks):
        dtype = torch.bfloat16

        def forward(self, x: Tensor, mask: Tensor | None = None) -> Any:
            rows = super().forward(x, mask)
            lost = mask is not None and x.dtype == torch.float16
            return rows * (torch.nan if lost else 1.0)

    expect(Both(SMALL), HALF, "failed", "With mask, a row is not finite in float16*")


class TwoMasks(Attention):
    """In 16 bits one mask raises, and the other one gives rows that are nan."""

    def forward(
        self,
        x: Tensor,
        attn_mask: Tensor | None = None,
        key_padding_mask: Tensor | None = None,
    ) -> Any:
        if x.itemsize == 2 and attn_mask is not None:
            raise RuntimeError("no such mask, please")

        def put(m: Any, scores: Tensor, given: Any) -> Tensor:
            scores = hide(m, scores, None)
            if attn_mask is not None:
                scores = scores.masked_fill(~attn_mask, -1e4)
            if key_padding_mask is not None:
                scores = scores.masked_fill(~key_padding_mask[:, None, None], -1e4)
            return scores

        self.steps = self.steps | {"hide": put}
        lost = x.itemsize == 2 and key_padding_mask is not None
        return self.run(x) * (torch.nan if lost else 1.0)


def test_what_is_noted_of_a_mask_hides_nothing_of_another() -> None:
    words = "With key_padding_mask, a row is not finite in bfloat16*"
    expect(TwoMasks(SMALL), HALF, "failed", words)


def test_a_mask_that_64_bits_refuse_is_not_asked_in_16() -> None:
    class Picky(Filled):
        def forward(self, x: Tensor, mask: Tensor | None = None) -> Any:
            if mask is not None and x.dtype == torch.float64:
                raise TypeError("no 64 bits")
            return super().forward(x, mask)

    assert said(Filled(-1e9), HALF, **MEANT)[0] == "failed"
    assert said(Picky(-1e9), HALF, **MEANT)[0] == "passed"


def test_masks_may_not_be_nan_in_half_precision() -> None:
    class Wrong(PairMasked):
        def forward(self, x: Tensor, mask: Tensor | None = None) -> Any:
            rows = super().forward(x, mask)
            lost = mask is not None and x.dtype == torch.bfloat16
            return rows * (torch.nan if lost else 1.0)

    expect(Wrong(SMALL), HALF, "failed", "With mask, a row is not finite in bfloat16*")


class Lengths(Attention):
    """It hides by a number that is too large for 16 bits, and only by lengths."""

    def forward(self, x: Tensor, valid_lens: Tensor | None = None) -> Any:
        def hidden(m: Any, scores: Tensor, mask: Any) -> Tensor:
            if valid_lens is None:
                return scores
            places = torch.arange(scores.shape[-1])
            return scores.masked_fill(places >= valid_lens[:, None, None, None], -1e6)

        self.steps["hide"] = hidden
        return self.run(x)


def test_what_lengths_hide_by_must_fit_into_16_bits() -> None:
    words = "With valid_lens, in float16 it raised RuntimeError*"
    expect(Lengths(SMALL, causal=False), HALF, "failed", words, **MEANT)


class Anew(PairMasked):
    """A layer is made anew in every call, so that all that comes out is random."""

    fill = -1e9

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Any:
        self.steps["hide"] = lambda m, scores, given: scores.masked_fill(
            ~past(scores.shape[-1]) if given is None else ~given, self.fill
        )
        rows = self.run(x, mask)
        return nn.Linear(rows.shape[-1], 5).to(x)(rows)


def test_random_code_must_work_in_16_bits_too() -> None:
    words = "In float16 it raised RuntimeError*"
    expect(Anew(SMALL), HALF, "failed", words, **MEANT)
    expect(Anew(SMALL), HALF, "note", f"{words}{DECLARE}")
    module = Anew(SMALL)
    module.fill = -1e4
    passed = ("passed", "Types are kept, and 16 bits are accepted.")
    assert said(module, HALF, **MEANT) == passed


class InTokensType(Halves):
    """The angles of a rotation are computed in some type, which may be the tokens'."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how

    def turn(self, x: Tensor) -> Tensor:
        of = torch.float64 if self.how == "exactly" else x.dtype
        count = x.shape[2]
        places = torch.arange(count).to(of if self.how == "positions" else x.double())
        if self.how == "of an image":
            places = places % 4
        speeds = self.rotary_emb.inv_freq.double()
        half = torch.outer(places.double(), speeds)
        half = half.to(of).double() if self.how == "angles" else half
        both = torch.cat([half, half], dim=-1)
        return x * both.cos().to(x) + rotate_half(x) * both.sin().to(x)


@pytest.mark.parametrize("how", ["positions", "angles"])
def test_positions_are_not_counted_in_16_bits(how: str) -> None:
    words = (
        "In bfloat16, from position * on, its rotation does not turn by as much from "
        "each token to the next: positions or angles are rounded. Compute them in "
        "float32."
    )
    expect(InTokensType(how), HALF, "note", words + DECLARE)
    expect(InTokensType(how), HALF, "failed", words, **MEANT)


@pytest.mark.parametrize("how", ["exactly", "of an image"])
def test_positions_that_are_counted_exactly_are_right(how: str) -> None:
    assert said(InTokensType(how), HALF, **MEANT)[0] == "passed"


def test_texts_that_16_bits_can_count_show_nothing() -> None:
    module = InTokensType("positions")
    assert said(module, HALF, context_length=256, **MEANT)[0] == "passed"


def test_long_texts_that_16_bits_refuse_show_nothing() -> None:
    class Refuses(InTokensType):
        def forward(self, x: Tensor) -> Tensor:
            if x.shape[1] > 64 and x.itemsize == 2:
                raise RuntimeError("too long")
            return super().forward(x)

    assert said(Refuses("positions"), HALF, **MEANT)[0] == "passed"


def test_what_gives_rows_for_two_texts_uses_its_weights_in_both() -> None:
    assert said(Both(), GRADIENTS)[0] == "passed"


def test_what_was_kept_in_64_bits_is_no_mistake_of_32() -> None:
    class Keeps(Attention):
        lowest: float | None = None

        def forward(self, x: Tensor) -> Any:
            self.lowest = self.lowest or torch.finfo(x.dtype).min
            return super().forward(x) + 0 * x.new_full((1,), self.lowest)

    assert said(Keeps(SMALL), HALF)[0] == "passed"


class Summarised(nn.Module):
    """Weights of summaries act from ten tokens on."""

    def __init__(self, first: int, longest: int = 32) -> None:
        super().__init__()
        self.attend, self.first, self.most = OfTokens(), first, longest
        self.summary = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Any:
        if x.shape[1] > self.most:
            raise ValueError("shorter texts, please")
        rows = self.attend(x)
        long = x.shape[1] >= self.first
        return rows + self.summary(rows.mean(1, keepdim=True)) if long else rows


@pytest.mark.parametrize(("first", "verdict"), [(10, "passed"), (40, "failed")])
def test_a_weight_may_be_used_in_long_texts_alone(first: int, verdict: str) -> None:
    assert said(Summarised(first), GRADIENTS, d_in=WIDTH)[0] == verdict


def test_a_weight_that_no_text_uses_is_told() -> None:
    assert said(Summarised(10, longest=9), GRADIENTS, d_in=WIDTH)[0] == "failed"
