"""The masks that code takes are found by trying them."""

from typing import Any

import pytest
import torch
from torch import Tensor

from headway.checks.attention.evidence.masks import Mask, example_table
from tests.checks.support.asking import evidence_of, expect, rows_of, said
from tests.checks.support.callers import WIDTH, Attend
from tests.checks.support.right import MASKED, Both
from tests.support.attention_in_steps import (
    SIZES,
    SMALL,
    Attention,
    KeyMasked,
    PairMasked,
    allowed,
    hide,
    past,
)
from tests.support.mistakes import CALLER_MASKS, build
from tests.support.mistakes.mistake import FULLY_MASKED, OBEYED, PADDING
from tests.support.sizes import B, T


@pytest.mark.parametrize(
    ("shape", "size"),
    [
        ("(T, S)", (T, T)),
        ("(B, T, S)", (B, T, T)),
        ("(B, 1, T, S)", (B, 1, T, T)),
        ("(B, S)", (B, T)),
        ("(B, 1, S)", (B, 1, T)),
        ("(B, 1, 1, S)", (B, 1, 1, T)),
    ],
)
def test_a_mask_has_the_axes_that_it_names(shape: str, size: tuple[int, ...]) -> None:
    mask = Mask("mask", shape, "bool")
    made = mask(example_table(mask, B, T), torch.float64)
    assert made.keys() == {"mask"}
    assert made["mask"].shape == size
    assert mask.hides_keys is ("T" not in shape)
    assert mask.varies is shape.startswith("(B")


def test_a_mask_may_be_of_numbers_and_mean_either() -> None:
    keep = torch.tensor([[[True, False], [True, True]]])
    kept = Mask("m", "(T, S)", "int")(keep, torch.float64)["m"]
    assert kept.tolist() == [[1, 0], [1, 1]]
    hidden = Mask("m", "(T, S)", "bool", "True is hidden")(keep, torch.float64)["m"]
    assert hidden.tolist() == [[False, True], [False, False]]
    lowest = torch.finfo(torch.float32).min
    added = Mask("m", "(T, S)", "float", "added to the scores")
    assert added(keep, torch.float32)["m"].tolist() == [[0, lowest], [0, 0]]


@pytest.mark.parametrize("shape", ["(T, S)", "(B, S)"])
def test_an_example_looks_like_no_other_mask(shape: str) -> None:
    table = example_table(Mask("mask", shape, "bool"), B, T)[0]
    assert bool(table.any(dim=1).all())
    assert not bool(table.all())
    assert not torch.equal(table, table.mT)
    assert not torch.equal(table, torch.ones(T, T).tril().bool())


def test_what_takes_no_mask_has_none() -> None:
    masks = evidence_of(Attention(SMALL)).masks
    assert masks.arguments == ()
    assert masks.obeyed == []
    assert masks.disobeyed == {}


def test_two_masks_are_found_each_by_what_it_hides() -> None:
    masks = evidence_of(MASKED["both"](SMALL)).masks
    assert masks.arguments == ("attn_mask", "key_padding_mask")
    assert masks.obeyed == [
        Mask("attn_mask", "(T, S)", "bool"),
        Mask("key_padding_mask", "(B, S)", "bool", "True is hidden"),
    ]
    assert masks.of_texts == Mask("attn_mask", "(B, T, S)", "bool")


def test_what_is_not_obeyed_says_what_it_does() -> None:
    for name, effect in {
        "the mask is ignored": "nothing",
        "the mask hides rows": "transposed",
        "the mask or the past": "either",
        "the mask is multiplied": "near zero",
        "the mask is applied after the softmax": "after the softmax",
    }.items():
        module = build("five heads", CALLER_MASKS[name]._replace(kind=PairMasked))
        masks = evidence_of(module).masks
        assert masks.obeyed == []
        assert masks.disobeyed == {"mask": effect}


