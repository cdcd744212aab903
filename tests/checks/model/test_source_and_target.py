"""A model that reads one text and writes another is given both."""

import pytest
import torch

from headway.checks.model.discover_model import discover_model
from headway.checks.model.model_subject import ModelOptions
from headway.checks.model.source_and_target import (
    calls_with_a_source,
    hides_the_future,
    takes_a_source,
)
from tests.checks.model.asking import ask
from tests.checks.model.building import build
from tests.checks.model.translators import (
    Beside,
    BesideHides,
    Hides,
    HidesByItself,
    Keeps,
    KeepsForHeads,
    MasksBetween,
    OfSizes,
    OfTokens,
    Shows,
    TimeFirst,
    Translator,
)

N = "ids.shape[1], ids.shape[1]"
FOUR = "m(ids.new_full((len(ids), 4), 3), ids"


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (
            Keeps,
            f"{FOUR}, src_mask=None, trg_mask=torch.ones(1, {N}).tril().bool())",
        ),
        (
            KeepsForHeads,
            f"{FOUR}, look_ahead_mask=torch.ones(1, 1, {N}).tril().bool())",
        ),
        (
            MasksBetween,
            "m(ids.new_full((len(ids), 4), 3), trg_seq=ids, "
            "src_mask=torch.ones(len(ids), 1, 4).bool(), "
            f"trg_mask=torch.ones(1, {N}).tril().bool())",
        ),
        (Hides, f"{FOUR}, tgt_mask=torch.ones({N}).triu(1).bool())"),
        (HidesByItself, f"{FOUR})"),
        (
            TimeFirst,
            "m(ids.mT.new_full((4, ids.mT.shape[1]), 3), ids.mT, "
            "tgt_mask=torch.ones(len(ids.mT), len(ids.mT)).triu(1).bool())",
        ),
    ],
)
def test_a_source_and_a_mask_that_hides_the_future_are_given(
    kind: type[Translator], words: str
) -> None:
    model = build(kind)
    subject = discover_model(model, ModelOptions())
    assert subject.call.text == words
    assert subject.vocab_size == 37
    assert ask("leak", model).verdict == "passed"
    # What the report shows is what is done.
    ids = subject.ids()
    shown = eval(words, {"m": subject.target, "ids": ids, "torch": torch})  # noqa: S307
    logits = shown.transpose(0, 1) if kind is TimeFirst else shown
    torch.testing.assert_close(logits, subject(ids))


def test_what_no_mask_hides_is_a_leak() -> None:
    assert ask("leak", build(Shows)).verdict == "failed"


def test_two_texts_are_known_by_the_name_of_the_second() -> None:
    assert not takes_a_source(build(OfTokens))
    assert takes_a_source(build(OfSizes))
    assert [*calls_with_a_source(build(OfSizes))] == []


@pytest.mark.parametrize(
    ("kind", "hides"),
    [
        (BesideHides, True),
        (Hides, True),
        (KeepsForHeads, True),
        (Beside, False),  # its mask is of padding
        (HidesByItself, False),
        (OfSizes, False),
    ],
)
def test_a_mask_of_the_target_may_hide_the_future(
    kind: type[Translator], hides: bool
) -> None:
    assert hides_the_future(build(kind)) is hides
