"""What explains a difference, besides one mistake or two that have a name."""

import math
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from headway.checks import Fact
from headway.checks.attention.evidence import Evidence
from headway.checks.attention.evidence.design import Design, Rotation
from headway.checks.attention.oracle import explain, match, search
from headway.checks.attention.oracle.mistakes import KnownMistake
from headway.checks.attention.oracle.recipe import Recipe
from headway.checks.attention.oracle.rotation import base_of, rotate
from headway.checks.core import book_sections as book
from tests.checks.support.asking import evidence_of
from tests.support.attention_in_steps import SIZES, Attention, Sizes, past
from tests.support.mistakes.designs import (
    BASE,
    KINDS,
    PAIRS,
    WIDE,
    angles,
    of_tokens,
    share,
    turned,
)


def explained(evidence: Evidence) -> str:
    found = explain(evidence)
    return found.sentence if found else ""


def said(sizes: Sizes = SIZES["five heads"], **steps: Any) -> str:
    return explained(evidence_of(Attention(sizes, **steps)))


def exactly(what: str) -> str:
    return f"It is exactly what comes out when {what}."


# One head


def of_heads(step: Any, right: Any, wrong: list[int]) -> Any:
    """Take some heads from a wrong step, and the others from the right one."""

    def mixed(m: Any, *parts: Tensor) -> Tensor:
        result = right(m, *parts).clone()
        result[:, wrong] = step(m, *parts)[:, wrong]
        return result

    return mixed


def score(m: Any, q: Tensor, k: Tensor) -> Tensor:
    return q @ k.mT / m.width**0.5


def unscaled(m: Any, q: Tensor, k: Tensor) -> Tensor:
    return q @ k.mT


@pytest.mark.parametrize(
    ("wrong", "where"),
    [
        ([0], "in the first head alone"),
        ([2], "in head 3 alone"),
        ([4], "in the last head alone"),
        ([0, 1, 2, 3], "in all heads but the last"),
    ],
)
@pytest.mark.parametrize("joined", [True, False])
def test_one_head_may_be_wrong_or_right(
    wrong: list[int], where: str, joined: bool
) -> None:
    step = of_heads(unscaled, score, wrong)
    module = Attention(SIZES["five heads"], joined=joined, score=step)
    sentence = exactly(f"{where}, scores are not scaled")
    assert explained(evidence_of(module)) == sentence


def test_the_first_head_may_see_the_future() -> None:
    def hide(m: Any, s: Tensor, mask: Tensor | None) -> Tensor:
        hidden = ~past(s.shape[-1]).expand_as(s).clone()
        hidden[:, 0] = False
        return s.masked_fill(hidden, -torch.inf)

    assert said(hide=hide) == exactly("in the first head alone, nothing is hidden")


# Numbers


@pytest.mark.parametrize("number", [-10.0, -1.5, 3.0])
def test_what_hidden_scores_are_set_to_is_found(number: float) -> None:
    def hide(m: Any, s: Tensor, mask: Tensor | None) -> Tensor:
        return s.masked_fill(~past(s.shape[-1]), number)

    shown = f"hidden scores are set to {number:.3g}, and not to minus infinity"
    assert said(hide=hide) == exactly(shown)


def test_next_to_zero_is_zero() -> None:
    def hide(m: Any, s: Tensor, mask: Tensor | None) -> Tensor:
        return s.masked_fill(~past(s.shape[-1]), 1e-9)

    assert "hidden scores are set to zero" in said(hide=hide)


def test_what_is_taken_off_hidden_scores_is_found() -> None:
    def hide(m: Any, s: Tensor, mask: Tensor | None) -> Tensor:
        return s - 4.0 * ~past(s.shape[-1])

    assert said(hide=hide) == exactly("4 is taken off hidden scores, and not infinity")


@pytest.mark.parametrize("factor", [0.3, -1.0, 5.5])
def test_what_scores_are_multiplied_by_is_found(factor: float) -> None:
    assert said(score=lambda m, q, k: factor * score(m, q, k)) == exactly(
        f"scores are multiplied by {factor / 3**0.5:.3g}, and not by 0.577"
    )


def test_the_base_of_a_rotation_is_found() -> None:
    def turn(x: Tensor) -> Tensor:
        speeds = 50.0 ** (-torch.arange(PAIRS, dtype=torch.float64) / PAIRS)
        return turned(x, torch.arange(x.shape[2])[:, None] * speeds, "pairs")

    found = evidence_of(Attention(WIDE, **share(turn, turn)))
    evidence = replace(found, designs=(KINDS["pairs"].design, Design()))
    shown = f"the base of the rotation is 50, and not {BASE:.4g}"
    assert explained(evidence) == exactly(shown)


def test_angles_of_no_base_have_none_to_be_found() -> None:
    odd = torch.tensor([1.0, 0.3, 0.2])
    table = torch.arange(40)[:, None] * odd
    design = Design(rotation=Rotation(table, "halves", "here"))
    turn = of_tokens("halves")
    found = evidence_of(Attention(WIDE, **share(turn, turn)))
    assert explained(replace(found, designs=(design, Design()))) == ""


