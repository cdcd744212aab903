"""The weights of all queries

Write `scaled_weights(query, key)`: for each query, its weights for all keys: the
softmax of the dot products, each divided by the root of their width D.

Queries have shape (..., T, D), keys (..., S, D); the result is (..., T, S). There may
be more keys than queries. The three dots stand for any number of axes in front, or
none: `key.mT` swaps the last two axes and leaves those in front where they are. Scores
may be large.
"""

from headway.practice import Exercise, Wrong
from headway.practice.task.definition import DIFFERENT, EQUAL, LOUD

# --- your file ---
import torch
from torch import Tensor


def scaled_weights(query: Tensor, key: Tensor) -> Tensor:
    """Give weights (..., T, S) for queries (..., T, D) and keys (..., S, D)."""
    # --- write ---
    scores = query @ key.mT
    scores = scores / query.shape[-1] ** 0.5
    return torch.softmax(scores, dim=-1)
    # --- written ---


if __name__ == "__main__":
    query = torch.tensor([[4.0, 4.0]])
    key = torch.tensor([[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]])
    print(scaled_weights(query, key))
    # tensor([[0.9930, 0.0035, 0.0035]])
# --- end of your file ---


EXERCISE = Exercise(
    answer="scaled_weights",
    read=("basics/scaled_dot_product/#all-tokens-at-once", "All tokens at once"),
    hints=(
        "Whose root divides: that of the width of a query, or that of their number?",
        "One product gives all dot products; the softmax comes after the division.",
        "The width D is the size of the last axis of the queries; the softmax runs "
        "over the keys, which is the last axis of the scores.",
    ),
    draw=lambda d: (d.normal(*d.lead, d.T, d.D), d.normal(*d.lead, d.S, d.D)),
    trials=(DIFFERENT, EQUAL, LOUD, {"T": 1}),
    law="Scores of independent numbers with spread one have spread one after the "
    "division, whatever D is.",
    right=[
        """
        # einsum names the axes: d stands on both sides and not in the result.
        D = query.shape[-1]
        scores = torch.einsum("...td,...sd->...ts", query, key)
        return (scores * D**-0.5).softmax(-1)
        """,
        """
        # Half of the scale on each side, before the product: what keeps 16 bits small.
        scores = (query / key.shape[-1] ** 0.25) @ (key / key.shape[-1] ** 0.25).mT
        return (scores - scores.logsumexp(-1, keepdim=True)).exp()
        """,
    ],
    wrong=[
        Wrong(
            "scores / query.shape[-1] ** 0.5",
            "scores",
            "scores are not scaled",
            exhibit="softmax/#no-scale",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "query.shape[-1]",
            "scores are divided by D, and not by its root",
        ),
        Wrong(
            "scores / query",
            "scores * query",
            "scores are multiplied by the root of D, and not divided",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "query.shape[-2] ** 0.5",
            "scores are divided by the root of the number of queries",
            hint="The width is the last axis, which is -1, however many there are.",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "key.shape[-2] ** 0.5",
            "scores are divided by the root of the number of keys",
            hint="The width is the last axis, which is -1, however many there are.",
        ),
        Wrong(
            "dim=-1)",
            "dim=-2)",
            "the softmax runs over the queries",
            exhibit="softmax/#softmax-over-queries",
        ),
        Wrong(
            "return torch.softmax(scores, dim=-1)",
            "return torch.softmax(scores * query.shape[-1] ** 0.5, dim=-1) "
            "/ query.shape[-1] ** 0.5",
            "the scale comes after the softmax",
        ),
        Wrong(
            "query @ key.mT",
            "key @ query.mT",
            "the scores are transposed: keys ask, and queries answer",
        ),
        Wrong(
            "return torch.softmax(scores, dim=-1)",
            "return scores.exp() / scores.exp().sum(dim=-1, keepdim=True)",
            "the largest score is not subtracted, so that large ones overflow",
            hint="What did your softmax do before the exponential? torch.softmax does "
            "it, too.",
        ),
        Wrong(
            "return torch.softmax(scores, dim=-1)",
            "return scores",
            "the scores are given, and no softmax is taken",
        ),
        Wrong(
            "return torch.softmax(scores, dim=-1)",
            "return torch.log_softmax(scores, dim=-1)",
            "the logarithms of the weights are given",
        ),
        Wrong(
            "return torch.softmax(scores, dim=-1)",
            "return torch.softmax(torch.softmax(scores, dim=-1), dim=-1)",
            "the softmax is taken twice",
        ),
        Wrong(
            "dim=-1)",
            "dim=0)",
            "the softmax runs over the texts, which are the first axis",
        ),
        Wrong(
            "dim=-1)", "dim=1)", "the softmax runs over axis 1, which is not the last"
        ),
        Wrong(
            "dim=-1)",
            "dim=2)",
            "axes are counted from the front: axis 2 is the last of three only",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "query.shape[0] ** 0.5",
            "scores are divided by the root of the number of texts, which len gives",
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
            "query.shape[-1] ** 2",
            "scores are divided by the square of D",
        ),
        Wrong(
            "query @ key.mT",
            "query @ query.mT",
            "queries are compared with each other, and not with the keys",
        ),
        Wrong(
            "query @ key.mT",
            "torch.bmm(query, key.mT)",
            "torch.bmm takes three axes and no other number; @ takes any",
        ),
        Wrong(
            "query @ key.mT",
            "query @ key.permute(*range(key.ndim)[::-1])",
            ".T turns all axes around, those of the texts too; .mT turns the last two",
        ),
        Wrong(
            "query @ key.mT",
            "torch.einsum('btd,bsd->bts', query, key)",
            "einsum names each axis, so that more or fewer than these are an error",
            hint="In einsum, three dots stand for any number of axes.",
        ),
        Wrong(
            "scores = query @ key.mT",
            "B, T, D = query.shape\n    scores = query @ key.mT",
            "query is taken to have three axes; it may have more",
            hint="query.shape[-1] is the last size, however many axes there are.",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "query.shape[1] ** 0.5",
            "axis 1 of the queries is taken for the width, as by query.shape[1]",
            same_as="scores are divided by the root of the number of queries",
            hint="The width is the last axis, which is -1, however many there are.",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "key.shape[1] ** 0.5",
            "axis 1 of the keys is taken for the width, as by key.shape[1]",
            same_as="scores are divided by the root of the number of keys",
            hint="The width is the last axis, which is -1, however many there are.",
        ),
        Wrong(
            "query @ key.mT",
            "query @ key.transpose(1, 2)",
            "axes 1 and 2 are swapped, which are the last two of three only",
            hint="The last two axes are -2 and -1, however many there are.",
        ),
        Wrong(
            "query @ key.mT",
            "query @ key.transpose(0, 1)",
            "the first two axes of the keys are swapped, and not the last two",
            hint="The last two axes are -2 and -1, however many there are.",
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
            "query.shape[-1] ** 0.5",
            "query.norm(dim=-1, keepdim=True)",
            "scores are divided by the length of the query; it should be the root of D",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "(query.norm(dim=-1, keepdim=True) * key.norm(dim=-1).unsqueeze(-2))",
            "scores are divided by both lengths, which is the cosine",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "(query.shape[-1] * key.shape[-2]) ** 0.5",
            "scores are divided by the root of D times the number of keys",
        ),
        Wrong(
            "query @ key.mT",
            "query @ key",
            "the keys are not turned around by .mT, so that the product does not fit",
        ),
        Wrong(
            "query @ key.mT",
            "query @ key.reshape(*key.shape[:-2], key.shape[-1], -1)",
            "the keys are reshaped; they should be transposed, by .mT",
        ),
        Wrong(
            "query @ key.mT",
            "query * key",
            "queries and keys are multiplied number by number; @ makes dot products",
        ),
        Wrong(
            "query @ key.mT",
            "query @ key[0].mT",
            "the keys of the first text are taken for all texts",
        ),
        Wrong(
            "query @ key.mT",
            "-torch.cdist(query, key)",
            "distances are taken for scores; scores are dot products",
        ),
        Wrong(
            "return torch.softmax(scores, dim=-1)",
            "return scores / scores.sum(dim=-1, keepdim=True)",
            "scores are divided by their sum, without the exponential",
        ),
        Wrong(
            "return torch.softmax(scores, dim=-1)",
            "return torch.sigmoid(scores)",
            "a sigmoid of each score is taken, so that the weights of a "
            "row do not share one",
        ),
        Wrong(
            "return torch.softmax(scores, dim=-1)",
            "return torch.softmax(scores, dim=-1).mT",
            "the weights are transposed: a row belongs to a key",
        ),
        Wrong(
            "return torch.softmax(scores, dim=-1)",
            "return torch.softmax(scores, dim=-1) @ key",
            "the keys are mixed by the weights; the weights alone are asked for",
        ),
        Wrong(
            "return torch.softmax(scores, dim=-1)",
            "return torch.softmax(scores, dim=-1) / query.shape[-1] ** 0.5",
            "the scale comes once more, after the softmax",
        ),
        Wrong(
            "return torch.softmax(scores, dim=-1)",
            "return torch.softmax(scores.tril(), dim=-1)",
            "scores of later keys are set to zero; all keys may be seen",
        ),
        Wrong(
            "return torch.softmax(scores, dim=-1)",
            "return torch.softmax(scores.flatten(-2), dim=-1).view_as(scores)",
            "one softmax runs over the whole table; each row should have its own",
        ),
        Wrong(
            "return torch.softmax(scores, dim=-1)",
            "return torch.softmax(scores[0], dim=-1)",
            "only the first text gets weights",
        ),
        Wrong(
            "return torch.softmax(scores, dim=-1)",
            "return scores, torch.softmax(scores, dim=-1)",
            "scores are given besides the weights; the weights alone are asked for",
        ),
        Wrong(
            "return torch.softmax(scores, dim=-1)",
            "return scores.exp() / scores.exp().sum(dim=-1)",
            "the softmax is made by hand, without the largest subtracted "
            "and without keepdim",
        ),
        Wrong(
            "return torch.softmax(scores, dim=-1)",
            "grown = (scores - scores.max()).exp()\n"
            "    return grown / grown.sum(dim=-1, keepdim=True)",
            "the largest score of all is subtracted, so that a low row becomes zero "
            "over zero; it should be the largest of each row",
        ),
        Wrong(
            "return torch.softmax(scores, dim=-1)",
            "grown = (scores - scores.amax(dim=-1)).exp()\n"
            "    return grown / grown.sum(dim=-1, keepdim=True)",
            "the largest of each row is subtracted without keepdim",
        ),
        Wrong(
            "return torch.softmax(scores, dim=-1)",
            "grown = (scores - scores.amax(dim=-1, keepdim=True)).exp()\n"
            "    return grown / grown.sum()",
            "exponentials are divided by the sum of all; each row should have its own",
        ),
        Wrong(
            "return torch.softmax(scores, dim=-1)",
            "grown = (scores - scores.amax(dim=-2, keepdim=True)).exp()\n"
            "    return grown / grown.sum(dim=-1, keepdim=True)",
            "the largest of each column is subtracted, which changes the shares of a "
            "row; it should be that of each row",
        ),
        Wrong(
            "return torch.softmax(scores, dim=-1)",
            "grown = (scores - scores.amax(dim=-1, keepdim=True)).exp()\n"
            "    return grown / grown.sum(dim=-2, keepdim=True)",
            "exponentials are divided by the sum of their column; it should be that "
            "of their row",
        ),
        Wrong(
            "return torch.softmax(scores, dim=-1)",
            "return torch.softmax(scores.clamp(-50, 50), dim=-1)",
            "scores are cut off at 50, so that large ones become equal",
        ),
        Wrong(
            "return torch.softmax(scores, dim=-1)",
            "scores = scores.clamp(max=700)\n"
            "    return scores.exp() / scores.exp().sum(dim=-1, keepdim=True)",
            "scores are cut off at 700, where exponentials overflow; the largest "
            "should be subtracted",
        ),
        Wrong(
            "return torch.softmax(scores, dim=-1)",
            "return torch.softmax(scores[..., : query.shape[-2]], dim=-1)",
            "there are as many weights as queries; there should be one for each key",
        ),
        Wrong(
            "return torch.softmax(scores, dim=-1)",
            "future = torch.ones(scores.shape[-2:]).triu(1).bool()\n"
            "    return torch.softmax(scores.masked_fill(future, -torch.inf), dim=-1)",
            "the future is hidden, from the upper left corner; all keys may be seen",
        ),
        Wrong(
            "return torch.softmax(scores, dim=-1)",
            "T, S = scores.shape[-2:]\n"
            "    future = torch.ones(T, S).triu(S - T + 1).bool()\n"
            "    return torch.softmax(scores.masked_fill(future, -torch.inf), dim=-1)",
            "the future is hidden, as for the newest of S tokens; all keys may be seen",
        ),
        Wrong(
            "query @ key.mT",
            "query @ (key / key.norm(dim=-1, keepdim=True)).mT",
            "the keys are divided by their lengths",
        ),
        Wrong(
            "return torch.softmax(scores, dim=-1)",
            "return torch.softmax(scores, dim=-1) / scores.shape[-1]",
            "the weights are divided by the number of keys",
        ),
        Wrong(
            "return torch.softmax(scores, dim=-1)",
            "return (scores == scores.amax(dim=-1, keepdim=True)).to(scores.dtype)",
            "the best key gets the weight one, and all others zero",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "(query.shape[-1] - 1) ** 0.5",
            "scores are divided by the root of D - 1; it should be that of D",
        ),
        Wrong(
            "scores / query.shape[-1] ** 0.5",
            "scores * query.shape[-1]",
            "scores are multiplied by D; they should be divided by its root",
        ),
        Wrong(
            "return torch.softmax(scores, dim=-1)",
            "return torch.softmax(scores**2, dim=-1)",
            "scores are squared before the softmax",
        ),
        Wrong(
            "return torch.softmax(scores, dim=-1)",
            "return torch.softmax(scores.abs(), dim=-1)",
            "scores are taken without their sign",
        ),
        Wrong(
            "return torch.softmax(scores, dim=-1)",
            "return torch.softmax(-scores, dim=-1)",
            "the sign of the scores is turned, so that the least alike get most",
        ),
        Wrong(
            "return torch.softmax(scores, dim=-1)",
            "return scores.relu() / scores.relu().sum(dim=-1, keepdim=True)",
            "scores above zero are divided by their sum, without the exponential",
        ),
        Wrong(
            "return torch.softmax(scores, dim=-1)",
            "weights = torch.softmax(scores, dim=-1)\n"
            "    return weights.reshape(-1, *weights.shape[-2:])",
            "the axes in front are joined to one; they should stay",
        ),
        Wrong(
            "query @ key.mT",
            "torch.einsum('abtd,absd->abts', query, key)",
            "einsum names two axes in front, so that more or fewer are an error",
        ),
        Wrong(
            "query @ key.mT",
            "query @ key.swapaxes(0, -1)",
            "the first axis of the keys is swapped with the last; it should be the "
            "last two",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "query.shape[-1] ** 0.25",
            "scores are divided by the fourth root of D, as if one side were scaled "
            "alone",
        ),
        Wrong(
            "query.shape[-1] ** 0.5",
            "0.5",
            "scores are divided by one half, and not by the root of D",
        ),
    ],
    stars=1,
    minutes=5,
)
