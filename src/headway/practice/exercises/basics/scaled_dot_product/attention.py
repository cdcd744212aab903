"""Checkpoint: scaled dot-product attention

Write `attention(query, key, value)`: what every model in this book computes.

Queries have shape (..., T, D), keys (..., S, D), values (..., S, V). Each query mixes
the values by its weights, which are the softmax of its scores divided by the root of D.
The result is (..., T, V). The dots stand for any number of axes in front, or none.
Scores may be large.
"""

from headway.practice import Exercise, Wrong
from headway.practice.task.definition import DIFFERENT, EQUAL, LOUD

# --- your file ---
import torch
from torch import Tensor


def attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Mix values (..., S, V) for queries (..., T, D), which gives (..., T, V)."""
    # --- write ---
    scores = query @ key.mT / query.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return weights @ value
    # --- written ---


if __name__ == "__main__":
    from headway import he_finds_boy

    (words, x), W_query, W_key = he_finds_boy()
    context = attention(x @ W_query, x @ W_key, x)
    print(context[words.index("he")])
    # tensor([0.9816, 0.0031, 0.8778])
# --- end of your file ---


EXERCISE = Exercise(
    answer="attention",
    read=("basics/scaled_dot_product/#all-tokens-at-once", "All tokens at once"),
    hints=(
        "What are the three steps, and which axis goes in each of the two products?",
        "Scores, softmax, mixture: only the scores are scaled.",
        "The width that scales is that of the queries. Values may have a different "
        "width, which must not come in.",
    ),
    draw=lambda d: (
        d.normal(*d.lead, *[d.H][: d.axes], d.T, d.D),
        d.normal(*d.lead, *[d.H][: d.axes], d.S, d.D),
        d.normal(*d.lead, *[d.H][: d.axes], d.S, d.V),
    ),
    trials=(DIFFERENT, EQUAL, LOUD, {"axes": 0, "T": 1}),
    law="Each row of the result lies between the values; a query that likes no key "
    "more than another gets their mean.",
    covers=("scaled_weights", "context"),
    right=[
        """
        # PyTorch's function: the same in one call, with fast kernels behind it.
        return torch.nn.functional.scaled_dot_product_attention(query, key, value)
        """,
        """
        # Divided at the end: exponentials mix the values first, as in fast kernels.
        scores = torch.einsum("...td,...sd->...ts", query, key) / key.shape[-1] ** 0.5
        e = (scores - scores.amax(-1, keepdim=True)).exp()
        return torch.einsum("...ts,...sv->...tv", e, value) / e.sum(-1, keepdim=True)
        """,
        """
        # Query by query: slow, but the table of all scores is never made.
        rows = []
        for t in range(query.shape[-2]):
            scores = (key * query[..., t : t + 1, :]).sum(dim=-1)
            weights = (scores / query.shape[-1] ** 0.5).softmax(dim=-1)
            rows.append((weights.unsqueeze(-1) * value).sum(dim=-2))
        return torch.stack(rows, dim=-2)
        """,
    ],
    wrong=[
        Wrong(
            " / query.shape[-1] ** 0.5",
            "",
            "scores are not scaled",
            exhibit="softmax/#no-scale",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "query.shape[-1]",
            "scores are divided by D, and not by its root",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "value.shape[-1] ** 0.5",
            "the width of the values is taken for that of the queries",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "(query.shape[1] * query.shape[-1]) ** 0.5",
            "scores are divided by the root of all heads' width",
        ),
        Wrong(
            "dim=-1)",
            "dim=-2)",
            "the softmax runs over the queries",
            exhibit="softmax/#softmax-over-queries",
        ),
        Wrong("dim=-1)", "dim=1)", "the softmax runs over the heads"),
        Wrong(
            "weights = torch.softmax(scores, dim=-1)",
            "weights = scores",
            "there is no softmax",
        ),
        Wrong(
            "return weights @ value",
            "return weights @ value / query.shape[-1] ** 0.5",
            "what was found is scaled once more",
        ),
        Wrong(
            "scores = query @ key.mT / query.shape[-1] ** 0.5\n"
            "    weights = torch.softmax(scores, dim=-1)",
            "scores = query @ key.mT\n"
            "    weights = torch.softmax(scores, dim=-1) / query.shape[-1] ** 0.5",
            "the scale comes after the softmax, and not before it",
            hint="The scale is for the scores. What do weights sum to, after yours?",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "query.shape[0] ** 0.5",
            "scores are divided by the root of the first axis, which counts texts",
            hint="The last axis is -1, however many there are.",
        ),
        Wrong(
            "weights = torch.softmax(scores, dim=-1)",
            "weights = scores.exp() / scores.exp().sum(dim=-1, keepdim=True)",
            "the largest score is not subtracted, so that large ones overflow",
            hint="What did your softmax do before the exponential? torch.softmax does "
            "it, too.",
        ),
        Wrong(
            "dim=-1)",
            "dim=3)",
            "axes are counted from the front: axis 3 is the last of four only",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "query.shape[-1] ** 1 / 2",
            "D ** 1 / 2 is read as (D ** 1) / 2, so that scores are divided by D "
            "and by 2",
            hint="** binds more than /. How does Python read D ** 1 / 2?",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "(query.shape[-1] / 2)",
            "D ** 1 / 2 is read as half of D",
            hint="** binds more than /. How does Python read D ** 1 / 2?",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "query.shape[-2] ** 0.5",
            "scores are divided by the root of the number of queries",
        ),
        Wrong(
            "return weights @ value",
            "return weights",
            "the weights are given, and nothing is mixed",
        ),
        Wrong(
            "return weights @ value",
            "return weights @ key",
            "keys are mixed, and not values",
        ),
        Wrong(
            "query @ key.mT",
            "query @ key.permute(*range(key.ndim)[::-1])",
            ".T turns all axes around, those of the texts too; .mT turns the last two",
        ),
        Wrong(
            "query @ key.mT",
            "torch.einsum('bhtd,bhsd->bhts', query, key)",
            "einsum names each axis, so that more or fewer than these are an error",
            hint="In einsum, three dots stand for any number of axes.",
        ),
        Wrong(
            "dim=-1)",
            "dim=0)",
            "the softmax runs over the texts, which are the first axis",
        ),
        Wrong(
            "dim=-1)", "dim=2)", "the softmax runs over axis 2, which is not the last"
        ),
        Wrong(
            "scores = query @ key.mT",
            "B, H, T, D = query.shape\n    scores = query @ key.mT",
            "query is taken to have four axes; it may have more",
            hint="query.shape[-1] is the last size, however many axes there are.",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "torch.tensor(query.shape[-1]).sqrt()",
            "the root of D is taken of a tensor of 32 bits, which rounds "
            "the scores; D is a number of Python",
            hint="math.sqrt and ** 0.5 make numbers of Python.",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "key.shape[-2] ** 0.5",
            "scores are divided by the root of the number of keys; it "
            "should be their width",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "query.shape[1] ** 0.5",
            "scores are divided by the root of axis 1, which counts heads",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "query.shape[2] ** 0.5",
            "scores are divided by the root of axis 2, which is no width",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "query.shape[3] ** 0.5",
            "axes are counted from the front: query.shape[3] is the width "
            "of four axes only",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "query.shape[-1] ** 2",
            "scores are divided by the square of D",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "value.shape[-1]",
            "scores are divided by the width of the values",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "query.numel() ** 0.5",
            "scores are divided by the root of how many numbers the "
            "queries have in all",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "int(query.shape[-1] ** 0.5)",
            "the root of D is rounded down to a whole number",
        ),
        Wrong(
            "/ query.shape[-1] ** 0.5",
            "* query.shape[-1] ** 0.5",
            "scores are multiplied by sqrt(D), not divided",
        ),
        Wrong(
            "query @ key.mT",
            "query @ key",
            "the keys are not turned around by .mT, so that the product does not fit",
        ),
        Wrong(
            "query @ key.mT",
            "query @ key.transpose(1, 2)",
            "axes 1 and 2 of the keys are swapped; it should be the last two",
        ),
        Wrong(
            "query @ key.mT",
            "query @ key.transpose(2, 3)",
            "axes 2 and 3 are swapped, which are the last two of four only",
        ),
        Wrong(
            "query @ key.mT",
            "query @ key.reshape(*key.shape[:-2], key.shape[-1], -1)",
            "the keys are reshaped; they should be transposed, by .mT",
        ),
        Wrong(
            "query @ key.mT",
            "key @ query.mT",
            "queries and keys are swapped",
            exhibit="heads/#queries-and-keys-swapped",
        ),
        Wrong(
            "query @ key.mT",
            "query @ value.mT",
            "queries meet the values; they should meet the keys",
        ),
        Wrong(
            "    scores = query",
            "    key, value = value, key\n    scores = query",
            "keys and values are swapped",
            exhibit="heads/#keys-and-values-swapped",
        ),
        Wrong(
            "query @ key.mT",
            "query @ query.mT",
            "queries are compared with each other; they should be with the keys",
        ),
        Wrong(
            "query @ key.mT",
            "torch.bmm(query, key.mT)",
            "torch.bmm takes three axes and no other number; @ takes any",
        ),
        Wrong(
            "query @ key.mT",
            "query * key",
            "queries and keys are multiplied number by number; @ makes dot products",
        ),
        Wrong(
            "weights = torch.softmax(scores, dim=-1)",
            "weights = torch.softmax(torch.softmax(scores, dim=-1), dim=-1)",
            "the softmax is taken twice",
        ),
        Wrong(
            "weights = torch.softmax(scores, dim=-1)",
            "weights = torch.log_softmax(scores, dim=-1)",
            "the logarithms of the weights are taken for the weights",
        ),
        Wrong(
            "weights = torch.softmax(scores, dim=-1)",
            "weights = torch.sigmoid(scores)",
            "a sigmoid of each score is taken, so that the weights of a "
            "row do not share one",
        ),
        Wrong(
            "weights = torch.softmax(scores, dim=-1)",
            "weights = scores / scores.sum(dim=-1, keepdim=True)",
            "scores are divided by their sum, without the exponential",
        ),
        Wrong(
            "weights = torch.softmax(scores, dim=-1)",
            "weights = torch.nn.functional.one_hot(scores.argmax(dim=-1), "
            "scores.shape[-1]).to(value.dtype)",
            "only the value of the best key is taken",
        ),
        Wrong(
            "weights = torch.softmax(scores, dim=-1)",
            "weights = torch.full_like(scores, 1 / scores.shape[-1])",
            "the plain mean of the values is taken, and no score counts",
        ),
        Wrong(
            "weights = torch.softmax(scores, dim=-1)",
            "weights = torch.softmax(scores.flatten(-2), dim=-1).view_as(scores)",
            "one softmax runs over the whole table; each query should have its own",
        ),
        Wrong(
            "weights = torch.softmax(scores, dim=-1)",
            "future = torch.ones(scores.shape[-2:]).triu(1).bool()\n"
            "    weights = torch.softmax(scores.masked_fill(future, "
            "-torch.inf), dim=-1)",
            "later keys are hidden; this attention should see all",
        ),
        Wrong(
            "return weights @ value",
            "return weights.mT @ value",
            "the weights are transposed before they mix",
        ),
        Wrong(
            "return weights @ value",
            "return weights @ query",
            "queries are mixed, and not values",
        ),
        Wrong(
            "return weights @ value",
            "return value.mT @ weights",
            "values and weights stand in the wrong order",
        ),
        Wrong(
            "return weights @ value",
            "return scores @ value",
            "the values are mixed by the scores, and the softmax is lost",
            same_as="there is no softmax",
        ),
        Wrong(
            "return weights @ value",
            "return weights * value",
            "weights and values are multiplied number by number; @ mixes",
        ),
        Wrong(
            "return weights @ value",
            "return (weights @ value).mT",
            "the last two axes of the result are swapped",
        ),
        Wrong(
            "return weights @ value",
            "return weights @ value, weights",
            "the weights are given besides the result; the result alone is asked for",
        ),
        Wrong(
            "return weights @ value",
            "return weights @ value + query",
            "the queries are added to the result",
        ),
        Wrong(
            "return weights @ value",
            "return (weights @ value).sum(dim=1)",
            "the results of all heads are added up",
        ),
        Wrong(
            "return weights @ value",
            "return weights[0] @ value[0]",
            "only the first text is handled",
        ),
        Wrong(
            "weights = torch.softmax(scores, dim=-1)\n    return weights @ value",
            "weights = torch.softmax(scores, dim=-1)\n"
            "    return weights @ value / value.shape[-1] ** 0.5",
            "what was found is divided by the root of its width",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "(2 * query.shape[-1]) ** 0.5",
            "scores are divided by the root of twice the width",
        ),
        Wrong(
            "    return weights @ value",
            "    weights @ value",
            "nothing is returned: the function ends without a return",
        ),
        Wrong(
            "    return weights @ value",
            "    return (weights @ value).softmax(dim=-1)",
            "a softmax is taken of the result",
        ),
        Wrong(
            "    return weights @ value",
            "    return (weights @ value).mean(dim=-2)",
            "the mean over the queries is given; each should have a row",
        ),
        Wrong(
            "    return weights @ value",
            "    return (weights @ value)[..., -1:, :]",
            "only the last query is answered",
        ),
        Wrong(
            "    return weights @ value",
            "    return (weights @ value).transpose(-3, -2).flatten(-2)",
            "the heads are joined side by side; they should stay apart",
        ),
        Wrong(
            "    return weights @ value",
            "    return weights.flatten(0, 1) @ value.flatten(0, 1)",
            "the first two axes are joined to one",
        ),
        Wrong(
            "    weights = torch.softmax(scores, dim=-1)",
            "    e = (scores - scores.max()).exp()\n"
            "    weights = e / e.sum(dim=-1, keepdim=True)",
            "the largest of all scores is subtracted, so that rows of small ones "
            "vanish",
        ),
        Wrong(
            "    weights = torch.softmax(scores, dim=-1)",
            "    e = (scores - scores.amax(dim=-1, keepdim=True)).exp()\n"
            "    weights = e / e.sum(dim=-1)",
            "the sums lie along the wrong axis: keepdim is missing",
        ),
        Wrong(
            "    weights = torch.softmax(scores, dim=-1)",
            "    weights = (scores - scores.amax(dim=-1, keepdim=True)).exp()",
            "exponentials are not divided by their sum",
        ),
        Wrong(
            "    weights = torch.softmax(scores, dim=-1)",
            "    e = (scores - scores.amax(dim=-1, keepdim=True)).exp()\n"
            "    weights = e / (e.sum(dim=-1, keepdim=True) + 1e-6)",
            "a small number is added to the sum of exponentials",
        ),
        Wrong(
            "    weights = torch.softmax(scores, dim=-1)",
            "    weights = torch.softmax(scores.float(), dim=-1).to(value.dtype)",
            "the softmax is computed in 32 bits",
        ),
        Wrong(
            "    weights = torch.softmax(scores, dim=-1)",
            "    e = (scores - scores.amax(dim=-1, keepdim=True)).exp()\n"
            "    weights = e / e.sum(dim=-2, keepdim=True)",
            "exponentials are divided by their sum over the queries",
        ),
        Wrong(
            "    weights = torch.softmax(scores, dim=-1)",
            "    weights = scores.relu()",
            "scores below zero are set to zero, and there is no softmax",
        ),
        Wrong(
            "    weights = torch.softmax(scores, dim=-1)",
            "    weights = torch.softmax(scores * 0.6931471805599453, dim=-1)",
            "powers of two are taken, and not of e",
        ),
        Wrong(
            "    weights = torch.softmax(scores, dim=-1)",
            "    weights = torch.softmax(-scores, dim=-1)",
            "minus scores: the least alike is liked best",
        ),
        Wrong(
            "    scores = query @ key.mT / query.shape[-1] ** 0.5",
            "    normalize = torch.nn.functional.normalize\n"
            "    scores = normalize(query, dim=-1) @ normalize(key, dim=-1).mT",
            "queries and keys are brought to length one, so that scores are cosines",
        ),
        Wrong(
            "    return weights @ value",
            '    return torch.einsum("...ts,...sv->...sv", weights, value)',
            "einsum adds up over the queries; it should add up over the keys",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "torch.sqrt(query.shape[-1])",
            "torch.sqrt takes a tensor, and D is a number of Python: ** 0.5 or "
            "math.sqrt takes it",
        ),
        Wrong(
            "    scores = query",
            "    B, T, D = query.shape\n    scores = query",
            "query is taken to have three axes; it may have more or fewer",
        ),
        Wrong(
            "dim=-1)",
            "dim=None)",
            "softmax is told no axis",
        ),
        Wrong(
            "query @ key.mT",
            "query @ key.transpose(0, 1)",
            "the first two axes of the keys are swapped; it should be the last two",
        ),
        Wrong(
            "return weights @ value",
            "return (weights @ value).squeeze()",
            "axes of length one are squeezed away",
        ),
    ],
    stars=2,
    minutes=6,
)