def test_a_rotation_may_start_anywhere() -> None:
    table = angles(7, first=3)
    design = Design(rotation=Rotation(table, "halves", "here"))
    turn = of_tokens("halves", first=3)
    late = share(of_tokens("halves", first=4), turn)
    found = evidence_of(Attention(WIDE, **late))
    assert explained(replace(found, designs=(design, Design()))) == exactly(
        "queries are rotated by one position more than keys"
    )


def test_weights_that_are_all_equal_are_not_called_a_scale_of_zero() -> None:
    assert "multiplied" not in said(score=lambda m, q, k: 0 * score(m, q, k))


# Multiples


def test_the_equation_times_a_number_is_told_with_the_number() -> None:
    twice = said(call=lambda m, run, x: 0.7 * run(x))
    assert twice == "It is exactly 0.7 times what the equation gives."
    inside = said(softmax=lambda m, s: 0.7 * s.softmax(-1))
    assert inside == exactly("what the heads found is multiplied by 0.7")


# Rounding


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("where", ["softmax", "score"])
def test_what_is_computed_in_16_bits_is_rounded(dtype: torch.dtype, where: str) -> None:
    steps: dict[str, Any] = {
        "softmax": lambda m, s: s.to(dtype).softmax(-1).to(s.dtype),
        "score": lambda m, q, k: score(m, q.to(dtype), k.to(dtype)).to(q.dtype),
    }
    found = explain(
        evidence_of(Attention(SIZES["five heads"], **{where: steps[where]}))
    )
    assert found is not None
    assert found.section is book.HALF_PRECISION
    assert found.sentence.startswith("It is the equation, rounded: it is off by ")
    assert found.sentence.endswith("Something inside is computed in 16 bits.")


# Intents


def test_a_mistake_may_hide_that_the_future_was_to_be_hidden() -> None:
    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        s = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~past(q.shape[2]), -5.0)
        return s.softmax(-1) @ v

    evidence = evidence_of(attend)
    assert not evidence.causal
    assert evidence.future.origin == "measured"
    fill = "hidden scores are set to -5, and not to minus infinity"
    assert explained(evidence) == exactly(f"{fill}, if the future is hidden")
    told = replace(evidence, future=Fact("seen", "declared"))
    assert explained(told) == ""


# Several at once


def test_two_mistakes_that_cannot_be_told_apart_are_both_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    again = [
        KnownMistake("too-large", "they are too large", book.SCALE, {"factor": 3**0.5}),
        KnownMistake("root-lost", "the root is lost", book.SCALE, {"scale": "1"}),
    ]
    monkeypatch.setattr(search, "KNOWN_MISTAKES", [*search.KNOWN_MISTAKES, *again])
    assert said(score=unscaled) == exactly(
        "scores are not scaled, or when they are too large"
    )


def test_the_search_ends_after_a_number_of_tries(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps = {"score": unscaled, "hide": lambda m, s, mask: s.tril()}
    found = evidence_of(Attention(SIZES["five heads"], **steps))
    assert " and when " in explained(found)
    monkeypatch.setattr(search, "_MOST_PAIRS", 3)
    assert explained(found) == ""


def test_a_norm_of_a_fixed_width_is_not_taken_over_all_heads() -> None:
    norm = torch.nn.LayerNorm(WIDE.width).double()
    design = Design(query_norm=norm, key_norm=norm, norm_of="head")
    found = evidence_of(Attention(WIDE, call=lambda m, run, x: run(x) + 1))
    assert explained(replace(found, designs=(design,))) == ""


def test_more_angles_than_pairs_do_not_fit() -> None:
    design = Design(rotation=Rotation(angles(40, 4), "halves", "here"))
    found = evidence_of(Attention(WIDE))
    assert match(replace(found, designs=(design,))).difference == math.inf


def test_no_base_can_be_known_of_one_pair_or_of_odd_speeds() -> None:
    assert base_of(Rotation(angles(9, 1), "pairs", "here")) is None
    odd = torch.arange(9)[:, None] * torch.tensor([1.0, 0.3, 0.2])
    rotation = Rotation(odd, "pairs", "here")
    assert base_of(rotation) is None
    with pytest.raises(RuntimeError, match="no base"):
        rotate(torch.zeros(1, 1, 9, 12), rotation, Recipe(turned="all heads"), "q")
    found = base_of(Rotation(angles(9), "pairs", "here"))
    assert found == pytest.approx(BASE)


@pytest.mark.parametrize("kept", [True, False])
def test_another_number_of_heads_is_found(kept: bool) -> None:
    """The scale may be that of the heads that were meant, or of those that are."""
    sizes = Sizes(17, 3, 10, 19, 23)

    def split(m: Any, part: Tensor) -> Tensor:
        return part.unflatten(-1, (-1, 6)).transpose(1, 2)

    def score(m: Any, q: Tensor, k: Tensor) -> Tensor:
        return q @ k.mT / (m.width if kept else q.shape[-1]) ** 0.5

    module = Attention(sizes, split=split, score=score, repeat=lambda m, part: part)
    evidence = evidence_of(module, num_heads=10)
    assert explained(evidence) == (
        "It is exactly what comes out when tokens are split into 5 heads of 6 numbers, "
        "and not into 10 of 3."
    )
