"""What each property says where the verdict hangs on one thing alone."""

from typing import Any

import pytest
import torch
from right import MASKED, STEPS, Adds, HidesPadding, Windowed
from torch import Tensor, nn
from torch.nn.functional import dropout
from wrong import (
    AGAIN,
    DROPOUT,
    EMPTY,
    EQUATION,
    GRADIENTS,
    HALF,
    LARGE,
    LEAK,
    LONGER,
    OBEYED,
    ORDER,
    PAST,
    SIZES,
    SUM,
    Attention,
    KeyMasked,
    PairMasked,
    function,
    hide,
    past,
    split,
)
from wrong import CONTEXT as BEYOND

from headway.checks import Report, Row, check
from headway.checks.seeing import pattern, window

SMALL = SIZES["two heads"]


def row(report: Report, name: str) -> Row:
    [one] = [row for row in report.rows if row.name == name]
    return one


def said(target: Any, name: str, **told: Any) -> tuple[str, str]:
    one = row(check(target, **told), name)
    return one.verdict, one.sentence


def calling(wrong: Any, **options: Any) -> Attention:
    return Attention(SMALL, call=wrong, **options)


# Who sees whom.

FULL = torch.ones(7, 7, dtype=torch.bool)


def not_own(table: Tensor, empty: int, full: bool) -> Tensor:
    """A row moves with its own token, but the one that sees nothing need not."""
    table = table.clone()
    table[empty] = full
    return table


@pytest.mark.parametrize(
    ("seen", "name"),
    [
        (FULL, "every token"),
        (FULL.tril(), "itself and the past"),
        (FULL.triu(), "itself and the future"),
        (FULL.tril(1), "the past, itself and the next token"),
        (FULL.triu(-1), "the token before, itself and the future"),
        (FULL.tril().triu(), "only itself"),
        (not_own(FULL.tril(), 0, False), "the past and not itself"),
        (not_own(FULL.tril(), 0, True), "the past and not itself"),
        (not_own(FULL.triu(), -1, False), "the future and not itself"),
        (not_own(FULL.triu(), -1, True), "the future and not itself"),
        (not_own(FULL.tril(), 3, True), ""),
        (FULL.tril().triu(-2), ""),
        (FULL.tril() | FULL.triu(6), ""),
    ],
)
def test_a_table_of_who_sees_whom_has_a_name(seen: Tensor, name: str) -> None:
    assert pattern(seen) == name


def test_a_window_has_a_size() -> None:
    sizes = {size: window(FULL.tril().triu(1 - size)) for size in range(1, 8)}
    assert sizes == {1: None, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6, 7: None}
    assert window(FULL) is None


def test_a_window_that_is_named_is_reported() -> None:
    report = check(Windowed(SMALL))
    assert row(report, PAST).sentence == "A row sees the latest 3 tokens: a window."
    assert row(report, PAST).figure == 3