@pytest.mark.parametrize("kind", [PairMasked, KeyMasked])
def test_weights_are_hidden_too_late_beside_a_residual(kind: Any) -> None:
    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        rows = run(x)
        return rows + x[..., : rows.shape[-1]]

    wrong = CALLER_MASKS["the mask is applied after the softmax"]
    module = kind(SMALL, causal=False, **{**wrong.options, **wrong.steps, "call": call})
    assert [*evidence_of(module).masks.disobeyed.values()] == ["after the softmax"]


def test_a_mask_of_keys_may_not_show_the_future() -> None:
    class Wrong(KeyMasked):
        def forward(self, x: Tensor, padding_mask: Tensor | None = None) -> Any:
            self.causal = padding_mask is None
            return super().forward(x, padding_mask)

    masks = evidence_of(Wrong(SMALL), causal=True).masks
    assert masks.disobeyed == {"padding_mask": "the future"}


def test_two_masks_are_obeyed_at_once() -> None:
    class Wrong(Both):
        def forward(
            self,
            x: Tensor,
            attn_mask: Tensor | None = None,
            key_padding_mask: Tensor | None = None,
        ) -> Any:
            if attn_mask is not None:
                key_padding_mask = None
            return super().forward(x, attn_mask, key_padding_mask)

    assert said(Wrong(SMALL), OBEYED) == (
        "failed",
        "With attn_mask and key_padding_mask at once, one is not obeyed.",
    )


def test_as_many_texts_as_heads_are_no_heads() -> None:
    class Wrong(PairMasked):
        def forward(self, x: Tensor, mask: Tensor | None = None) -> Any:
            if mask is not None and len(x) == self.heads and mask.ndim == 3:
                mask = mask[:1]
            return super().forward(x, mask)

    verdict, sentence = said(Wrong(SIZES["three heads"]), PADDING)
    assert verdict == "failed"
    assert sentence.endswith("With 3 texts, as many as heads, the two are confused.")


def test_a_mask_that_is_kept_may_fit_no_other_batch() -> None:
    class Keeping(KeyMasked):
        kept: Tensor | None = None

        def forward(self, x: Tensor, padding_mask: Tensor | None = None) -> Any:
            self.kept = padding_mask if padding_mask is not None else self.kept
            return super().forward(x, self.kept)

    assert not evidence_of(KeyMasked(SMALL)).masks.kept
    evidence = evidence_of(Keeping(SMALL))
    assert evidence.masks.kept
    assert evidence.subject.copy_each_call
    assert evidence.masks.of_keys == Mask("padding_mask", "(B, S)", "bool")


def test_what_hides_by_accident_is_not_obeyed() -> None:
    def put(m: Any, scores: Tensor, mask: Tensor | None) -> Tensor:
        scores = hide(m, scores, None)
        if mask is None:
            return scores
        return scores + (1 - mask[:, None].to(scores.dtype)) * -10

    masks = evidence_of(KeyMasked(SMALL, hide=put)).masks
    assert masks.obeyed == []
    assert masks.disobeyed == {"padding_mask": "too near"}


def test_a_mask_that_moves_rows_by_rounding_does_nothing() -> None:
    class Wrong(PairMasked):
        def forward(self, x: Tensor, mask: Tensor | None = None) -> Any:
            return super().forward(x) * (1.0 if mask is None else 1 + 1e-9)

    masks = evidence_of(Wrong(SMALL)).masks
    assert masks.obeyed == []
    assert masks.disobeyed == {"mask": "nothing"}


class OfLengths(KeyMasked):
    """It takes how many tokens of each text are real."""

    fill = -torch.inf

    def forward(self, x: Tensor, valid_lens: Tensor | None = None) -> Any:
        keep = None
        if valid_lens is not None:
            keep = torch.arange(x.shape[1]) < valid_lens[:, None]
        return super().forward(x, keep)


def test_lengths_hide_what_comes_after_them() -> None:
    masks = evidence_of(OfLengths(SMALL)).masks
    assert masks.arguments == ("valid_lens",)
    [mask] = masks.obeyed
    assert mask == Mask("valid_lens", "(B,)", "int", "tokens of each text")
    assert mask.of_lengths
    given = mask(example_table(mask, B, T), torch.float64)["valid_lens"]
    assert given.tolist() == [T - 2] * B
    rows = rows_of(OfLengths(SMALL), OBEYED, PADDING, FULLY_MASKED)
    assert [one.verdict for one in rows] == ["passed", "passed", "not applicable"]


