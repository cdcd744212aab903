"""The source of a model that writes another text is read, and its padding is not."""

from typing import Any

import pytest
from torch import Tensor, nn

from headway.checks.model.source_padding import (
    effect_of_mask,
    is_read,
    moved_by_padding,
    source_call,
)
from tests.checks.model import models
from tests.checks.model.asking import evidence
from tests.checks.model.building import build
from tests.checks.model.translators import (
    Beside,
    Counted,
    Hides,
    Padded,
    PaddedByItself,
    PaddedForHeads,
    PaddedTwice,
)


def asked(kind: type[nn.Module], **options: Any) -> tuple[Any, Tensor]:
    found = evidence(build(kind), **options)
    call = source_call(found.subject)
    assert call is not None
    return call, found.ids


@pytest.mark.parametrize(
    ("kind", "masks"),
    [
        (Padded, ("src_mask",)),
        (PaddedForHeads, ("src_mask",)),
        (PaddedTwice, ("src_key_padding_mask", "memory_key_padding_mask")),
        (Beside, ("attention_mask",)),
        (Counted, ("src_lengths",)),
        (Hides, ()),
    ],
)
def test_masks_of_the_source_are_found_by_name(
    kind: type[nn.Module], masks: tuple[str, ...]
) -> None:
    assert asked(kind)[0].masks == masks


def test_a_model_of_one_text_has_no_source() -> None:
    assert source_call(evidence(build(models.Plain)).subject) is None
    told = evidence(build(Padded), call="(m(ids.new_full((len(ids), 4), 3), ids),)")
    assert source_call(told.subject) is None


@pytest.mark.parametrize("kind", [Padded, PaddedForHeads, PaddedTwice, Counted])
def test_a_mask_that_hides_padding_is_obeyed(kind: type[Padded]) -> None:
    class EncoderSees(kind):  # type: ignore[misc, valid-type]
        encoder_sees = True

    class DecoderSees(kind):  # type: ignore[misc, valid-type]
        decoder_sees = True

    class BothSee(EncoderSees, DecoderSees):
        pass

    effects = {
        one: effect_of_mask(*asked(one))
        for one in (kind, EncoderSees, DecoderSees, BothSee)
    }
    assert [*effects.values()] == ["obeyed", "seen", "seen", "nothing"]


def test_a_mask_of_no_known_form_is_not_judged() -> None:
    class Words(Padded):
        def forward(self, src: Tensor, tgt: Tensor, src_mask: Any = None) -> Tensor:
            if src_mask is not None:
                raise TypeError("a mask is a word here")
            return super().forward(src, tgt)

    class Needs(Padded):
        """What hides nothing cannot be told: it must be given a mask."""

        def forward(self, src: Tensor, tgt: Tensor, src_mask: Any) -> Tensor:
            return super().forward(src, tgt, src_mask.bool() | True)

    class Kinds(Padded):
        """Its mask says of which kind each token is, and hides none."""

        def __init__(self) -> None:
            super().__init__()
            self.kinds = nn.Embedding(2, 43)

        def forward(self, src: Tensor, tgt: Tensor, src_mask: Any = None) -> Tensor:
            if src_mask is not None:
                src = (src + self.kinds(src_mask.long()).argmax(-1)) % 43
            return super().forward(src, tgt)

    for kind in (Words, Needs, Kinds):
        assert effect_of_mask(*asked(kind)) is None
    assert effect_of_mask(*asked(Hides)) is None


def test_the_source_is_read() -> None:
    class Writes(Padded):
        reads = False

    class OfFour(Padded):
        """It takes no source of another length."""

        def forward(self, src: Tensor, tgt: Tensor, src_mask: Any = None) -> Tensor:
            assert src.shape[1] == 4, "four tokens are read"
            return super().forward(src, tgt, src_mask)

    assert is_read(*asked(Padded))
    assert is_read(*asked(PaddedForHeads))
    assert not is_read(*asked(Writes))
    assert is_read(*asked(OfFour))


def test_padding_may_be_an_id_of_the_model() -> None:
    class Forgets(PaddedByItself):
        hides = False

    class OfOneLength(Forgets):
        def forward(self, src: Tensor, trg: Tensor) -> Tensor:
            assert src.shape[1] in (4, 7), "of one length"
            return super().forward(src, trg)

    assert moved_by_padding(*asked(PaddedByItself)) == ""
    assert moved_by_padding(*asked(Forgets)) == "src_pad_idx=1"
    assert moved_by_padding(*asked(OfOneLength)) == ""
    assert moved_by_padding(*asked(Padded)) == ""
