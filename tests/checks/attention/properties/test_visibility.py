"""Which row sees which token: each sentence where it is due."""

from typing import Any

import torch
from torch import Tensor

from tests.checks.support.asking import rows_of, said
from tests.checks.support.right import Windowed
from tests.support.attention_in_steps import SMALL, Attention, hide, past
from tests.support.mistakes.mistake import LEAK, PAST


def test_a_window_that_is_named_is_reported() -> None:
    [row] = rows_of(Windowed(SMALL), PAST)
    assert row.sentence == "A row sees the latest 3 tokens: a window."
    assert row.figure == 3


def test_a_window_that_looks_ahead_is_no_window() -> None:
    class Wrong(Windowed):
        def run(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
            near = torch.ones(x.shape[1], x.shape[1]).tril(1).triu(-2).bool()
            self.steps["hide"] = lambda m, s, mask: s.masked_fill(~near, -torch.inf)
            return super().run(x)

    assert said(Wrong(SMALL), LEAK)[0] == "failed"


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


def test_a_leak_of_large_tokens_alone_has_no_place() -> None:
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


def test_a_leak_in_eval_alone_is_said_to_be_there() -> None:
    def sometimes(m: Any, scores: Tensor, mask: Any) -> Tensor:
        return hide(m, scores, mask) if m.training else scores

    verdict, sentence = said(Attention(SMALL, hide=sometimes), LEAK)
    assert verdict == "failed"
    assert sentence.startswith("A row moves in eval when a later token is changed.")


def test_a_future_that_counts_a_little_is_told_by_how_it_is_hidden() -> None:
    def faint(m: Any, scores: Tensor, mask: Any) -> Tensor:
        return scores.masked_fill(~past(scores.shape[-1]), -10.0)

    assert said(Attention(SMALL, hide=faint), LEAK) == (
        "failed",
        "A row moves when a later token is changed. Later tokens count a little: "
        "hidden scores are not low enough, as with a fill of -10.",
    )


def test_a_window_on_both_sides_is_noted() -> None:
    class Both(Windowed):
        def run(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
            near = torch.ones(x.shape[1], x.shape[1]).tril(2).triu(-2).bool()
            self.steps["hide"] = lambda m, s, mask: s.masked_fill(~near, -torch.inf)
            return super().run(x)

    verdict, sentence = said(Both(SMALL, causal=False), PAST, causal=False)
    assert verdict == "note"
    assert sentence.startswith("A row sees 2 tokens on both sides: the window reaches")


def test_a_mask_that_ends_is_found_in_longer_texts() -> None:
    def few(m: Any, scores: Tensor, mask: Any) -> Tensor:
        return scores if scores.shape[-1] > 8 else hide(m, scores, mask)

    assert said(Attention(SMALL, hide=few), LEAK) == (
        "failed",
        "In a text of 9 tokens a row moves when the last one is changed, and in one of "
        "5 none does: long texts are not masked.",
    )


def test_a_long_text_that_is_refused_leaks_nothing() -> None:
    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        if x.shape[1] > 8:
            raise ValueError("too long")
        return run(x)

    assert said(Attention(SMALL, call=call), LEAK)[0] == "passed"
