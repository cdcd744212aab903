"""Masks that a caller passes."""

from inspect import Parameter
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from headway.checks.attention.evidence import Evidence
from headway.checks.attention.evidence.masks import Mask
from headway.checks.attention.found_facts import facts
from headway.checks.attention.properties.caller_mask_causes import in_training
from tests.checks.support.asking import (
    evidence_of,
    expect,
    rows_from,
    rows_of,
    said,
    verdicts,
)
from tests.checks.support.callers import WIDTH, Attend, WithMask
from tests.checks.support.right import MASKED, Adds, HidesPadding
from tests.support.attention_in_steps import (
    SMALL,
    Attention,
    KeyMasked,
    PairMasked,
    hide,
)
from tests.support.mistakes.mistake import FULLY_MASKED, OBEYED, PADDING


def test_padding_upside_down_is_found() -> None:
    class Wrong(KeyMasked):
        def forward(self, x: Tensor, key_padding_mask: Tensor | None = None) -> Any:
            return super().forward(x, key_padding_mask)

    expect(Wrong(SMALL), OBEYED, "failed", "In its key_padding_mask, True may look.*")
    assert said(HidesPadding(SMALL), OBEYED)[0] == "passed"


def test_a_name_that_says_what_is_seen_promises_what_true_means() -> None:
    class Keeps(KeyMasked):
        def forward(self, x: Tensor, valid_mask: Tensor | None = None) -> Any:
            return super().forward(x, valid_mask)

    class Drops(KeyMasked):
        def forward(self, x: Tensor, valid_mask: Tensor | None = None) -> Any:
            return super().forward(x, None if valid_mask is None else ~valid_mask)

    assert said(Keeps(SMALL), OBEYED)[0] == "passed"
    [row] = rows_of(Drops(SMALL), OBEYED)
    assert row.verdict == "failed"
    assert row.sentence.startswith("By its name, valid_mask says what may be seen")
    assert row.mistakes == ("mask-inverted",)


def test_a_mask_that_is_not_understood_is_not_judged() -> None:
    class Odd(Attention):
        def forward(self, x: Tensor, mask: str | None = None) -> Any:
            if mask is not None and mask != "causal":
                raise TypeError("a mask is a word here")
            return super().forward(x)

    assert said(Odd(SMALL), OBEYED) == (
        "not applicable",
        "No form of mask was found that it takes: the first raised TypeError: a mask "
        "is a word here.",
    )


@pytest.mark.parametrize("annotation", [str | None, "Optional[str]", bool])
def test_a_word_is_no_mask_that_is_ignored(annotation: Any) -> None:
    class Told(Attention):
        def forward(self, x: Tensor, mask: Any = None) -> Any:
            assert not isinstance(mask, str)
            return super().forward(x)

    Told.forward.__annotations__["mask"] = annotation
    said_of = annotation if annotation is not bool else "bool"
    assert said(Told(SMALL), OBEYED) == (
        "not applicable",
        f"By its annotation, mask is {said_of}: no tensor.",
    )


@pytest.mark.parametrize(
    "annotation", [Tensor | None, "Tensor | str", Any, Parameter.empty]
)
def test_what_may_be_a_tensor_may_not_be_ignored(annotation: Any) -> None:
    class Wrong(Attention):
        def forward(self, x: Tensor, mask: Any = None) -> Any:
            return super().forward(x)

    Wrong.forward.__annotations__["mask"] = annotation
    words = "It takes mask, and mask changes nothing."
    assert said(Wrong(SMALL), OBEYED) == ("failed", words)


def test_a_word_by_its_annotation_may_not_act_wrongly() -> None:
    class Wrong(PairMasked):
        def forward(self, x: Tensor, mask: "str | None" = None) -> Any:
            return super().forward(x, None if mask is None else mask.mT)

    expect(Wrong(SMALL, causal=False), OBEYED, "failed", "mask is transposed: *")


class Switch(Attention):
    """Whether a mask is there says whether the future is hidden."""

    def __init__(self, **options: Any) -> None:
        super().__init__(SMALL, causal=False, **options)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Any:
        self.causal = mask is not None
        return super().forward(x)


def test_a_mask_may_only_switch_the_one_of_the_future_on() -> None:
    assert said(Switch(), OBEYED) == (
        "note",
        "mask only says that the future is hidden: whatever it holds, a row sees "
        "itself and the past. Hand it no mask of anything else.",
    )


