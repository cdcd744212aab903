"""Checkpoint: attention without weights

Write `simple_attention(x)`: the context vectors of all words of a text, where words
are compared and mixed as they are.

Scores are dot products, they are not scaled, and the weights of each row are their
softmax. Scores may be large. Texts have shape (..., T, E), and so has the result.
"""

from headway.practice import Exercise, Wrong

# --- your file ---
import torch
from torch import Tensor


def simple_attention(x: Tensor) -> Tensor:
    """Give context vectors (..., T, E) for tokens (..., T, E)."""
    # --- write ---
    scores = x @ x.mT
    weights = torch.softmax(scores, dim=-1)
    return weights @ x
    # --- written ---


if __name__ == "__main__":
    from headway import he_finds_boy

    (words, x), _, _ = he_finds_boy()
    print(simple_attention(x)[words.index("he")])
    # tensor([0.2799, 0.2536, 0.0933])
# --- end of your file ---


def drawn_text(d):  # type: ignore[no-untyped-def]
    """Draw words of many lengths: the long ones attract the others."""
    lengths = (d.normal(*d.lead, d.T, 1) / d.loud).exp()
    return lengths * d.normal(*d.lead, d.T, d.E)


EXERCISE = Exercise(
    answer="simple_attention",
    read=("basics/simple_attention/#all-words-at-once", "All words at once"),
    hints=(
        "Which three steps lead from words to context vectors?",
        "Scores, weights, context: two products and a softmax between them.",
        "The table of scores is the text times itself, with the last two axes of one "
        "of them swapped (.mT); the softmax runs along the last axis.",
    ),
    draw=lambda d: (drawn_text(d),),
    law="A context vector lies between the words.",
    covers=("score", "scores_of_one", "softmax", "context"),
    right=[
        """
        # Query by query: slow, but each step of the section can be seen.
        texts = x.reshape(-1, *x.shape[-2:])
        rows = []
        for text in texts:
            for query in text:
                e = torch.exp(text @ query - (text @ query).max())
                rows.append((e / e.sum()) @ text)
        return torch.stack(rows).reshape(x.shape)
        """,
        """
        # einsum names the axes: t asks, s is asked, e is the width.
        scores = torch.einsum("...te,...se->...ts", x, x)
        return torch.einsum("...ts,...se->...te", scores.softmax(dim=-1), x)
        """,
        """
        # PyTorch's function, told not to scale: the same three steps in one call.
        attention = torch.nn.functional.scaled_dot_product_attention
        return attention(x, x, x, scale=1.0)
        """,
    ],
    wrong=[
        Wrong(
            "dim=-1)",
            "dim=-2)",
            "the softmax runs over the queries",
            exhibit="softmax/#softmax-over-queries",
        ),
        Wrong("dim=-1)", "dim=0)", "the softmax runs over the texts"),
        Wrong(
            "weights = torch.softmax(scores, dim=-1)",
            "weights = scores",
            "there is no softmax",
        ),
        Wrong(
            "weights = torch.softmax(scores, dim=-1)",
            "weights = scores / scores.sum(dim=-1, keepdim=True)",
            "scores are divided by their sum, without the exponential",
        ),
        Wrong(
            "scores = x @ x.mT",
            "scores = x @ x.mT / x.shape[-1] ** 0.5",
            "scores are divided by the root of the width, which comes later",
        ),
        Wrong(
            "return weights @ x",
            "return weights.diagonal(dim1=-2, dim2=-1).unsqueeze(-1) * x",
            "each word takes only its own vector",
        ),
        Wrong(
            "return weights @ x",
            "return weights.mT @ x",
            "the weights are transposed",
            same_as="the softmax runs over the queries",
        ),
        Wrong(
            "return weights @ x",
            "return weights @ x + x",
            "the word itself is added to what it found",
        ),
        Wrong(
            "weights = torch.softmax(scores, dim=-1)",
            "weights = scores.exp() / scores.exp().sum(dim=-1, keepdim=True)",
            "the largest score is not subtracted, so that large ones overflow",
            hint="What did your softmax do before the exponential? torch.softmax does "
            "it, too.",
        ),
        Wrong(
            "weights = torch.softmax(scores, dim=-1)",
            "weights = torch.softmax(torch.softmax(scores, dim=-1), dim=-1)",
            "the softmax is taken twice",
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
            "scores = x @ x.mT",
            "scores = x @ x.mT / x.shape[-1]",
            "scores are divided by the width",
        ),
        Wrong(
            "scores = x @ x.mT",
            "scores = x @ x.mT + torch.full_like(x @ x.mT, -torch.inf).triu(1)",
            "a word sees only itself and those before it",
        ),
        Wrong(
            "scores = x @ x.mT",
            "scores = (x @ x.mT).masked_fill(torch.eye(x.shape[-2]).bool(), "
            "-torch.inf)",
            "a word is kept from looking at itself",
        ),
        Wrong(
            "return weights @ x",
            "return weights",
            "the weights are given, and nothing is mixed",
        ),
        Wrong(
            "return weights @ x",
            "return weights @ x / x.shape[-2]",
            "the result is divided by the number of words; the weights sum to one "
            "already",
        ),
        Wrong(
            "scores = x @ x.mT",
            "scores = torch.bmm(x, x.mT)",
            "torch.bmm takes three axes and no other number; @ takes any",
        ),
        Wrong(
            "scores = x @ x.mT",
            "scores = x @ x.mT / x.shape[-2] ** 0.5",
            "scores are divided by the root of the number of words",
        ),
        Wrong(
            "scores = x @ x.mT",
            "scores = x @ x.permute(*range(x.ndim)[::-1])",
            ".T turns all axes around, those of the texts too; .mT turns the last two",
        ),
        Wrong(
            "scores = x @ x.mT",
            "scores = torch.einsum('bte,bse->bts', x, x)",
            "einsum names each axis, so that more or fewer than these are an error",
            hint="In einsum, three dots stand for any number of axes.",
        ),
        Wrong(
            "scores = x @ x.mT",
            "B, T, E = x.shape\n    scores = x @ x.mT",
            "x is taken to have three axes; it may have more",
            hint="x.shape[-1] is the last size, however many axes there are.",
        ),
        Wrong(
            "scores = x @ x.mT",
            "scores = x @ x.transpose(0, 1)",
            "the first two axes are swapped, and not the last two",
            hint="The last two axes are -2 and -1, however many there are.",
        ),
        Wrong(
            "scores = x @ x.mT",
            "scores = x @ x.transpose(1, 2)",
            "axes 1 and 2 are swapped, which are the last two of three only",
            hint="The last two axes are -2 and -1, however many there are.",
        ),
        Wrong(
            "scores = x @ x.mT",
            "scores = x @ x",
            "one side is not turned around by .mT, so that the product does not fit",
        ),
        Wrong(
            "scores = x @ x.mT",
            "scores = x.mT @ x",
            "numbers are compared with each other; words should be",
        ),
        Wrong(
            "scores = x @ x.mT",
            "scores = x.flatten(0, -2) @ x.flatten(0, -2).mT",
            "all texts are joined to one before they are compared",
        ),
        Wrong(
            "scores = x @ x.mT",
            "scores = torch.nn.functional.normalize(x, dim=-1) @ "
            "torch.nn.functional.normalize(x, dim=-1).mT",
            "scores are cosines: vectors are made equally long first",
        ),
        Wrong(
            "scores = x @ x.mT",
            "scores = -torch.cdist(x, x)",
            "distances are taken for scores; scores are dot products",
        ),
        Wrong(
            "return weights @ x",
            "return weights @ scores",
            "scores are mixed; the words should be",
        ),
        Wrong(
            "return weights @ x",
            "return scores @ x",
            "the words are mixed by their scores, and the softmax is lost",
            same_as="there is no softmax",
        ),
        Wrong(
            "return weights @ x",
            "return weights @ x[0]",
            "the words of the first text are mixed for all texts",
        ),
        Wrong(
            "return weights @ x",
            "return weights[0] @ x[0]",
            "only the first text is handled",
        ),
        Wrong(
            "return weights @ x",
            "return weights * x",
            "weights and words are multiplied number by number; @ mixes",
        ),
        Wrong(
            "return weights @ x",
            "return x @ weights",
            "words and weights stand in the wrong order",
        ),
        Wrong(
            "return weights @ x",
            "return (weights @ x).sum(dim=-2)",
            "the context vectors of a text are added up",
        ),
        Wrong(
            "return weights @ x",
            "return (weights @ x).mean(dim=-2)",
            "the mean of the context vectors of a text is given",
        ),
        Wrong(
            "return weights @ x",
            "return weights @ x, weights",
            "the weights are given besides the context; the context alone is asked for",
        ),
        Wrong(
            "weights = torch.softmax(scores, dim=-1)",
            "weights = torch.sigmoid(scores)",
            "a sigmoid of each score is taken, so that the weights of a "
            "row do not share one",
        ),
        Wrong(
            "weights = torch.softmax(scores, dim=-1)",
            "weights = torch.nn.functional.one_hot(scores.argmax(dim=-1), "
            "scores.shape[-1]).to(x.dtype)",
            "only the word with the largest score is taken",
        ),
        Wrong(
            "weights = torch.softmax(scores, dim=-1)",
            "weights = torch.full_like(scores, 1 / scores.shape[-1])",
            "the plain mean of all words is taken, and no score counts",
        ),
        Wrong(
            "weights = torch.softmax(scores, dim=-1)",
            "weights = torch.softmax(scores.flatten(-2), dim=-1).view_as(scores)",
            "one softmax runs over the whole table; each row should have its own",
        ),
        Wrong(
            "scores = x @ x.mT",
            "scores = x @ x.mT * x.shape[-1] ** 0.5",
            "scores are multiplied by the root of the width",
        ),
        Wrong(
            "    scores = x @ x.mT\n"
            "    weights = torch.softmax(scores, dim=-1)\n"
            "    return weights @ x",
            "    return torch.nn.functional.scaled_dot_product_attention(x, x, x)",
            "PyTorch's function divides scores by the root of the width, "
            "which comes later",
            same_as="scores are divided by the root of the width, which comes later",
        ),
        Wrong(
            "    scores = x @ x.mT\n"
            "    weights = torch.softmax(scores, dim=-1)\n"
            "    return weights @ x",
            "    rows = []\n"
            "    for query in x:\n"
            "        weights = torch.softmax(x @ query, dim=0)\n"
            "        rows.append(weights @ x)\n"
            "    return torch.stack(rows)",
            "the loop takes the first axis for the words; texts stand in front of them",
        ),
        Wrong(
            "weights = torch.softmax(scores, dim=-1)",
            "grown = (scores - scores.max()).exp()\n"
            "    weights = grown / grown.sum(dim=-1, keepdim=True)",
            "one largest score is subtracted from all, so that in other rows all "
            "exponentials are zero",
        ),
        Wrong(
            "weights = torch.softmax(scores, dim=-1)",
            "grown = (scores - scores.amax(dim=-1)).exp()\n"
            "    weights = grown / grown.sum(dim=-1, keepdim=True)",
            "keepdim is missing where the largest scores are taken",
        ),
        Wrong(
            "weights = torch.softmax(scores, dim=-1)",
            "grown = (scores - scores.amax(dim=-1, keepdim=True)).exp()\n"
            "    weights = grown / grown.sum(dim=-1)",
            "keepdim is missing where exponentials are added up",
        ),
        Wrong(
            "weights = torch.softmax(scores, dim=-1)",
            "grown = (scores - scores.amax(dim=-1, keepdim=True)).exp()\n"
            "    weights = grown / grown.sum(dim=-2, keepdim=True)",
            "exponentials are divided by the sums of columns; it should be those "
            "of rows",
        ),
        Wrong(
            "weights = torch.softmax(scores, dim=-1)",
            "weights = (scores.exp() / scores.exp().sum(dim=-1, "
            "keepdim=True)).nan_to_num()",
            "exponentials of large scores overflow, and the nan that comes of it "
            "is set to zero",
        ),
        Wrong(
            "return weights @ x",
            "return weights @ x.mT",
            "the words are transposed where they are mixed",
        ),
        Wrong(
            "return weights @ x",
            "return (weights @ x)[..., -1:, :]",
            "only the last word gets a context vector",
        ),
        Wrong(
            "scores = x @ x.mT",
            "scores = -(x @ x.mT)",
            "the sign of the scores is turned",
        ),
        Wrong(
            "return weights @ x",
            "return x",
            "the words are given as they are",
        ),
        Wrong(
            "    scores = x @ x.mT\n"
            "    weights = torch.softmax(scores, dim=-1)\n"
            "    return weights @ x",
            "    rows = x.reshape(-1, x.shape[-1])\n"
            "    weights = torch.softmax(rows @ rows.mT, dim=-1)\n"
            "    return (weights @ rows).view_as(x)",
            "all texts are joined to one, so that words look at words of other texts",
        ),
        Wrong(
            "return weights @ x",
            "return (weights[..., None] * x[..., None, :, :]).sum(dim=-3)",
            "products are added up over the words that ask; it should be over "
            "those that are asked",
        ),
    ],
    stars=2,
    minutes=6,
)
