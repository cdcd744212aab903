"""Several texts in one row, and the mask that keeps them apart."""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Int, Shaped
from torch import Tensor

from headway import _require


def pack(
    texts: Sequence[Shaped[Tensor, "_ *E"]], length: int | None = None
) -> tuple[Shaped[Tensor, "T *E"], Int[Tensor, "T"]]:
    """Lay texts end to end in one row, and number its tokens by text.

    What is left of the row is padding: zeros, with the number -1.

    Args:
        texts: Texts with at least one token each, as indices or as vectors.
        length: Number of tokens of the row; `None` means as many as the texts have.

    Returns:
        The row, and the number of the text to which each token belongs, from zero.

    Raises:
        ValueError: If there is no text, one is empty, they differ in type or in more
            than their length, or `length` is too small for them.

    Examples:
        >>> row, document_ids = pack([torch.ones(2), torch.ones(3)], length=7)
        >>> row
        tensor([1., 1., 1., 1., 1., 0., 0.])
        >>> document_ids
        tensor([ 0,  0,  1,  1,  1, -1, -1])

    References:
        Krell et al. (2021), [arXiv:2107.02027](https://arxiv.org/abs/2107.02027), who
        also ask which texts to put together.
    """
    _require_texts(texts)
    lengths = [len(text) for text in texts]
    length = sum(lengths) if length is None else length
    if length < sum(lengths):
        raise ValueError(
            f"length must be at least {sum(lengths)}, the tokens of all texts; "
            f"got length={length}."
        )
    padding = texts[0].new_zeros(length - sum(lengths), *texts[0].shape[1:])
    numbers = [-1] * length
    numbers[: sum(lengths)] = [
        number for number, tokens in enumerate(lengths) for _ in range(tokens)
    ]
    row = torch.cat([*texts, padding])
    return row, torch.tensor(numbers, device=row.device)


def document_mask(document_ids: Int[Tensor, "*B T"]) -> Bool[Tensor, "*B T T"]:
    r"""Allow each token the tokens of its own text.

    $$m_{ts} = [\, d_t = d_s \,]\,[\, d_s \ge 0 \,]$$

    Padding, with a negative number, sees nothing and is seen by nobody. The mask does
    not hide the future: combine it with `causal_mask(T)` by `&`, or hand it to a module
    that is causal by itself.

    Args:
        document_ids: The number of the text to which each token belongs.

    Returns:
        A boolean mask, `True` where a query may look at a key.

    Raises:
        ValueError: If `document_ids` are not integers or have no axis.

    Examples:
        >>> document_mask(torch.tensor([0, 1, 1, -1])).int()
        tensor([[1, 0, 0, 0],
                [0, 1, 1, 0],
                [0, 1, 1, 0],
                [0, 0, 0, 0]], dtype=torch.int32)

    References:
        Llama Team (2024), section 3.2,
        [arXiv:2407.21783](https://arxiv.org/abs/2407.21783).
    """
    _require.document_ids(document_ids)
    query, key = document_ids.unsqueeze(-1), document_ids.unsqueeze(-2)
    return (query == key) & (key >= 0)


def unpack(
    row: Shaped[Tensor, "T *E"], document_ids: Int[Tensor, "T"]
) -> list[Shaped[Tensor, "_ *E"]]:
    """Split a row into its texts again; the inverse of `pack`.

    Args:
        row: What `pack` made, or a result with one entry for each token of it.
        document_ids: The number of the text to which each token belongs.

    Returns:
        The texts in the order of their numbers, without the padding.

    Raises:
        ValueError: If `document_ids` are not integers, or not one for each token.

    Examples:
        >>> unpack(torch.tensor([5, 6, 7, 0]), torch.tensor([0, 1, 1, -1]))
        [tensor([5]), tensor([6, 7])]
    """
    _require.document_ids(document_ids)
    _require_one_number_per_token(row, document_ids)
    numbers = document_ids[document_ids >= 0].unique()
    return [row[document_ids == number] for number in numbers]


# ---- What is refused ----


def _require_texts(texts: Sequence[Tensor]) -> None:
    if len(texts) == 0:
        raise ValueError("texts must hold at least one text; got texts=[].")
    first = texts[0]
    for number, text in enumerate(texts):
        if text.ndim == 0 or len(text) == 0:
            raise ValueError(
                "texts must have at least one token each; "
                f"got texts[{number}].shape={_require.shape(text)}."
            )
        if (text.shape[1:], text.dtype) != (first.shape[1:], first.dtype):
            raise ValueError(
                "texts must be alike in all but their length; "
                f"got texts[0] of {_require.shape(first)}, {first.dtype}, "
                f"texts[{number}] of {_require.shape(text)}, {text.dtype}."
            )


def _require_one_number_per_token(row: Tensor, document_ids: Tensor) -> None:
    if document_ids.shape != row.shape[:1]:
        raise ValueError(
            "document_ids must have one number for each token of row; "
            f"got document_ids.shape={_require.shape(document_ids)}, "
            f"row.shape={_require.shape(row)}."
        )