def test_lengths_that_are_never_used_are_found() -> None:
    class Forgets(Attention):
        def forward(self, x: Tensor, lengths: Tensor | None = None) -> Any:
            return self.run(x)

    assert said(Forgets(SMALL), OBEYED) == (
        "failed",
        "It takes lengths, and lengths changes nothing.",
    )


def test_lengths_for_something_else_are_not_judged() -> None:
    class Scales(Attention):
        def forward(self, x: Tensor, lengths: Tensor | None = None) -> Any:
            rows = self.run(x)
            return rows if lengths is None else rows * lengths[:, None, None]

    assert said(Scales(SMALL), OBEYED)[0] == "not applicable"


@pytest.mark.parametrize("name", ["cu_seq_lens", "max_lengths", "seq_len", "length"])
def test_sizes_of_all_texts_are_no_lengths(name: str) -> None:
    known: dict[str, Any] = {"Any": Any, "Attention": Attention}
    code = (
        "class Sized(Attention):\n"
        f"    def forward(self, x, {name}=None):\n"
        "        return self.run(x)"
    )
    exec(code, known)  # noqa: S102  # the name of the argument is the case
    assert evidence_of(known["Sized"](SMALL)).masks.arguments == ()


@pytest.mark.parametrize("meaning", ["True may look", "True is hidden"])
def test_a_mask_that_takes_the_place_of_the_causal_one_hides_the_future(
    meaning: Any,
) -> None:
    everything = torch.ones(1, T, T, dtype=torch.bool)
    for instead, seen in ((True, past(T)), (False, everything[0])):
        mask = Mask("m", "(T, S)", "bool", meaning, instead)
        found = mask(everything, torch.float64)["m"]
        assert torch.equal(found if meaning == "True may look" else ~found, seen)


class OfRealPairs(Attention):
    """It takes a mask of real tokens; what is padding sees all tokens alike."""

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Any:
        pairs = None if mask is None else mask[:, None] & mask[:, :, None]
        return self.run(x, pairs)


def test_padding_may_see_whatever_it_likes() -> None:
    module = OfRealPairs(SMALL, causal=False, hide=lowest)
    [mask] = evidence_of(module).masks.obeyed
    assert (str(mask), mask.meaning) == ("mask (B, S)", "True may look")
    for name in (OBEYED, PADDING, FULLY_MASKED):
        assert said(module, name)[0] == "passed"


def lowest(m: Any, scores: Tensor, mask: Tensor | None) -> Tensor:
    return scores.masked_fill(~allowed(m, scores, mask), torch.finfo(scores.dtype).min)


class MaskOfRows(Attend):
    """Masks of pairs are right, and one of keys is laid along the queries."""

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        scores = self.q(x) @ self.k(x).mT
        if mask is not None:
            seen = mask[:, :, None] if mask.ndim == 2 else mask
            scores = scores.masked_fill(~seen.bool(), -1e9)
        return scores.softmax(-1) @ self.v(x)


def test_a_form_of_keys_that_hides_queries_is_told_beside_one_of_pairs() -> None:
    words = "mask hides queries and not keys*"
    expect(MaskOfRows(), OBEYED, "failed", words, d_in=WIDTH)


class MisreadIn64(Attend):
    """Beside numbers of 64 bits a mask is laid over other keys than it is for."""

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        scores = self.q(x) @ self.k(x).mT
        if mask is not None:
            seen = mask[:, None].bool()
            wide = x.dtype == torch.float64
            scores = scores.masked_fill(
                ~(seen.roll(1, -1) | seen if wide else seen), -1e9
            )
        return scores.softmax(-1) @ self.v(x)


def test_what_64_bits_make_of_a_mask_is_asked_in_32() -> None:
    found = evidence_of(MisreadIn64(), d_in=WIDTH).masks
    assert found.disobeyed == {}
    assert found.obeyed[0].dtype == torch.float32


