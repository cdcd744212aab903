"""Padding on both sides, and texts in one row."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.checks.model import behind_padding, models
from tests.checks.model.asking import ask
from tests.checks.model.building import build
from tests.checks.model.translators import Padded, PaddedByItself


def padded(joined: Callable[..., Tensor], kind: type[nn.Module] = models.Padded) -> Any:
    return build(type("Joined", (kind,), {"joined": joined}))


@pytest.mark.parametrize(
    ("joined", "says"),
    [
        (lambda m, mask, real: mask, "it changes nothing"),
        (
            lambda m, mask, real: real[:, None, None].expand(-1, 1, *mask.shape),
            "a mask that hides nothing changes the logits",
        ),
        (
            lambda m, mask, real: (mask & real.roll(1, 1)[:, None])[:, None],
            "logits move with the tokens that it hides",
        ),
    ],
)
def test_a_mask_that_does_not_hide(joined: Callable[..., Tensor], says: str) -> None:
    outcome = ask("padding-left", padded(joined))
    assert outcome.verdict == "failed"
    assert outcome.sentence == f"attention_mask does not hide padding: {says}."


def raises(m: nn.Module, mask: Tensor, real: Tensor) -> Tensor:
    raise RuntimeError("no masks")


def test_a_mask_that_raises_is_not_asked() -> None:
    outcome = ask("padding-left", padded(raises))
    assert outcome.verdict == "not applicable"
    assert "RuntimeError: no masks" in outcome.sentence


class Changing(models.Padded):
    """Something is done to the logits where a mask is given."""

    def forward(
        self, ids: Tensor, attention_mask: Any = None, position_ids: Any = None
    ) -> Tensor:
        logits = super().forward(ids, attention_mask, position_ids)
        return logits if attention_mask is None else self.change(logits, attention_mask)


class Counting(Changing):
    """The number of tokens that are no padding is added."""

    def change(self, logits: Tensor, mask: Tensor) -> Tensor:
        return logits + (mask == 0).sum(-1)[:, None, None]


class Marking(Changing):
    """Logits of padding are nan."""

    def change(self, logits: Tensor, mask: Tensor) -> Tensor:
        return logits.masked_fill(mask[..., None] == 0, torch.nan)


class WithoutPositions(Counting):
    """The same, and positions cannot be told."""

    def forward(self, ids: Tensor, attention_mask: Any = None) -> Tensor:
        return super().forward(ids, attention_mask)


class WithoutPlaces(Counting):
    """The same, and there are no positions."""

    def forward(self, ids: Tensor, attention_mask: Any = None) -> Tensor:
        return super().forward(ids, attention_mask, torch.zeros_like(ids))


class ReadsPadding(models.Padded):
    """It wants True for padding."""

    def joined(self, mask: Tensor, real: Tensor) -> Tensor:
        return super().joined(mask, ~real)


class Poisoned(models.Padded):
    """The least number of 64 bits is infinite in 32, where the softmax is taken."""

    class attention(models.Attention):  # noqa: D106, N801
        def forward(self, x: Tensor, mask: Tensor) -> Tensor:
            q, k, v = self.split(x)
            scores = q @ k.mT / q.shape[-1] ** 0.5
            least = torch.finfo(scores.dtype).min
            weights = (scores + least * ~mask).softmax(-1, dtype=torch.float32)
            rows = weights.to(v.dtype) @ v
            return self.proj(rows.transpose(1, 2).flatten(2))


@pytest.mark.parametrize(
    ("kind", "left", "right", "says"),
    [
        (models.Padded, "passed", "passed", ""),
        (ReadsPadding, "passed", "passed", ""),
        (Counting, "failed", "failed", ""),
        (WithoutPositions, "note", None, "positions count it"),
        (WithoutPlaces, "note", None, "positions have no effect"),
        (Marking, "note", None, ""),
        # What 64 bits alone spoil is asked in 32.
        (Poisoned, "passed", "passed", ""),
    ],
)
def test_padding_moves_nothing(
    kind: type[nn.Module], left: str, right: str | None, says: str
) -> None:
    outcome = ask("padding-left", kind)
    assert outcome.verdict == left
    assert says in outcome.sentence
    assert right is None or ask("padding-right", kind).verdict == right


class InPlaceOfTheTriangle(models.Padded):
    """Where something is padding, tokens that come later are seen."""

    def joined(self, mask: Tensor, real: Tensor) -> Tensor:
        return (mask | ~real.all()) & super().joined(mask | True, real)


def test_a_mask_of_padding_that_takes_the_place_of_the_causal_one() -> None:
    for one in ("padding-right", "padding-left"):
        outcome = ask(one, InPlaceOfTheTriangle)
        assert outcome.verdict == "failed"
        assert outcome.mistakes == ("mask-replaces-causal",)
        assert "the place of the causal mask" in outcome.sentence
        outcome = ask(one, Counting)
        assert outcome.verdict == "failed"
        assert outcome.mistakes == ()
        assert "the place of the causal mask" not in outcome.sentence
    both_sides = ask("padding-right", InPlaceOfTheTriangle, causal=False)
    assert "the place of the causal mask" not in both_sides.sentence


class Documents(models.Padded):
    """Which text a token is of can be told."""

    def forward(
        self, ids: Tensor, document_ids: Any = None, position_ids: Any = None
    ) -> Tensor:
        self.which = document_ids
        real = None if document_ids is None else torch.ones_like(ids)
        return super().forward(ids, real, position_ids)

    def joined(self, mask: Tensor, real: Tensor) -> Tensor:
        same = self.which[:, None, :] == self.which[..., None]
        return (mask & same)[:, None]


class Ends(Documents):
    """The same, by where texts end."""

    def forward(
        self, ids: Tensor, cu_seqlens: Any = None, position_ids: Any = None
    ) -> Tensor:
        if cu_seqlens is None:
            return super().forward(ids, None, position_ids)
        places = torch.arange(ids.shape[1])
        which = torch.bucketize(places, cu_seqlens[1:], right=True)[None]
        return super().forward(ids, which, position_ids)


class Open(Documents):
    """The second text sees the first."""

    def joined(self, mask: Tensor, real: Tensor) -> Tensor:
        return mask


class CountsOn(Documents):
    """The texts are kept apart, and positions count on."""

    def forward(self, ids: Tensor, document_ids: Any = None) -> Tensor:
        return super().forward(ids, document_ids)


class CannotPack(Documents):
    """A number for each text is refused."""

    def joined(self, mask: Tensor, real: Tensor) -> Tensor:
        raise RuntimeError("one text only")


@pytest.mark.parametrize(
    ("kind", "verdict", "says"),
    [
        (Documents, "passed", "With document_ids"),
        (Ends, "passed", "With cu_seqlens"),
        (Open, "failed", "see each other and give other logits than alone"),
        (CountsOn, "failed", "do not see each other, but give other"),
        (CannotPack, "not applicable", "RuntimeError: one text only"),
        (models.Padded, "not applicable", "position_ids that begin anew"),
        (models.Plain, "not applicable", "It takes nothing that tells"),
    ],
)
def test_texts_in_one_row(kind: type[nn.Module], verdict: str, says: str) -> None:
    outcome = ask("packing", kind)
    assert outcome.verdict == verdict
    assert says in outcome.sentence


class Narrow(models.Padded):
    """It takes no more than 32 bits."""

    def forward(self, *given: Any, **named: Any) -> Tensor:
        if self.head.weight.dtype == torch.float64:
            raise RuntimeError("expected float")
        return super().forward(*given, **named)


def test_padding_in_32_bits() -> None:
    told = {"call": "m(ids, mask, positions)"}
    assert ask("padding-left", Narrow, **told).verdict == "passed"


class DocumentsBehind(behind_padding.Padded):
    """Which text a token is of can be told; positions begin behind that of padding."""

    def forward(
        self, ids: Tensor, document_ids: Any = None, position_ids: Any = None
    ) -> Tensor:
        self.which = document_ids
        real = None if document_ids is None else torch.ones_like(ids)
        return super().forward(ids, real, position_ids)

    def joined(self, mask: Tensor, real: Tensor) -> Tensor:
        same = self.which[:, None, :] == self.which[..., None]
        return (mask & same)[:, None]


def test_positions_that_are_told_begin_behind_that_of_padding() -> None:
    assert ask("padding-left", behind_padding.Padded).verdict == "passed"
    assert ask("packing", DocumentsBehind).verdict == "passed"


class CountsFromZero(models.Padded):
    """A table has a place of padding, and positions do not begin behind it."""

    def __init__(self) -> None:
        super().__init__()
        self.add_module("places", behind_padding.Behind())


def test_positions_begin_at_zero_where_no_code_reads_a_place_of_padding() -> None:
    assert ask("padding-left", CountsFromZero).verdict == "passed"


class EncoderSees(Padded):
    encoder_sees = True


class NobodyHides(Padded):
    encoder_sees = decoder_sees = True


class Forgets(PaddedByItself):
    hides = False


@pytest.mark.parametrize(
    ("kind", "verdict", "words", "mistakes"),
    [
        (Padded, "passed", "Padding behind a text, or behind its source, moves", ()),
        (EncoderSees, "failed", "With src_mask, logits still move with padding", ()),
        (NobodyHides, "failed", "src_mask changes nothing: padding", ("mask-ignored",)),
        (PaddedByItself, "passed", "Padding behind a text moves none", ()),
        (Forgets, "failed", "Padding of the source, src_pad_idx=1, moves logits", ()),
    ],
)
def test_padding_of_the_source_is_asked_too(
    kind: type[nn.Module], verdict: str, words: str, mistakes: tuple[str, ...]
) -> None:
    outcome = ask("padding-right", kind)
    assert (outcome.verdict, outcome.mistakes) == (verdict, mistakes)
    assert outcome.sentence.startswith(words)