def test_a_window_that_looks_ahead_is_no_window() -> None:
    class Wrong(Windowed):
        def run(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
            near = torch.ones(x.shape[1], x.shape[1]).tril(1).triu(-2).bool()
            self.steps["hide"] = lambda m, s, mask: s.masked_fill(~near, -torch.inf)
            return super().run(x)

    assert not check(Wrong(SMALL)).ok


def test_a_leak_in_one_mode_is_said_to_be_there() -> None:
    def sometimes(m: Any, scores: Tensor, mask: Any) -> Tensor:
        return scores if m.training else hide(m, scores, mask)

    verdict, sentence = said(Attention(SMALL, hide=sometimes), LEAK)
    assert verdict == "failed"
    assert sentence.startswith("A row moves in training when a later token is changed.")


def test_a_leak_without_a_name_is_shown_by_one_place() -> None:
    def one_place(m: Any, scores: Tensor, mask: Any) -> Tensor:
        keep = past(scores.shape[-1])
        keep[1:2, 3:4] = True
        return scores.masked_fill(~keep, -torch.inf)

    verdict, sentence = said(Attention(SMALL, hide=one_place), LEAK)
    assert verdict == "failed"
    assert "Row 2 sees token 4:" in sentence


def test_a_leak_of_loud_tokens_alone_has_no_place() -> None:
    def faint(m: Any, scores: Tensor, mask: Any) -> Tensor:
        return scores.masked_fill(~past(scores.shape[-1]).triu(-2), -1e4)

    assert said(Attention(SMALL, hide=faint), LEAK) == (
        "failed",
        "A row moves when a later token is changed.",
    )


def test_code_that_mixes_nothing_is_told_so() -> None:
    module = Attention(
        SMALL,
        hide=lambda m, s, mask: s.masked_fill(
            ~torch.eye(s.shape[-1], dtype=torch.bool), -torch.inf
        ),
    )
    assert "only itself: tokens never meet" in said(module, PAST)[1]


# Sizes.


def test_a_text_beyond_the_context_may_be_refused() -> None:
    refuses = STEPS["call"]["refuses"]
    verdict, sentence = said(calling(refuses), BEYOND)
    assert verdict == "passed"
    assert sentence == "Refuses 18 tokens: ValueError: the text is too long"


def test_a_text_beyond_the_context_may_not_be_nan() -> None:
    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        return run(x) * (torch.nan if x.shape[1] > m.context_length else 1)

    assert said(calling(call), BEYOND) == ("failed", "With 18 tokens it gives nan.")


def test_without_a_hidden_future_a_longer_text_is_only_called() -> None:
    verdict, _ = said(Attention(SMALL, causal=False), BEYOND)
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
    report = check(module)
    assert report.ok
    assert row(report, LONGER).sentence == (
        "No row changes when its text goes on, to 7 tokens."
    )


def test_one_row_for_a_text_is_not_attention() -> None:
    with pytest.raises(ValueError, match="it returned shape \\(3, 11\\) for"):
        check(calling(lambda m, run, x: run(x).mean(1)))


# Calls and luck.


def test_what_cannot_be_called_again_is_found() -> None:
    def once(m: Any, run: Any, x: Tensor) -> Tensor:
        if hasattr(m, "called"):
            raise RuntimeError("once is enough")
        m.called = True
        return run(x)

    assert said(calling(once), AGAIN) == (
        "failed",
        "After other calls it raised RuntimeError: once is enough.",
    )


def of_functions(drops: Any) -> Any:
    """Make a function that takes a rate of dropout."""

    def attention(
        query: Tensor, key: Tensor, value: Tensor, dropout_p: float = 0.0
    ) -> Tensor:
        return function(
            causal=False, drop=lambda m, weights: drops(weights, dropout_p)
        )(query, key, value)

    return attention


def test_functions_are_asked_about_dropout_too() -> None:
    assert said(of_functions(dropout), DROPOUT)[0] == "passed"
    kept = of_functions(lambda w, p: w * (torch.rand_like(w) >= p))
    assert said(kept, DROPOUT)[0] == "failed"
    assert said(of_functions(lambda w, p: w), DROPOUT)[0] == "failed"
    assert said(function(causal=False), DROPOUT)[0] == "not applicable"


def test_numbers_that_are_no_matrix_are_not_drawn_anew() -> None:
    module = calling(lambda m, run, x: run(x) * m.loudness)
    module.loudness = nn.Parameter(torch.tensor(1.0))
    module.counts = nn.Parameter(torch.ones(2, 2, dtype=torch.int64), False)
    report = check(module)
    assert report.failed == []
    # It is 1 still; the check only cannot know that.
    assert said(module, EQUATION)[0] == "passed"


def test_a_module_may_have_no_weights() -> None:
    class Plain(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return (x @ x.mT).softmax(-1) @ x

    report = check(Plain(), d_in=5)
    assert report.ok
    assert row(report, EQUATION).verdict == "not applicable"


# How a row mixes.


def test_positions_without_a_name_are_found() -> None:
    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        return run(x * torch.linspace(1, 2, x.shape[1]).to(x)[:, None])

    for causal in (True, False):
        assert said(calling(call, causal=causal), ORDER)[0] == "failed"


def test_sums_that_are_not_divided_are_found() -> None:
    def summed(m: Any, scores: Tensor) -> Tensor:
        return scores.exp()

    for causal in (True, False):
        assert said(Attention(SMALL, causal=causal, softmax=summed), SUM)[0] == "failed"


# Masks that are given.


def test_padding_upside_down_is_found() -> None:
    class Wrong(KeyMasked):
        def forward(self, x: Tensor, key_padding_mask: Tensor | None = None) -> Any:
            return super().forward(x, key_padding_mask)

    verdict, sentence = said(Wrong(SMALL), OBEYED)
    assert verdict == "failed"
    assert sentence.startswith("In its key_padding_mask, True may look.")
    assert check(HidesPadding(SMALL)).ok


def test_a_mask_that_is_not_understood_is_not_judged() -> None:
    class Odd(Attention):
        def forward(self, x: Tensor, mask: str | None = None) -> Any:
            if mask is not None and mask != "causal":
                raise TypeError("a mask is a word here")
            return super().forward(x)

    assert said(Odd(SMALL), OBEYED) == (
        "not applicable",
        "No form of mask was found that it takes.",
    )


def test_a_mask_that_makes_everything_nan_is_not_taken() -> None:
    class Wrong(Attention):
        def forward(self, x: Tensor, mask: Tensor | None = None) -> Any:
            return super().forward(x) * (1 if mask is None else torch.nan)

    assert said(Wrong(SMALL), OBEYED)[0] == "not applicable"


def test_a_mask_that_changes_the_shape_is_not_taken() -> None:
    class Wrong(Attention):
        def forward(self, x: Tensor, mask: Tensor | None = None) -> Any:
            rows = super().forward(x)
            return rows if mask is None else torch.cat([rows, rows], dim=-1)

    assert said(Wrong(SMALL), OBEYED)[0] == "not applicable"


def test_a_mask_that_moves_numbers_only_is_told_apart_from_one_that_does_nothing() -> (
    None
):
    class Moves(Attention):
        def forward(self, x: Tensor, mask: Tensor | None = None) -> Any:
            return super().forward(x) * (1 if mask is None else 2)

    class Ignores(Attention):
        def forward(self, x: Tensor, mask: Tensor | None = None) -> Any:
            return super().forward(x)

    assert said(Ignores(SMALL), OBEYED)[1] == (
        "It takes mask, and mask changes nothing."
    )
    assert said(Moves(SMALL), OBEYED)[1].startswith(
        "mask changes numbers and hides no token"
    )


def test_each_form_of_a_mask_is_named() -> None:
    shown = {name: check(make(SMALL)).facts["masks"] for name, make in MASKED.items()}
    assert shown == {
        "pairs": "mask (T, S), True may look",
        "keys": "padding_mask (B, S), True may look",
        "needed": "mask (T, S), True may look",
        "hides true": "attn_mask (T, S), True is hidden",
        "hides padding": "key_padding_mask (B, S), True is hidden",
        "of numbers": "attention_mask (B, S), True may look",
        "adds": "attn_bias (T, S), added to the scores",
        "both": "attn_mask (T, S), True may look; "
        "key_padding_mask (B, S), True is hidden",
    }


def test_nan_may_hide_in_the_gradients_of_an_empty_row() -> None:
    class Wrong(Adds):
        def forward(self, x: Tensor, attn_bias: Tensor | None = None) -> Any:
            plain = 0.0
            if attn_bias is not None:
                plain = attn_bias.masked_fill(attn_bias < -1e9, -torch.inf)
            self.steps = self.steps | {"hide": lambda m, s, mask: s + plain}
            return self.run(x)

    assert said(Wrong(SMALL, causal=False), EMPTY) == (
        "failed",
        "A row that sees nothing makes gradients nan.",
    )


def test_empty_rows_are_asked_for_without_gradients_too() -> None:
    class Frozen(PairMasked):
        def forward(self, x: Tensor, mask: Tensor | None = None) -> Any:
            return super().forward(x, mask).detach()

    assert said(Frozen(SMALL), EMPTY)[0] == "passed"


# Numbers.


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


def test_a_row_that_is_loud_is_said_to_be() -> None:
    def naive(m: Any, scores: Tensor) -> Tensor:
        return scores.exp() / scores.exp().sum(-1, keepdim=True)

    verdict, sentence = said(Attention(SMALL, softmax=naive), LARGE)
    assert verdict == "failed"
    assert sentence.startswith("With tokens 100 times as loud, in float64, a row is")


def test_a_type_may_not_be_fixed() -> None:
    module = calling(lambda m, run, x: run(x).to(torch.float64))
    verdict, sentence = said(module, HALF)
    assert (verdict, sentence) == (
        "failed",
        "Of float32 it makes float64: a type is fixed.",
    )


def test_numbers_may_not_be_lost_in_16_bits() -> None:
    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        rows = run(x)
        return rows if rows.itemsize > 2 else rows * 4 - 3 * rows.roll(1, dims=-1)

    verdict, sentence = said(calling(call), HALF)
    assert verdict == "failed"
    assert sentence.startswith("In bfloat16 it is off by")


def test_a_type_that_is_not_there_is_no_mistake() -> None:
    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        if x.dtype == torch.float16:
            raise RuntimeError('"attend" not implemented for Half')
        return run(x)

    assert said(calling(call), HALF)[0] == "passed"


def test_a_type_that_raises_is_one() -> None:
    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        if x.dtype == torch.bfloat16:
            raise RuntimeError("not implemented for a brain")
        return run(x)

    assert said(calling(call), HALF) == (
        "failed",
        "In bfloat16 it raised RuntimeError: not implemented for a brain.",
    )


# The equation.


def test_one_small_layer_for_all_heads_is_found() -> None:
    class Small(nn.Module):
        def __init__(self):
            super().__init__()
            self.num_heads, self.d_in = 3, 15
            self.W_query, self.W_key, self.W_value = (nn.Linear(5, 5) for _ in "qkv")

        def forward(self, x: Tensor) -> Tensor:
            x = x.unflatten(-1, (3, 5)).transpose(1, 2)
            q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
            weights = (q @ k.mT / 5**0.5).softmax(-1)
            return (weights @ v).transpose(1, 2).flatten(2)

    assert said(Small(), EQUATION) == (
        "failed",
        "All heads share W_query.weight, and each sees only its own part of a token.",
    )


def test_weights_without_names_are_not_compared() -> None:
    module = Attention(SMALL)
    module.first, module.second, module.third = (
        module.W_query,
        module.W_key,
        module.W_value,
    )
    del module.W_query, module.W_key, module.W_value
    module.steps["project"] = lambda m, x: (m.first(x), m.second(x), m.third(x))
    assert said(module, EQUATION) == (
        "not applicable",
        "No weights of queries, keys and values were found.",
    )


def test_weights_that_the_equation_does_not_have_are_named() -> None:
    module = Attention(SMALL, call=lambda m, run, x: run(x) * m.gate(x).sigmoid())
    module.gate = nn.Linear(SMALL.d_in, 1)
    assert said(module, EQUATION) == (
        "not applicable",
        "It has weights that the equation does not have: gate.weight.",
    )


def test_what_nothing_explains_is_said_to_be_so() -> None:
    module = calling(lambda m, run, x: run(x) + 1)
    assert said(module, EQUATION) == (
        "failed",
        "It is not what the equation gives, and no mistake known here explains it.",
    )


def test_an_answer_of_another_shape_is_not_what_the_equation_gives() -> None:
    module = calling(lambda m, run, x: run(x)[..., :3])
    assert said(module, EQUATION)[0] == "failed"


def test_heads_are_split_where_they_are_said_to_be() -> None:
    assert split(Attention(SMALL), torch.randn(2, 7, 14)).shape == (2, 2, 7, 7)


def test_a_norm_after_dropout_is_no_mistake_of_dropout() -> None:
    class Normed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.qkv = nn.Linear(17, 3 * 5)
            self.dropout = nn.Dropout(0.1)
            self.norm = nn.LayerNorm(5)

        def forward(self, x: Tensor) -> Tensor:
            query, key, value = self.qkv(x).chunk(3, dim=-1)
            weights = (query @ key.mT / 5**0.5).softmax(dim=-1)
            return self.norm(self.dropout(weights) @ value)

    assert said(Normed(), "dropout keeps the mean") == (
        "not applicable",
        "Besides attention it has norm.weight, which may move the mean.",
    )


def test_code_of_one_type_alone_is_not_asked_for_others() -> None:
    def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        if query.dtype != torch.float32:
            raise TypeError("32 bits, please")
        return (query @ key.mT / query.shape[-1] ** 0.5).softmax(dim=-1) @ value

    assert said(attend, "types and half precision") == (
        "not applicable",
        "It works in float32 alone.",
    )
