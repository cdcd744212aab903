"""The worked inputs of the five sources, words and vectors together."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor


class Example(NamedTuple):
    """A short text whose words already have vectors.

    Attributes:
        words: One label for each row of `vectors`.
        vectors: One row for each word.
    """

    words: tuple[str, ...]
    vectors: Float[Tensor, "T d_in"]


_SIX_VECTORS = [
    [0.43, 0.15, 0.89],
    [0.55, 0.87, 0.66],
    [0.57, 0.85, 0.64],
    [0.22, 0.58, 0.33],
    [0.77, 0.25, 0.10],
    [0.05, 0.80, 0.55],
]


def six_tokens() -> Example:
    """Return "Your journey starts with one step", three numbers per word.

    Returns:
        Six words and a new tensor of shape (6, 3), the running example of part one.

    Examples:
        >>> words, inputs = six_tokens()
        >>> words[1], inputs[1]
        ('journey', tensor([0.5500, 0.8700, 0.6600]))
    """
    words = ("Your", "journey", "starts", "with", "one", "step")
    return Example(words, torch.tensor(_SIX_VECTORS))


def nine_words() -> Example:
    """Return "Boy is crying because he wants an ice cream", three numbers per word.

    Returns:
        Nine words and a new tensor of shape (9, 3). The first six rows are those of
        `six_tokens`, under other words.

    Examples:
        >>> words, inputs = nine_words()
        >>> inputs[words.index("he")]
        tensor([0.7700, 0.2500, 0.1000])
    """
    words = ("Boy", "is", "crying", "because", "he", "wants", "an", "ice", "cream")
    more = [[0.02, 0.30, 0.47], [0.47, 0.67, 0.64], [0.77, 0.33, 0.70]]
    return Example(words, torch.tensor(_SIX_VECTORS + more))


def six_by_rows() -> Example:
    """Return the six tokens joined in pairs, as three rows of six numbers.

    Returns:
        Three pairs of words and a new tensor of shape (3, 6), wide enough for two heads
        of three numbers each.

    Examples:
        >>> words, inputs = six_by_rows()
        >>> words[0], inputs[0]
        ('Your journey', tensor([0.4300, 0.1500, 0.8900, 0.5500, 0.8700, 0.6600]))
    """
    words = ("Your journey", "starts with", "one step")
    return Example(words, torch.tensor(_SIX_VECTORS).reshape(3, 6))


def he_finds_boy() -> tuple[Example, Float[Tensor, "d_in D"], Float[Tensor, "d_in D"]]:
    """Return the words of `nine_words` with features and matrices easy to read.

    The three features are noun, pronoun, living. A pronoun asks for a noun and for
    something that lives, four times each; no other word asks for anything. A word is
    found by the features noun and living.

    Returns:
        Nine words with new vectors of shape (9, 3), zeros and ones; a new `W_query` and
        a new `W_key`, both of shape (3, 2).

    Examples:
        >>> from headway import attention_weights
        >>> (words, x), W_query, W_key = he_finds_boy()
        >>> weights = attention_weights(x @ W_query, x @ W_key)
        >>> weights[words.index("he"), words.index("Boy")]
        tensor(0.8778)
    """
    words = nine_words().words
    features = {  # noun, pronoun, living
        "Boy": [1.0, 0.0, 1.0],
        "he": [0.0, 1.0, 0.0],
        "ice": [1.0, 0.0, 0.0],
        "cream": [1.0, 0.0, 0.0],
    }
    vectors = [features.get(word, [0.0, 0.0, 0.0]) for word in words]
    W_query = torch.tensor([[0.0, 0.0], [4.0, 4.0], [0.0, 0.0]])
    W_key = torch.tensor([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    return Example(words, torch.tensor(vectors)), W_query, W_key


def quick_brown_fox() -> str:
    """Return a sentence of nine different words, without vectors.

    Returns:
        The sentence from which the first chapter makes a vocabulary.

    Examples:
        >>> quick_brown_fox()
        'The quick brown fox jumps over a lazy dog'
    """
    return "The quick brown fox jumps over a lazy dog"