def test_a_flag_may_switch_the_mask_of_the_future_on() -> None:
    class Flag(Switch):
        def forward(self, x: Tensor, mask: "bool | None" = None) -> Any:
            return super().forward(x, mask)  # type: ignore[arg-type]

    words = "By its annotation, mask is bool | None: no tensor."
    expect(Flag(), OBEYED, "not applicable", words)


def test_a_mask_that_is_to_hide_more_may_not_only_switch() -> None:
    """It is declared, or it hides keys by its name."""

    class OfKeys(Switch):
        def forward(self, x: Tensor, key_padding_mask: Tensor | None = None) -> Any:
            return super().forward(x, key_padding_mask)

    words = "Whatever {} holds, a row sees itself and the past: what it hides besides *"
    declared = {"mask": "True may look"}
    expect(Switch(), OBEYED, "failed", words.format("mask"), masks=declared)
    expect(OfKeys(), OBEYED, "failed", words.format("key_padding_mask"))


def test_a_mask_that_does_more_than_hide_the_future_is_no_switch() -> None:
    """The more it holds, the larger are its rows."""

    class Wrong(Switch):
        def forward(self, x: Tensor, mask: Tensor | None = None) -> Any:
            rows = super().forward(x, mask)
            return rows if mask is None else rows * (1 + mask.double().mean())

    expect(Wrong(), OBEYED, "failed", "With mask, a row shows itself and the past.")


def test_a_second_mask_is_asked_beside_a_switch() -> None:
    class Two(Switch):
        def forward(
            self,
            x: Tensor,
            mask: Tensor | None = None,
            key_padding_mask: Tensor | None = None,
        ) -> Any:
            return super().forward(x, mask)

    words = "It takes key_padding_mask, and key_padding_mask changes nothing."
    assert said(Two(), OBEYED) == ("failed", words)


def test_a_mask_that_is_obeyed_stands_beside_a_switch() -> None:
    class Two(KeyMasked):
        def forward(
            self, x: Tensor, padding_mask: Tensor | None = None, mask: Any = None
        ) -> Any:
            self.causal = mask is not None
            return super().forward(x, padding_mask)

    class Changes(Two):
        def forward(
            self, x: Tensor, padding_mask: Tensor | None = None, mask: Any = None
        ) -> Any:
            rows = super().forward(x, padding_mask, mask)
            if padding_mask is not None:
                padding_mask.zero_()
            return rows

    two = Two(SMALL, causal=False)
    expect(two, OBEYED, "note", "mask only says that the future is hidden: *")
    assert said(two, PADDING)[0] == "passed"
    words = "It changes its padding_mask in place."
    expect(Changes(SMALL, causal=False), OBEYED, "failed", words)


def test_a_mask_that_no_form_of_can_work_is_a_mistake() -> None:
    class Wrong(Attention):
        def forward(self, x: Tensor, mask: Tensor | None = None) -> Any:
            if mask is not None:
                return super().forward(x) * maks
            return super().forward(x)

    expect(Wrong(SMALL), OBEYED, "failed", "With mask it raised NameError: *")


def test_numbers_are_tried_before_what_is_added() -> None:
    class OfOnes(KeyMasked):
        """As (1 - mask) * -1e9 is written: a mask to be added works by accident."""

        def forward(self, x: Tensor, attention_mask: Tensor | None = None) -> Any:
            low = 0.0
            if attention_mask is not None:
                low = ((1 - attention_mask) * -1e9)[:, None, None]
            self.steps = self.steps | {
                "hide": lambda m, s, mask: hide(m, s, None) + low
            }
            return self.run(x)

    module = OfOnes(SMALL)
    shown = "attention_mask (B, S), True may look"
    evidence = evidence_of(module)
    assert facts(evidence)["masks"].value == shown
    rows = rows_from(evidence, OBEYED, PADDING)
    assert [one.verdict for one in rows] == ["passed"] * 2


class Instead(PairMasked):
    """A mask that is given takes the place of the causal one."""

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Any:
        def put(m: Any, scores: Tensor, given: Any) -> Tensor:
            if mask is None:
                return hide(m, scores, None)
            given = mask[:, None] if mask.ndim == 3 else mask
            return scores.masked_fill(~given, -torch.inf)

        self.steps = self.steps | {"hide": put}
        return self.run(x)


