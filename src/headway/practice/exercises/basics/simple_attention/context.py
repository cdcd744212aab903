"""From weights to context vectors

Write `context(weights, vectors)`: for each word that asks, all vectors mixed by its
weights.

A text has S words with a vector of E numbers each, and T words ask. Weights have shape
(..., T, S): row t says how much of each of the S vectors word t takes. Take the
weights as they are, whatever a row sums to. Vectors have shape (..., S, E). The result
is (..., T, E).
"""

from headway.practice import Exercise, Wrong

# --- your file ---
import torch
from torch import Tensor


def context(weights: Tensor, vectors: Tensor) -> Tensor:
    """Mix vectors (..., S, E) by weights (..., T, S), which gives (..., T, E)."""
    # --- write ---
    return weights @ vectors
    # --- written ---


if __name__ == "__main__":
    from headway import he_finds_boy

    (words, x), _, _ = he_finds_boy()
    weights = torch.full((1, 9), 0.0933)
    weights[0, words.index("he")] = 0.2536
    print(context(weights, x))
    # tensor([[0.2799, 0.2536, 0.0933]])
# --- end of your file ---


EXERCISE = Exercise(
    answer="context",
    read=(
        "basics/simple_attention/#from-weights-to-a-context-vector",
        "From weights to a context vector",
    ),
    hints=(
        "How many numbers has one row of the result, and where do they come from?",
        "Multiply each vector by its weight, and add them up.",
        "This is a product of two tables. Which axis do both have, and must go?",
    ),
    draw=lambda d: (
        drawn_weights(d),
        d.normal(*d.lead, d.S, d.E),
    ),
    law="If the weights of a row sum to one, its result lies between the vectors.",
    right=[
        """
        # Broadcasting: each vector times its weight, in a table with one axis more.
        return (weights[..., None] * vectors[..., None, :, :]).sum(dim=-2)
        """,
        """
        # einsum names the axes: s stands on both sides and not in the result.
        return torch.einsum('...ts,...se->...te', weights, vectors)
        """,
    ],
    wrong=[
        Wrong(
            "weights @ vectors",
            "weights.mT @ vectors",
            "the weights are transposed: a word gives, where it must take",
        ),
        Wrong(
            "weights @ vectors",
            "torch.nn.functional.one_hot(weights.argmax(dim=-1), weights.shape[-1])"
            ".to(vectors.dtype) @ vectors",
            "only the vector with the largest weight is taken",
        ),
        Wrong(
            "weights @ vectors",
            "torch.full_like(weights, 1 / weights.shape[-1]) @ vectors",
            "the plain mean of the vectors is taken, and no weight counts",
        ),
        Wrong(
            "weights @ vectors",
            "weights.sum(dim=-1, keepdim=True) * vectors.sum(dim=-2, keepdim=True)",
            "weights and vectors are summed before they are multiplied",
        ),
        Wrong(
            "weights @ vectors",
            "weights @ vectors / weights.shape[-1]",
            "the sum is divided by the number of vectors; the weights alone should "
            "say how much of each comes in",
        ),
        Wrong(
            "weights @ vectors",
            "(weights @ vectors).mT",
            "the axes of the result are swapped",
        ),
        Wrong(
            "weights @ vectors",
            "torch.softmax(weights, dim=-1) @ vectors",
            "the softmax is taken of the weights; they are weights already",
        ),
        Wrong(
            "weights @ vectors",
            "vectors.mT @ weights",
            "the vectors are turned and stand on the left",
        ),
        Wrong(
            "weights @ vectors",
            "vectors @ weights",
            "weights and vectors stand in the wrong order",
        ),
        Wrong(
            "weights @ vectors",
            "weights.permute(*range(weights.ndim)[::-1]) @ vectors",
            ".T turns all axes around, those of the texts too",
        ),
        Wrong(
            "weights @ vectors",
            "torch.bmm(weights, vectors)",
            "torch.bmm takes three axes and no other number; @ takes any",
        ),
        Wrong(
            "weights @ vectors",
            "vectors",
            "the vectors are given as they are, without the weights",
        ),
        Wrong(
            "weights @ vectors",
            "weights * vectors",
            "numbers are multiplied position by position; rows should be multiplied by "
            "columns, as @ does",
        ),
        Wrong(
            "weights @ vectors",
            "torch.einsum('bts,bse->bte', weights, vectors)",
            "einsum names each axis, so that more or fewer than these are an error",
            hint="In einsum, three dots stand for any number of axes.",
        ),
        Wrong(
            "return weights @ vectors",
            "B, T, S = weights.shape\n    return weights @ vectors",
            "weights are taken to have three axes; they may have more",
            hint="weights.shape[-1] is the last size, however many axes there are.",
        ),
        Wrong(
            "weights @ vectors",
            "torch.mm(weights, vectors)",
            "torch.mm takes two tables and no texts before them; @ takes any",
        ),
        Wrong(
            "weights @ vectors",
            "(weights[:, None] * vectors).sum(dim=-1)",
            "the new axis of the weights is not the last, so that a weight meets a "
            "single number of each vector",
            hint="One weight multiplies all E numbers of a vector. Where must the new "
            "axis of the weights stand, and which axis is then added up?",
        ),
        Wrong(
            "weights @ vectors",
            "(weights[..., None] * vectors).sum(dim=-2)",
            "the vectors get no axis of queries, which fits a single text only",
            hint="Weights with a new last axis have shape (..., T, S, 1). Which axis "
            "of size one must the vectors get, so that they fit?",
        ),
        Wrong(
            "weights @ vectors",
            "(weights[..., None] * vectors).sum(dim=-1)",
            "the vectors get no axis of queries, and the numbers of each vector are "
            "added up, where the vectors must be",
            hint="Weights with a new last axis have shape (..., T, S, 1). Which axis "
            "of size one must the vectors get, and which axis is then added up?",
        ),
        Wrong(
            "weights @ vectors",
            "weights / weights.sum(dim=-1, keepdim=True) @ vectors",
            "each row of weights is made to sum to one first; weights "
            "should be taken as they are",
        ),
        Wrong(
            "weights @ vectors",
            "weights @ vectors.mT",
            "the vectors are transposed",
        ),
        Wrong(
            "weights @ vectors",
            "(weights[..., None] * vectors[..., None, :, :]).sum(dim=-1)",
            "the numbers of each vector are added up; the vectors should be",
        ),
        Wrong(
            "weights @ vectors",
            "(weights[..., None] * vectors[..., None, :, :]).sum(dim=-3)",
            "it is added up over the words that ask; it should be over the vectors",
        ),
        Wrong(
            "weights @ vectors",
            "weights[..., None] * vectors[..., None, :, :]",
            "the products are not added up, so that each vector stays by itself",
        ),
        Wrong(
            "weights @ vectors",
            "weights[0] @ vectors",
            "all texts are mixed by the weights of the first",
        ),
        Wrong(
            "weights @ vectors",
            "weights @ vectors[0]",
            "the vectors of the first text are taken for all texts",
        ),
        Wrong(
            "weights @ vectors",
            "torch.einsum('ts,se->te', weights, vectors)",
            "einsum names two axes each, so that texts in front are an error",
            hint="In einsum, three dots stand for any number of axes.",
        ),
        Wrong(
            "weights @ vectors",
            "(weights @ vectors).softmax(dim=-1)",
            "the softmax is taken of the result",
        ),
        Wrong(
            "weights @ vectors",
            "weights[0] @ vectors[0]",
            "only the first text is mixed",
        ),
        Wrong(
            "weights @ vectors",
            "weights.transpose(0, 1) @ vectors",
            "the first two axes of the weights are swapped",
        ),
        Wrong(
            "weights @ vectors",
            "weights.reshape(*weights.shape[:-2], weights.shape[-1], -1) @ vectors",
            "the weights are reshaped to (S, T); they fit as they are",
        ),
        Wrong(
            "weights @ vectors",
            "weights @ vectors / weights.sum()",
            "the result is divided by the sum of all weights",
        ),
        Wrong(
            "weights @ vectors",
            "(weights @ vectors).sum(dim=-2)",
            "the results of all words that ask are added up",
        ),
        Wrong(
            "weights @ vectors",
            "(weights @ vectors)[..., -1:, :]",
            "only the last word that asks gets a result",
        ),
        Wrong(
            "weights @ vectors",
            "weights[..., -1:] * vectors[..., -1:, :]",
            "each product takes the place of the one before, by = in place of +=, "
            "so that the last vector alone is left",
        ),
        Wrong(
            "weights @ vectors",
            "weights[..., :-1] @ vectors[..., :-1, :]",
            "the last vector is left out",
        ),
        Wrong(
            "weights @ vectors",
            "weights[..., : weights.shape[-2]] @ vectors[..., : weights.shape[-2], :]",
            "as many vectors are added as there are words that ask: T is taken for S",
        ),
        Wrong(
            "weights @ vectors",
            "(weights * vectors).sum(dim=-1)",
            "numbers are multiplied position by position and added along the last "
            "axis; @ multiplies rows by columns",
        ),
        Wrong(
            "weights @ vectors",
            "(weights * vectors).sum(dim=-2)",
            "numbers are multiplied position by position and added along the axis "
            "before the last; @ multiplies rows by columns",
        ),
        Wrong(
            "weights @ vectors",
            "(weights[..., None] * vectors.unsqueeze(-2)).sum(dim=-2)",
            "the vectors' new axis stands behind the vectors; it should stand "
            "before them, for the words that ask",
        ),
        Wrong(
            "weights @ vectors",
            "torch.nn.functional.scaled_dot_product_attention(weights, vectors, "
            "vectors)",
            "PyTorch's attention makes weights of queries and keys; here they are "
            "given",
        ),
        Wrong(
            "weights @ vectors",
            "weights.tril() @ vectors",
            "a word takes only of vectors up to its own place",
        ),
        Wrong(
            "return weights @ vectors",
            "mixed = torch.zeros(len(weights), vectors.shape[1], "
            "dtype=vectors.dtype)\n"
            "    for t in range(len(weights)):\n"
            "        for s in range(len(vectors)):\n"
            "            mixed[t] += weights[t, s] * vectors[s]\n"
            "    return mixed",
            "the loops take the first axes for words and vectors; texts may stand "
            "in front of them",
        ),
        Wrong(
            "weights @ vectors",
            "weights",
            "the weights are given, and nothing is mixed",
        ),
    ],
    minutes=4,
)


def drawn_weights(d):  # type: ignore[no-untyped-def]
    """Draw rows that do not sum to one, as after dropout."""
    sums = (d.normal(*d.lead, d.T, 1) / d.loud).exp()
    return sums * torch.softmax(d.normal(*d.lead, d.T, d.S), dim=-1)
