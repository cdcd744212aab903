"""Who sees whom: each wrong line is told by its cause."""

import pytest
import torch
from torch import Tensor, nn

from headway.checks.model.properties import model_visibility
from tests.checks.model import models
from tests.checks.model.asking import (
    ask,
    embeds,
    evidence,
    refuse,
    with_mask,
    without_attention,
)
from tests.checks.model.building import build
from tests.checks.model.translators import Padded


def future(T: int, fill: float) -> Tensor:
    return torch.full((T, T), fill).triu(1)


def test_a_finite_fill_is_a_note() -> None:
    outcome = ask("leak", with_mask(lambda T: future(T, -20.0)))
    assert outcome.verdict == "note"
    assert "a finite number" in outcome.sentence
    outcome = ask("leak", with_mask(lambda T: future(T, -4.0)))
    assert outcome.verdict == "failed"
    outcome = ask("leak", with_mask(lambda T: future(T, -1e4)))
    assert outcome.verdict == "passed"


def test_what_other_texts_do_is_no_leak() -> None:
    model = embeds(lambda m, x: x + x.mean(0, keepdim=True))
    assert ask("leak", model).verdict == "passed"
    outcome = ask("batch", model)
    assert outcome.verdict == "failed"
    assert "over the batch" in outcome.sentence


T = 11
ALL = torch.ones(T, T)


@pytest.mark.parametrize(
    ("later", "says"),
    [
        (torch.zeros(T, T), "No single token does it"),
        (ALL.tril(-1) - ALL.tril(-2), "off by one"),
        (ALL.tril(-1) - ALL.tril(-4), "Each sees up to 3 tokens ahead."),
        (torch.block_diag(*[torch.ones(5, 5)] * 3)[:T, :T].tril(-1), "block of 5"),
        (torch.eye(T)[T - 1 :].T @ ALL[:1] - torch.eye(T), "wraps round"),
        (torch.eye(T)[3:4].T @ torch.eye(T)[:1], "1 of 55 pairs see ahead."),
        (ALL.tril(-1), "no mask acts"),
    ],
)
def test_who_sees_ahead_tells_the_cause(later: Tensor, says: str) -> None:
    found = evidence(build(models.Plain))
    seen = (later.tril(-1).clamp(min=0) + ALL.triu()).double()
    found.__dict__["influence"] = seen
    assert says in model_visibility._pattern(found).sentence


def test_training_may_leave_the_mask_out() -> None:
    class Trains(models.Plain):
        class attention(models.Attention):  # noqa: N801
            def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
                return nn.functional.scaled_dot_product_attention(
                    q, k, v, is_causal=not self.training
                )

    outcome = ask("leak-training", Trains)
    assert outcome.verdict == "failed"
    assert "in training, and not in eval" in outcome.sentence
    assert ask("leak", Trains).verdict == "passed"
    assert ask("leak-training", Trains, causal=False).verdict == "not applicable"
    assert ask("leak-long", Trains, causal=False).verdict == "not applicable"


def test_dropout_may_leave_the_mask_out() -> None:
    outcome = ask("leak-training", models.DroppedWithDropout)
    assert outcome.verdict == "failed"
    assert "in training with dropout, and not without" in outcome.sentence


def test_a_long_text_may_be_refused() -> None:
    model = refuse("too long", lambda ids: ids.shape[1] > 40)
    outcome = ask("leak-long", model)
    assert outcome.verdict == "not applicable"
    assert outcome.sentence == "A text of 131 tokens raised RuntimeError: too long."
    assert ask("leak-long", model, context_length=160).verdict == "failed"
    assert ask("leak-long", models.Plain).verdict == "passed"


def near(T: int) -> Tensor:
    seen = torch.ones(T, T).tril().triu(-3)
    return torch.zeros(T, T).masked_fill(seen == 0, -torch.inf)


def hides_first(T: int) -> Tensor:
    hidden = torch.ones(T, T).triu(1)
    hidden[1:, 0] = 1
    return torch.zeros(T, T).masked_fill(hidden == 1, -torch.inf)


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (with_mask(near), "the last 7 tokens alone: a window is in use"),
        (with_mask(hides_first), "a mask hides what it should show"),
        (without_attention(lambda m, x: x), "tokens do not meet"),
        (embeds(lambda m, x: torch.zeros_like(x)), "the ids do not arrive"),
    ],
)
def test_every_past_token_counts(model: nn.Module, says: str) -> None:
    outcome = ask("past", model)
    assert outcome.verdict == "failed"
    assert says in outcome.sentence


def test_a_model_may_move_its_input_on() -> None:
    moved = embeds(lambda m, x: nn.functional.pad(x, (0, 0, 1, 0))[:, :-1])
    outcome = ask("past", moved)
    assert outcome.verdict == "note"
    assert "not with their own: the model moves its input on by one" in outcome.sentence
    # What only moves some tokens on is a mistake.
    some = embeds(lambda m, x: torch.cat([x[:, :1], x[:, :1], x[:, 1:-1]], dim=1))
    assert ask("past", some).verdict == "failed"


def test_a_window_that_is_named_may_reach_so_far() -> None:
    model = with_mask(near)
    model.blocks[0].window = nn.Identity()
    outcome = ask("past", model)
    assert outcome.verdict == "passed"
    assert outcome.figure == 7


@pytest.mark.parametrize(
    ("dtype", "verdict"),
    [(torch.bfloat16, "not applicable"), (torch.float16, "passed")],
)
def test_bfloat16_rounds_away_what_a_token_moves(
    dtype: torch.dtype, verdict: str
) -> None:
    model = build(models.Plain).to(dtype)
    numbers = sum(one.numel() for one in model.parameters())
    outcome = ask("past", model, memory=5 * 3 * numbers / 1e9)
    assert outcome.verdict == verdict, outcome.sentence


def test_a_source_that_is_not_read_is_told() -> None:
    class Writes(Padded):
        reads = False

    assert ask("past", Padded).verdict == "passed"
    outcome = ask("past", Writes)
    assert outcome.verdict == "failed"
    assert outcome.sentence == "Logits do not move with the source: it is not read."
