"""Attention without trainable weights: a word is mixed from those it resembles."""

from jaxtyping import Float
from torch import Tensor

from headway import _require


def similarity_scores(
    query: Float[Tensor, "*T d_in"], inputs: Float[Tensor, "S d_in"]
) -> Float[Tensor, "*T S"]:
    r"""Score each input by its dot product with the query.

    $$\omega_{ts} = q_t \cdot x_s$$

    A score is not a probability: it may be negative or above one, and scores need not
    sum to one.

    Args:
        query: One query, or one a row.
        inputs: The vectors to compare with.

    Returns:
        One score for each input; one row of them for each query.

    Raises:
        ValueError: If a tensor does not hold floating-point numbers, `inputs` has not
            two axes, or widths differ.

    Examples:
        >>> import torch
        >>> similarity_scores(torch.tensor([1.0, 2.0]), torch.eye(2))
        tensor([1., 2.])
    """
    _require.floating(query=query, inputs=inputs)
    if inputs.ndim != 2:
        raise ValueError(
            "inputs must have shape (words, width); "
            f"got inputs.shape={tuple(inputs.shape)}."
        )
    if query.shape[-1:] != inputs.shape[-1:]:
        raise ValueError(
            "query must have the width of inputs; "
            f"got query.shape={tuple(query.shape)}, inputs.shape={tuple(inputs.shape)}."
        )
    return query @ inputs.T


def naive_softmax(scores: Float[Tensor, "*T S"]) -> Float[Tensor, "*T S"]:
    r"""Turn scores into weights by the formula as it is written.

    $$\alpha_{ts} = \frac{e^{\omega_{ts}}}{\sum_{r} e^{\omega_{tr}}}$$

    In 32-bit numbers $e^{89}$ is already infinite, and infinity divided by infinity is
    not a number. Where all scores are very negative every exponential is zero, and zero
    divided by zero is not a number either. `stable_softmax` is the same function
    without these ends.

    Args:
        scores: One row for each query.

    Returns:
        Shares that are not negative and sum to one in each row, or `nan`.

    Raises:
        ValueError: If `scores` do not hold floating-point numbers.

    Examples:
        >>> import torch
        >>> naive_softmax(torch.tensor([0.0, 0.0]))
        tensor([0.5000, 0.5000])
        >>> naive_softmax(torch.tensor([0.0, 89.0]))
        tensor([0., nan])
    """
    _require.floating(scores=scores)
    exponentials = scores.exp()
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


def stable_softmax(scores: Float[Tensor, "*T S"]) -> Float[Tensor, "*T S"]:
    r"""Turn scores into weights, after subtracting the largest score.

    $$\alpha_{ts} = \frac{e^{\omega_{ts} - m_t}}{\sum_{r} e^{\omega_{tr} - m_t}},
    \qquad m_t = \max_r \omega_{tr}$$

    Adding one amount to all scores changes no share, so this is the same function; no
    exponent is above zero, so nothing overflows. `torch.softmax` does the same.

    Args:
        scores: One row for each query, each with at least one score.

    Returns:
        Shares that are not negative and sum to one in each row.

    Raises:
        ValueError: If `scores` do not hold floating-point numbers.

    Examples:
        >>> import torch
        >>> stable_softmax(torch.tensor([1000.0, 1000.0]))
        tensor([0.5000, 0.5000])
    """
    _require.floating(scores=scores)
    return naive_softmax(scores - scores.amax(dim=-1, keepdim=True))


def context_vectors(
    query: Float[Tensor, "*T d_in"], inputs: Float[Tensor, "S d_in"]
) -> Float[Tensor, "*T d_in"]:
    r"""Mix the inputs, with larger weights for those that score higher.

    $$z_t = \sum_s \alpha_{ts}\, x_s$$

    The result lies between the inputs: up to rounding, no component is larger than the
    largest input's or smaller than the smallest. Nothing is trained: the inputs alone
    decide, by their directions and their lengths.

    Args:
        query: One query, or one a row; `context_vectors(inputs, inputs)` gives the
            context vector of each word.
        inputs: The vectors that are compared and mixed.

    Returns:
        One context vector for each query.

    Raises:
        ValueError: If a tensor does not hold floating-point numbers, `inputs` has not
            two axes, or widths differ.

    Examples:
        >>> import torch
        >>> context_vectors(torch.zeros(2), torch.tensor([[2.0, 4.0], [4.0, 8.0]]))
        tensor([3., 6.])
    """
    return stable_softmax(similarity_scores(query, inputs)) @ inputs
