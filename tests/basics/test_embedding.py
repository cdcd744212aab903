"""Words become indices and come back; indices become rows of a table."""

import pytest
import torch
from torch import nn

from headway import Vocabulary, embed, quick_brown_fox
from tests.support.sizes import D_IN, B, T, draw


def test_figure_c01_the_vocabulary() -> None:
    assert list(Vocabulary(quick_brown_fox()).index_of.items()) == [
        ("The", 0),
        ("a", 1),
        ("brown", 2),
        ("dog", 3),
        ("fox", 4),
        ("jumps", 5),
        ("lazy", 6),
        ("over", 7),
        ("quick", 8),
    ]


def test_figure_c02_the_sentence_as_indices() -> None:
    indices = Vocabulary(quick_brown_fox()).encode(quick_brown_fox())
    assert indices.tolist() == [0, 8, 2, 4, 5, 7, 1, 6, 3]
    assert indices.dtype == torch.long


def test_a_word_that_occurs_twice_is_one_word() -> None:
    vocabulary = Vocabulary("to be\tor\n\nnot  to be")
    assert len(vocabulary) == 4
    assert vocabulary.encode("to be to").tolist() == [3, 0, 3]


def test_decode_is_the_inverse_of_encode() -> None:
    vocabulary = Vocabulary(quick_brown_fox())
    text = "a lazy dog jumps over a quick fox"
    assert vocabulary.decode(vocabulary.encode(text)) == text
    assert vocabulary.decode([3, 1]) == "dog a"
    assert vocabulary.decode(index for index in (1, 3)) == "a dog"


def test_an_empty_text_has_no_indices() -> None:
    vocabulary = Vocabulary("dog")
    assert vocabulary.encode("").shape == (0,)
    assert vocabulary.encode("").dtype == torch.long
    assert vocabulary.decode([]) == ""


@pytest.mark.parametrize("leading", [(), (B,), (B, 5)], ids=str)
def test_embed_is_a_one_hot_product(leading: tuple[int, ...]) -> None:
    table = nn.Embedding.from_pretrained(draw(23, D_IN))
    indices = torch.randint(0, 23, (*leading, T))
    one_hot = nn.functional.one_hot(indices, 23).double()
    assert torch.equal(embed(indices, table), one_hot @ table.weight)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64], ids=str)
def test_embed_gives_equal_rows_to_equal_indices(dtype: torch.dtype) -> None:
    table = nn.Embedding(5, D_IN)
    rows = embed(torch.tensor([4, 0, 4], dtype=dtype), table)
    assert torch.equal(rows[0], rows[2])
    assert torch.equal(rows[1], table.weight[0])


def test_embed_sends_the_gradient_to_the_rows_it_used() -> None:
    table = nn.Embedding(5, 3)
    embed(torch.tensor([1, 4, 1]), table).sum().backward()
    assert table.weight.grad is not None
    assert table.weight.grad.sum(dim=-1).tolist() == [0.0, 6.0, 0.0, 0.0, 3.0]
