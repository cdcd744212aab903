"""The worked inputs are those that the sources print, or that a page explains."""

import math

import torch

from headway import (
    he_finds_boy,
    nine_words,
    quick_brown_fox,
    six_by_rows,
    six_tokens,
)


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


def test_a_pronoun_asks_for_a_noun_that_lives() -> None:
    (words, x), W_query, W_key = he_finds_boy()
    assert words == nine_words().words
    boy, he, ice, cream = (words.index(word) for word in ("Boy", "he", "ice", "cream"))
    assert x.dtype == W_query.dtype == W_key.dtype == torch.float32
    assert x[[boy, he, ice, cream]].tolist() == [[1, 0, 1], [0, 1, 0]] + 2 * [[1, 0, 0]]
    assert x.sum() == 5
    # A pronoun asks for noun and living; noun and living are what a word offers.
    asked = {boy: 8.0, ice: 4.0, cream: 4.0}
    scores = (x @ W_query @ (x @ W_key).T).tolist()
    assert scores[he] == [asked.get(s, 0.0) for s in range(9)]
    assert [row for t, row in enumerate(scores) if t != he] == 8 * [9 * [0.0]]
    # By likeness alone it finds itself and nobody else.
    assert (x @ x[he]).tolist() == [float(s == he) for s in range(9)]
    powers = [math.exp(score / math.sqrt(2)) for score in scores[he]]
    assert f"{powers[boy] / sum(powers):.2f}" == "0.88"


def test_the_fox_needs_nine_different_words() -> None:
    assert quick_brown_fox() == "The quick brown fox jumps over a lazy dog"
    assert len(set(quick_brown_fox().split())) == 9


def test_every_call_gives_numbers_of_its_own() -> None:
    for example in (six_tokens, nine_words, six_by_rows):
        before = example().vectors.clone()
        example().vectors.zero_()
        assert torch.equal(example().vectors, before)
    (_, vectors), W_query, W_key = he_finds_boy()
    for tensor in (vectors, W_query, W_key):
        tensor.zero_()
    (_, vectors), W_query, W_key = he_finds_boy()
    assert [int(one.sum()) for one in (vectors, W_query, W_key)] == [5, 8, 2]