class OfMemory(Attend):
    """A mask by an unusual name hides keys, or makes rows larger."""

    def __init__(self, *, hides: bool) -> None:
        super().__init__()
        self.hides = hides

    def forward(self, x: Tensor, memory_mask: Tensor | None = None) -> Tensor:
        scores = self.q(x) @ self.k(x).mT
        if memory_mask is None:
            return scores.softmax(-1) @ self.v(x)
        if self.hides:
            scores = scores.masked_fill(~memory_mask[:, None].bool(), -1e9)
            return scores.softmax(-1) @ self.v(x)
        return scores.softmax(-1) @ self.v(x) * memory_mask.sum()


def test_a_mask_by_an_unusual_name_counts_if_it_is_obeyed() -> None:
    right, wrong = (
        evidence_of(OfMemory(hides=one), d_in=WIDTH).masks for one in (True, False)
    )
    assert right.arguments == ("memory_mask",)
    assert right.of_keys is not None
    assert (wrong.arguments, wrong.disobeyed) == ((), {})


def named(name: str, hides: str, *, needed: bool = False) -> Attend:
    """Make attention whose argument has this name, and hides as an expression says."""
    code = (
        "class Named(Attend):\n"
        f"    def forward(self, x, {name}{'' if needed else '=None'}):\n"
        "        scores = self.q(x) @ self.k(x).mT\n"
        f"        if {name} is not None:\n"
        f"            scores = scores.masked_fill({hides.format(name)}, -1e9)\n"
        "        return scores.softmax(-1) @ self.v(x)"
    )
    known: dict[str, Any] = {"Attend": Attend, "torch": torch}
    exec(code, known)  # noqa: S102  # the name of the argument is the case
    made: Attend = known["Named"]()
    return made


OF_KEYS = "~{0}[:, None].bool()"
HIDDEN = "{0}[:, None].bool()"
COUNTED = "(torch.arange(x.shape[1]) >= {0}[:, None])[:, None]"
NOTHING = "torch.zeros(1).bool()"


@pytest.mark.parametrize("needed", [False, True])
@pytest.mark.parametrize(
    ("name", "hides", "meaning"),
    [
        ("keep", OF_KEYS, "True may look"),
        ("visible", OF_KEYS, "True may look"),
        ("src_valid", OF_KEYS, "True may look"),
        ("context_pad", HIDDEN, "True is hidden"),
        ("zorp", HIDDEN, "True is hidden"),
        ("nwords", COUNTED, "tokens of each text"),
        ("kv_len", COUNTED, "tokens of each text"),
        ("src_len", COUNTED, "tokens of each text"),
    ],
)
def test_a_mask_by_any_name_is_found_by_what_it_hides(
    name: str, hides: str, meaning: str, needed: bool
) -> None:
    masks = evidence_of(named(name, hides, needed=needed), d_in=WIDTH).masks
    assert masks.arguments == (name,)
    assert masks.meanings == {name: meaning}


@pytest.mark.parametrize("name", ["keep", "padding", "src_valid"])
def test_a_name_that_says_what_is_seen_promises_a_mask(name: str) -> None:
    words = f"It takes {name}, and {name} changes nothing."
    expect(named(name, NOTHING), OBEYED, "failed", words, d_in=WIDTH)


@pytest.mark.parametrize("name", ["zorp", "nwords", "kv_len", "seed", "target"])
def test_a_name_that_says_nothing_promises_none(name: str) -> None:
    masks = evidence_of(named(name, NOTHING), d_in=WIDTH).masks
    assert (masks.arguments, masks.disobeyed, masks.refused) == ((), {}, {})


def test_what_is_added_by_an_unknown_name_may_be_a_bias() -> None:
    class Biased(Attend):
        def forward(self, x: Tensor, table: Tensor | None = None) -> Tensor:
            scores = self.q(x) @ self.k(x).mT
            scores = scores if table is None else scores + table
            return scores.softmax(-1) @ self.v(x)

    assert evidence_of(Biased(), d_in=WIDTH).masks.arguments == ()
