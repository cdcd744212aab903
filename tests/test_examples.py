"""The worked inputs are those that the sources print."""

import torch

from headway import nine_words, quick_brown_fox, six_by_rows, six_tokens


def test_six_tokens_are_the_figures_of_the_sources() -> None:
    words, vectors = six_tokens()
    assert " ".join(words) == "Your journey starts with one step"
    assert vectors.dtype == torch.float32
    assert (
        vectors.tolist()
        == torch.tensor(
            [
                [0.43, 0.15, 0.89],
                [0.55, 0.87, 0.66],
                [0.57, 0.85, 0.64],
                [0.22, 0.58, 0.33],
                [0.77, 0.25, 0.10],
                [0.05, 0.80, 0.55],
            ]
        ).tolist()
    )


def test_nine_words_are_figure_b14() -> None:
    words, vectors = nine_words()
    assert " ".join(words) == "Boy is crying because he wants an ice cream"
    assert torch.equal(vectors[:6], six_tokens().vectors)
    assert torch.equal(
        vectors[6:],
        torch.tensor([[0.02, 0.30, 0.47], [0.47, 0.67, 0.64], [0.77, 0.33, 0.70]]),
    )


def test_six_by_rows_joins_neighbours() -> None:
    words, vectors = six_by_rows()
    tokens = six_tokens()
    for row, (left, right) in enumerate([(0, 1), (2, 3), (4, 5)]):
        assert words[row] == f"{tokens.words[left]} {tokens.words[right]}"
        pair = torch.cat([tokens.vectors[left], tokens.vectors[right]])
        assert torch.equal(vectors[row], pair)


def test_the_fox_needs_nine_different_words() -> None:
    assert quick_brown_fox() == "The quick brown fox jumps over a lazy dog"
    assert len(set(quick_brown_fox().split())) == 9


def test_every_call_gives_numbers_of_its_own() -> None:
    for example in (six_tokens, nine_words, six_by_rows):
        before = example().vectors.clone()
        example().vectors.zero_()
        assert torch.equal(example().vectors, before)
