"""From weights to context vectors

Write `context(weights, values)`: for each query, the values mixed by its weights.

The values are the vectors that are mixed, V numbers each; in this chapter they are the
words themselves. Weights have shape (..., T, S): row t says how much query t takes of
each of the S values. Values have shape (..., S, V). The result is (..., T, V).
"""

from headway.practice import Exercise, Wrong

# --- your file ---
import torch
from torch import Tensor


def context(weights: Tensor, values: Tensor) -> Tensor:
    """Mix values (..., S, V) by weights (..., T, S), which gives (..., T, V)."""
    # --- write ---
    return weights @ values
    # --- written ---


if __name__ == "__main__":
    from headway import six_tokens

    words, x = six_tokens()
    weights = torch.tensor([[0.1385, 0.2379, 0.2333, 0.1240, 0.1082, 0.1581]])
    print(context(weights, x))
    # tensor([[0.4419, 0.6515, 0.5683]])
# --- end of your file ---


EXERCISE = Exercise(
    answer="context",
    read=(
        "basics/simple_attention/#from-weights-to-a-context-vector",
        "From weights to a context vector",
    ),
    hints=(
        "How many numbers has one row of the result, and where do they come from?",
        "Multiply each value by its weight, and add up the values.",
        "This is a product of two tables. Which axis do both have, and must go?",
    ),
    draw=lambda d: (
        torch_softmax(d.normal(*d.lead, d.T, d.S)),
        d.normal(*d.lead, d.S, d.V),
    ),
    law="If the weights of a row sum to one, its result lies between the values.",
    right=[
        "return (weights[..., None] * values[..., None, :, :]).sum(dim=-2)",
        "return torch.einsum('...ts,...sv->...tv', weights, values)",
    ],
    wrong=[
        Wrong(
            "weights @ values",
            "weights.mT @ values",
            "the weights are transposed: a value gives, where a query must take",
        ),
        Wrong(
            "weights @ values",
            "torch.nn.functional.one_hot(weights.argmax(dim=-1), weights.shape[-1])"
            ".to(values.dtype) @ values",
            "only the value with the largest weight is taken",
        ),
        Wrong(
            "weights @ values",
            "torch.full_like(weights, 1 / weights.shape[-1]) @ values",
            "the plain mean of the values is taken, and no weight counts",
        ),
        Wrong(
            "weights @ values",
            "weights.sum(dim=-1, keepdim=True) * values.sum(dim=-2, keepdim=True)",
            "weights and values are summed before they are multiplied",
        ),
        Wrong(
            "weights @ values",
            "weights @ values / weights.shape[-1]",
            "the sum is "
            "divided by the number of values, although the weights sum to one",
        ),
        Wrong(
            "weights @ values",
            "(weights @ values).mT",
            "the axes of the result are swapped",
        ),
        Wrong(
            "weights @ values",
            "torch.softmax(weights, dim=-1) @ values",
            "the softmax is taken once more, of weights",
        ),
        Wrong(
            "weights @ values",
            "values.mT @ weights",
            "the values are turned and stand on the left",
        ),
        Wrong(
            "weights @ values",
            "values @ weights",
            "weights and values stand in the wrong order",
        ),
        Wrong(
            "weights @ values",
            "weights.permute(*range(weights.ndim)[::-1]) @ values",
            ".T turns all axes around, those of the texts too",
        ),
        Wrong(
            "weights @ values",
            "torch.bmm(weights, values)",
            "torch.bmm takes three axes and no other number; @ takes any",
        ),
        Wrong(
            "weights @ values",
            "values",
            "the values are given as they are, without the weights",
        ),
        Wrong(
            "weights @ values",
            "weights * values",
            "numbers are multiplied in their places, and not row by column",
        ),
        Wrong(
            "weights @ values",
            "torch.einsum('bts,bsv->btv', weights, values)",
            "einsum names each axis, so that more or fewer than these are an error",
            hint="In einsum, three dots stand for any number of axes.",
        ),
        Wrong(
            "return weights @ values",
            "B, T, S = weights.shape\n    return weights @ values",
            "weights is taken to have three axes, and may have more",
            hint="weights.shape[-1] is the last size, however many axes there are.",
        ),
        Wrong(
            "weights @ values",
            "torch.mm(weights, values)",
            "torch.mm takes two tables and no texts before them; @ takes any",
        ),
        Wrong(
            "weights @ values",
            "(weights[:, None] * values).sum(dim=-1)",
            "the new axis of the weights is not the last, so that a weight meets a "
            "single number of each value",
            hint="One weight multiplies all V numbers of a value. Where must the new "
            "axis of the weights stand, and which axis is then added up?",
        ),
        Wrong(
            "weights @ values",
            "(weights[..., None] * values).sum(dim=-2)",
            "the values get no axis of queries, which fits a single text only",
            hint="Weights with a new last axis have shape (..., T, S, 1). Which axis "
            "of size one must the values get, so that they fit?",
        ),
        Wrong(
            "weights @ values",
            "(weights[..., None] * values).sum(dim=-1)",
            "the values get no axis of queries, and the numbers of each value are "
            "added up, where the values must be",
            hint="Weights with a new last axis have shape (..., T, S, 1). Which axis "
            "of size one must the values get, and which axis is then added up?",
        ),
    ],
)


def torch_softmax(scores):  # type: ignore[no-untyped-def]
    return torch.softmax(scores, dim=-1)
