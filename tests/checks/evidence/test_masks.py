"""The masks that code takes are found by trying them."""

import pytest
import torch

from checks.support.asking import evidence_of
from checks.support.right import MASKED
from headway.checks.evidence.masks import Mask, example_table
from mistakes import GIVEN, build
from sizes import B, T
from stepwise import SMALL, Attention, PairMasked


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
        "the mask hides rows": "shows what no meaning of True explains",
    }.items():
        module = build("five heads", GIVEN[name]._replace(kind=PairMasked))
        masks = evidence_of(module).masks
        assert masks.obeyed == []
        assert masks.disobeyed == {"mask": effect}