def test_a_mask_may_take_the_place_of_the_causal_one() -> None:
    obeyed, *others = rows_of(Instead(SMALL), OBEYED, PADDING, FULLY_MASKED)
    assert (obeyed.verdict, obeyed.sentence) == (
        "note",
        "mask (T, S) takes the place of the mask of the future: if you pass one, "
        "hide the future in it as well.",
    )
    assert [one.verdict for one in others] == ["passed"] * 2
    assert said(Instead(SMALL, causal=False), OBEYED)[0] == "passed"


class InSingle(PairMasked):
    """With a mask, it works in 32 bits alone."""

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Any:
        if mask is not None and x.dtype == torch.float64:
            raise RuntimeError("expected scalar type Double but found Float")
        return super().forward(x, mask)


def test_a_mask_of_32_bits_is_asked_in_32_bits() -> None:
    rows = rows_of(InSingle(SMALL), OBEYED, PADDING, FULLY_MASKED)
    assert [row.verdict for row in rows] == ["passed"] * 3


def test_the_mask_of_the_first_call_may_not_be_kept() -> None:
    kept: list[Tensor] = []

    class Wrong(PairMasked):
        def forward(self, x: Tensor, mask: Tensor | None = None) -> Any:
            if mask is not None:
                kept.append(mask if mask.ndim == 2 else mask[0])
                mask = kept[0]
            return super().forward(x, mask)

    words = "With another mask than the first, a row moves*"
    expect(Wrong(SMALL), OBEYED, "failed", words)


def test_large_queries_may_not_see_what_is_hidden() -> None:
    class Wrong(PairMasked):
        def forward(self, x: Tensor, mask: Tensor | None = None) -> Any:
            keep = torch.tensor(True) if mask is None else mask

            def put(m: Any, scores: Tensor, given: Any) -> Tensor:
                return hide(m, scores, None) + ~keep * -60.0

            self.steps = self.steps | {"hide": put}
            return self.run(x)

    words = "With mask, large queries see what it hides*"
    expect(Wrong(SMALL), OBEYED, "failed", words)


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
        "mask changes numbers but hides no token"
    )


def test_each_form_of_a_mask_is_named() -> None:
    shown = {
        name: facts(evidence_of(make(SMALL)))["masks"].value
        for name, make in MASKED.items()
    }
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


def test_nan_may_hide_in_the_gradients_of_a_fully_masked_row() -> None:
    class Wrong(Adds):
        def forward(self, x: Tensor, attn_bias: Tensor | None = None) -> Any:
            plain = 0.0
            if attn_bias is not None:
                plain = attn_bias.masked_fill(attn_bias < -1e9, -torch.inf)
            self.steps = self.steps | {"hide": lambda m, s, mask: s + plain}
            return self.run(x)

    assert said(Wrong(SMALL, causal=False), FULLY_MASKED) == (
        "failed",
        "A fully masked row makes gradients nan.",
    )


def test_fully_masked_rows_are_asked_for_without_gradients_too() -> None:
    class Frozen(PairMasked):
        def forward(self, x: Tensor, mask: Tensor | None = None) -> Any:
            return super().forward(x, mask).detach()

    assert said(Frozen(SMALL), FULLY_MASKED)[0] == "passed"


def test_a_fully_masked_row_may_not_change_others() -> None:
    class Wrong(PairMasked):
        def forward(self, x: Tensor, mask: Tensor | None = None) -> Any:
            hidden = mask is not None and not bool(mask.any(-1).all())
            return super().forward(x, mask) * (1 + hidden)

    assert said(Wrong(SMALL), FULLY_MASKED) == (
        "failed",
        "A fully masked row changes other rows.",
    )


@pytest.mark.parametrize(
    ("wrong", "asked", "sentence"),
    [
        ("first", PADDING, "key_padding_mask of the first text is used for all texts"),
        ("any", PADDING, "what key_padding_mask hides in one text is hidden in all"),
        ("next", PADDING, "a text gets key_padding_mask of another text"),
        ("training", OBEYED, "In training key_padding_mask is left out."),
        ("eval", OBEYED, "key_padding_mask acts only in training"),
    ],
)
def test_whose_mask_a_text_gets_and_when_is_told(
    wrong: str, asked: str, sentence: str
) -> None:
    class Wrong(HidesPadding):
        def forward(self, x: Tensor, key_padding_mask: Tensor | None = None) -> Any:
            hidden = key_padding_mask
            if wrong == ("training" if self.training else "eval"):
                hidden = None
            if hidden is not None and wrong == "first":
                hidden = hidden[:1].expand(len(x), -1)
            if hidden is not None and wrong == "any":
                hidden = hidden.any(dim=0).expand(len(x), -1)
            if hidden is not None and wrong == "next":
                hidden = hidden.roll(1, dims=0)
            return super().forward(x, hidden)

    expect(Wrong(SMALL), asked, "failed", f"*{sentence}*")


