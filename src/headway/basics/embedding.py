"""Words become vectors: a vocabulary gives each word an index, a table gives a row."""

from collections.abc import Iterable

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from headway import _require


class Vocabulary:
    """Number the different words of a sentence in sorted order.

    Words are what `str.split` gives: upper and lower case differ, and a comma stays
    with its word. Sorting puts capitals before small letters.

    Args:
        sentence: The text whose words are to be known, at least one.

    Attributes:
        index_of: The index of each word, in order.

    Raises:
        ValueError: If `sentence` holds no word.

    Examples:
        >>> vocabulary = Vocabulary("to be or not to be")
        >>> vocabulary.index_of
        {'be': 0, 'not': 1, 'or': 2, 'to': 3}
        >>> vocabulary.encode("not to be")
        tensor([1, 3, 0])
    """

    def __init__(self, sentence: str) -> None:
        words = sorted(set(sentence.split()))
        if not words:
            raise ValueError(
                f"sentence must hold at least one word; got sentence={sentence!r}."
            )
        self.index_of = {word: index for index, word in enumerate(words)}
        self._words = words

    def __len__(self) -> int:  # noqa: DOC201
        """Count the different words."""
        return len(self._words)

    def encode(self, sentence: str) -> Int[Tensor, " T"]:
        """Replace each word by its index.

        Args:
            sentence: A text made of known words; it may be empty.

        Returns:
            One index for each word, in reading order.

        Raises:
            ValueError: If a word is not in the vocabulary.
        """
        return torch.tensor(
            [self._index(word) for word in sentence.split()], dtype=torch.long
        )

    def decode(self, indices: Int[Tensor, " T"] | Iterable[int]) -> str:
        """Replace each index by its word.

        Args:
            indices: Indices of known words.

        Returns:
            The words, with a space between them.

        Raises:
            ValueError: If an index belongs to no word.
        """
        return " ".join(self._word(int(index)) for index in indices)

    def _index(self, word: str) -> int:
        if word not in self.index_of:
            raise ValueError(f"word must be in the vocabulary; got word={word!r}.")
        return self.index_of[word]

    def _word(self, index: int) -> str:
        if not 0 <= index < len(self):
            raise ValueError(f"index must be in [0, {len(self)}); got index={index}.")
        return self._words[index]


def embed(
    indices: Int[Tensor, "*B T"], table: nn.Embedding
) -> Float[Tensor, "*B T d_in"]:
    r"""Look up the row of each index in a table of vectors.

    $$x_t = E_{i_t}$$

    It is the same as the product of a one-hot vector with the table, without the
    product. Equal indices get equal rows, wherever they stand.

    Args:
        indices: One index for each token, as `Vocabulary.encode` gives them.
        table: The table, one row for each word that may occur.

    Returns:
        One vector for each token.

    Raises:
        ValueError: If `indices` are not integers, or one of them has no row.

    Examples:
        >>> table = nn.Embedding.from_pretrained(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        >>> embed(torch.tensor([1, 0, 1]), table)
        tensor([[3., 4.],
                [1., 2.],
                [3., 4.]])
    """
    _require.integers(indices=indices)
    rows = table.num_embeddings
    outside = indices[(indices < 0) | (indices >= rows)]
    if outside.numel():
        raise ValueError(
            f"indices must be in [0, {rows}); got indices with {int(outside[0])}."
        )
    return table(indices)