def test_masks_are_found_beside_a_call_that_is_told() -> None:
    class Narrow(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.module = nn.MultiheadAttention(12, 2, kdim=7, vdim=7, batch_first=True)

        def forward(
            self, x: Tensor, context: Tensor, key_padding_mask: Tensor | None = None
        ) -> Tensor:
            rows = self.module(x, context, context, key_padding_mask=key_padding_mask)
            return rows[0]

    told = {"call": "m(x, x[..., :7])", "d_in": 12}
    assert verdicts(Narrow(), OBEYED, "other-keys", **told) == ["passed"] * 2
    assert said(Narrow(), OBEYED)[0] == "passed"
    assert said(nn.MultiheadAttention(12, 2, kdim=7, vdim=5), OBEYED)[0] == "passed"


def test_a_mask_of_an_earlier_call_may_not_be_kept() -> None:
    class Keeps(PairMasked):
        def forward(self, x: Tensor, mask: Tensor | None = None) -> Any:
            self.kept = getattr(self, "kept", None) if mask is None else mask
            return super().forward(x, self.kept)

    assert said(Keeps(SMALL), OBEYED) == (
        "failed",
        "A call without a mask gives a different result after calls with one: the mask "
        "of an earlier call is kept.",
    )


class AddsToKeys(KeyMasked):
    def forward(self, x: Tensor, attention_mask: Tensor | None = None) -> Any:
        low: Any = 0.0
        if attention_mask is not None:
            if not attention_mask.is_floating_point():
                raise TypeError("only what can be added")
            low = attention_mask[:, None, None]
        self.steps = self.steps | {"hide": lambda m, s, mask: hide(m, s, None) + low}
        return self.run(x)


def test_a_mask_of_keys_that_is_added_as_it_is_is_noted() -> None:
    assert said(AddsToKeys(SMALL), OBEYED) == (
        "note",
        "attention_mask is added to the scores as it is: ones and zeros, or booleans, "
        "hide nothing. Pass minus infinity where it hides.",
    )


def test_texts_of_one_length_have_no_padding() -> None:
    class OfOneLength(HidesPadding):
        def forward(self, x: Tensor, key_padding_mask: Tensor | None = None) -> Any:
            if x.shape[1] != self.context_length:
                raise ValueError("texts of one length")
            return super().forward(x, key_padding_mask)

    assert said(OfOneLength(SMALL), PADDING) == (
        "not applicable",
        "It takes texts of one length only.",
    )


def test_texts_of_one_token_are_not_asked_for_masks() -> None:
    class OfOneToken(HidesPadding):
        def forward(self, x: Tensor, key_padding_mask: Tensor | None = None) -> Any:
            if x.shape[1] > 1:
                raise ValueError("one token only")
            return super().forward(x, key_padding_mask)

    rows = rows_of(OfOneToken(SMALL), OBEYED, FULLY_MASKED)
    for one in rows:
        assert one.verdict == "not applicable"
        assert one.sentence == "With one token, nothing is left to hide."
    assert len(rows) == 2


def test_a_mask_that_is_another_in_training_is_found() -> None:
    class Wrong(HidesPadding):
        def forward(self, x: Tensor, key_padding_mask: Tensor | None = None) -> Any:
            hidden = key_padding_mask
            if hidden is not None and self.training:
                hidden = hidden.roll(1, dims=1)
            return super().forward(x, hidden)

    assert said(Wrong(SMALL), OBEYED) == (
        "failed",
        "In training key_padding_mask acts differently from eval.",
    )


def test_an_attention_mask_whose_ones_are_hidden_is_noted() -> None:
    class Inverted(KeyMasked):
        def forward(self, x: Tensor, attention_mask: Tensor | None = None) -> Any:
            keep = None if attention_mask is None else ~attention_mask.bool()
            return super().forward(x, keep)

    expect(Inverted(SMALL), OBEYED, "note", "In its attention_mask, ones are hidden.*")


def test_what_training_does_without_a_mask_is_told_elsewhere() -> None:
    class Otherwise(HidesPadding):
        def forward(self, x: Tensor, **masks: Any) -> Any:
            rows = super().forward(x, **masks)
            return 2 * rows if self.training else rows

    assert in_training(*with_its_mask(HidesPadding(SMALL))) is None
    assert in_training(*with_its_mask(Otherwise(SMALL))) is None


def with_its_mask(module: nn.Module) -> tuple[Evidence, Mask]:
    evidence = evidence_of(module)
    mask = evidence.masks.of_keys or Mask("key_padding_mask", "(B, S)", "bool")
    return evidence, mask


def test_a_convolution_may_show_what_a_mask_hides() -> None:
    class Convolved(WithMask):
        def __init__(self) -> None:
            super().__init__()
            self.near = nn.Conv1d(WIDTH, WIDTH, 3, padding=1)

        def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
            return self.near(super().forward(x, mask).mT).mT + self.near(x.mT).mT

    verdict, sentence = said(Convolved(), OBEYED, d_in=WIDTH)
    assert verdict == "failed"
    assert sentence == (
        "What mask hides still counts: something beside attention, such as a "
        "convolution or a pool over tokens, does not get it."
    )


class MeanOfRows(Attend):
    """Padding is hidden from all rows, and its own rows count in their mean."""

    def forward(self, x: Tensor, key_padding_mask: Tensor | None = None) -> Tensor:
        scores = self.q(x) @ self.k(x).mT
        if key_padding_mask is not None:
            scores = scores.masked_fill(key_padding_mask[:, None], -torch.inf)
        return (scores.softmax(-1) @ self.v(x)).mean(1)


def test_padding_that_counts_in_the_one_row_of_a_text_is_found() -> None:
    words = (
        "What key_padding_mask hides still counts in the one row of a text, as where a "
        "mean is taken over all rows, those of padding among them."
    )
    expect(MeanOfRows(), OBEYED, "failed", words, d_in=WIDTH)


class Multiplied(Attend):
    """Its weights are products, which a mask is multiplied with."""

    weigh: Any = staticmethod(torch.clone)

    def forward(self, x: Tensor, attn_mask: Tensor | None = None) -> Tensor:
        scores = self.q(x) @ self.k(x).mT / WIDTH
        if attn_mask is not None:
            scores = scores * (0.5 + attn_mask.double().tril())
        return self.weigh(scores) @ self.v(x)


def test_what_hides_without_a_softmax_is_not_judged() -> None:
    class Weighed(Multiplied):
        weigh = staticmethod(lambda scores: scores.softmax(-1))

    class Squashed(Multiplied):
        weigh = staticmethod(torch.sigmoid)

    words = "It takes no softmax, so what attn_mask hides by is not known."
    expect(Multiplied(), OBEYED, "not applicable", words, d_in=WIDTH)
    words = "What attn_mask hides still counts*"
    for kind in (Weighed, Squashed):
        expect(kind(), OBEYED, "failed", words, d_in=WIDTH)


class OfTwoTexts(Attend):
    """Each text sees the other; a mask of one hides it from the other."""

    def __init__(self, *, both: bool) -> None:
        super().__init__()
        self.both = both
        self.other = nn.Linear(9, WIDTH)
        self.back = nn.Linear(WIDTH, 9)

    def forward(self, x: Tensor, context: Tensor, mask: Tensor | None = None) -> Any:
        y = self.other(context)
        scores = self.q(x) @ self.k(y).mT / WIDTH**0.5
        if mask is not None:
            scores = scores.masked_fill(~mask[:, :, None].bool(), -1e9)
        rows = scores.softmax(-1) @ self.v(y)
        others = self.back(scores.mT.softmax(-1) @ self.v(x))
        return (rows, others) if self.both else rows


def test_queries_that_are_hidden_may_be_keys_of_another_text() -> None:
    words = (
        "It gives rows for two texts, and mask hides queries of this one: it may be*"
    )
    expect(OfTwoTexts(both=True), OBEYED, "not applicable", words, d_in=WIDTH)
    words = "mask hides queries and not keys*"
    expect(OfTwoTexts(both=False), OBEYED, "failed", words, d_in=WIDTH)
