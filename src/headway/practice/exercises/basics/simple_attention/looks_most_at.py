"""Who attends to itself most?

Write `looks_most_at(x)`: for each word of a text, the position of the word to which
it gives its largest weight, when words are compared with each other as they are.

The text has T vectors of E numbers. The result has T whole numbers: `argmax(dim=-1)` of
a table gives the position of the largest number in each row. Guess first: does a word
look most at itself?
"""

from headway.practice import Exercise, Wrong

# --- your file ---
import torch
from torch import Tensor


def looks_most_at(x: Tensor) -> Tensor:
    """Give, for each of T tokens (T, E), the position of its largest weight."""
    # --- write ---
    scores = x @ x.mT
    return scores.argmax(dim=-1)
    # --- written ---


if __name__ == "__main__":
    from headway import nine_words

    words, x = nine_words()
    print([words[position] for position in looks_most_at(x)])
    # ['cream', 'is', 'is', 'is', 'cream', 'is', 'is', 'is', 'cream']
# --- end of your file ---


EXERCISE = Exercise(
    answer="looks_most_at",
    read=(
        "basics/simple_attention/#what-similarity-finds-and-what-it-cannot",
        "What similarity finds, and what it cannot",
    ),
    hints=(
        "Does the softmax change which number of a row is the largest?",
        "Make the table of all scores; argmax finds where the largest number is.",
        "Row t belongs to the word that asks. Along which axis must argmax look?",
    ),
    draw=lambda d: (d.normal(d.S, d.E) * (d.normal(d.S, 1) / d.loud).exp(),),
    law="A word's score with itself is its squared length, so a long vector attracts "
    "others more than they attract themselves. A word cannot say what it looks for, "
    "nor what it wants to be found by: it has one vector for both.",
    right=[
        """
        # The softmax keeps the order, so that the weights have the same largest place.
        return torch.softmax(x @ x.mT, dim=-1).argmax(dim=-1)
        """,
        """
        # Word by word: each word that asks can be watched alone.
        return torch.stack([(x * word).sum(dim=-1).argmax() for word in x])
        """,
        """
        # max(dim=...) gives both, the largest and where it stands.
        largest, places = (x @ x.mT).max(dim=-1)
        return places
        """,
    ],
    wrong=[
        Wrong(
            "scores.argmax(dim=-1)",
            "scores.argmin(dim=-1)",
            "the smallest weight is looked for",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "scores.argmax()",
            "the largest of the whole table is looked for",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "torch.arange(len(x))",
            "each word is taken to look most at itself",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "scores.amax(dim=-1)",
            "the largest score is given, and not its position",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "scores.argmax(dim=-1) + 1",
            "positions are counted from one",
        ),
        Wrong(
            "x @ x.mT",
            "(x @ x.mT).fill_diagonal_(-torch.inf)",
            "a word is kept from looking at itself",
        ),
        Wrong(
            "x @ x.mT",
            "-torch.cdist(x, x).fill_diagonal_(torch.inf)",
            "the nearest other word is looked for, and not the largest score",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "scores.max(dim=-1)",
            "both are given, the largest scores and their positions; the positions "
            "alone are asked for",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "scores.argmax(dim=-1, keepdim=True)",
            "the axis of the keys is kept: a table of one column comes out",
        ),
        Wrong(
            "x @ x.mT",
            "torch.nn.functional.normalize(x, dim=-1) @ "
            "torch.nn.functional.normalize(x, dim=-1).mT",
            "vectors are made equally long first, so that each word is most like "
            "itself",
            same_as="each word is taken to look most at itself",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "torch.softmax(scores, dim=0).argmax(dim=-1)",
            "a softmax over the queries comes first",
            exhibit="softmax/#softmax-over-queries",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "torch.softmax(scores, dim=-1)",
            "the weights are given, and not the position of the largest",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "torch.softmax(scores, dim=-1).max(dim=-1)",
            "both are given, the largest weights and their positions; the positions "
            "alone are asked for",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "torch.softmax(scores, dim=-1).amax(dim=-1)",
            "the largest weight is given, and not its position",
        ),
        Wrong(
            "x @ x.mT",
            "x @ torch.nn.functional.normalize(x, dim=-1).mT",
            "each score is divided by the length of its key, so that no "
            "word beats the one that asks",
            same_as="each word is taken to look most at itself",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "scores.argsort(dim=-1, descending=True)",
            "the order of all words is given; only the first of each row is asked for",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "x.argmax(dim=-1)",
            "the largest number of each vector is looked for, and no words "
            "are compared",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "torch.cdist(x, x).argmax(dim=-1)",
            "the farthest word is looked for; it should be the one with "
            "the largest score",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "scores.abs().argmax(dim=-1)",
            "scores lose their sign, so that the most unlike may be taken "
            "for the most alike",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "scores.diagonal().argmax()",
            "the longest word is looked for, one for all; each word should get its own",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "scores.argmax(dim=-1).tolist()",
            "a list is given; it should be a tensor",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "scores.argmax(dim=-1).double()",
            "the positions are not whole numbers",
        ),
        Wrong(
            "x @ x.mT",
            "(x @ x.mT).fill_diagonal_(0)",
            "a word's score with itself is set to zero",
        ),
        Wrong(
            "x @ x.mT",
            "(x @ x.mT).tril()",
            "scores with later words are set to zero",
        ),
        Wrong(
            "x @ x.mT",
            "(x @ x.mT).masked_fill(torch.ones(len(x), "
            "len(x)).triu(1).bool(), -torch.inf)",
            "a word sees only itself and those before it",
            same_as="scores with later words are set to zero",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "(scores.exp() / scores.exp().sum(dim=-1, keepdim=True)).argmax(dim=-1)",
            "the largest score is not subtracted before the exponential, "
            "so that large ones overflow",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "torch.softmax(scores, dim=-1).argmax(dim=0)",
            "the weights share out along rows, and the largest is looked "
            "for down the columns",
            same_as="a softmax over the queries comes first",
        ),
        Wrong(
            "x @ x.mT",
            "x.mT @ x",
            "numbers are compared with each other; words should be",
        ),
        Wrong(
            "x @ x.mT",
            "x @ x",
            "one side is not turned around by .mT, so that the product does not fit",
        ),
        Wrong(
            "x @ x.mT",
            "x @ x[0]",
            "only the first word is compared with all",
        ),
        Wrong(
            "x @ x.mT",
            "x * x",
            "each number is multiplied by itself, and words are not compared",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "scores.topk(2).indices[:, 1]",
            "the second largest is looked for",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "scores.topk(2).indices",
            "the two largest are given; only the first is asked for",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "[row.argmax() for row in scores]",
            "a list with a tensor for each word is given; torch.stack makes one "
            "tensor of them",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "scores.argsort(dim=-1)",
            "the order of all words is given, from the smallest weight on; only the "
            "position of the largest is asked for",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "scores.diagonal().argmax().expand(len(x))",
            "the longest word is given for all; each word should get its own",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "x[scores.argmax(dim=-1)]",
            "the vectors of the words are given; it should be their positions",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "torch.nn.functional.one_hot(scores.argmax(dim=-1), len(x))",
            "a table of zeros and ones marks the positions; their numbers are asked "
            "for",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "scores == scores.amax(dim=-1, keepdim=True)",
            "a table of True and False marks the largest; its position is asked for",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "(scores == scores.amax(dim=-1, keepdim=True)).nonzero()",
            "pairs of row and position are given; the position alone is asked for",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "(torch.softmax(scores, dim=-1) @ x).argmax(dim=-1)",
            "the largest number of each mixture is looked for; it should be the "
            "largest weight",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "(x[:, None] * x).argmax(dim=-1)",
            "products of numbers are not added up to scores",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "torch.tensor([int(r[: t].argmax()) if t else 0 for t, r in "
            "enumerate(scores)])",
            "a word sees only those before it, and not itself",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "(x[:, None] * x).sum(dim=1).argmax(dim=-1)",
            "the products are added up over the words; they should be added over the "
            "numbers",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "scores.argmax(dim=-1).int()",
            "the positions have 32 bits; argmax gives 64",
        ),
        Wrong(
            "scores.argmax(dim=-1)",
            "scores",
            "the table of scores is given; the position of the largest in each row is "
            "asked for",
        ),
    ],
    survivors={
        "-1 -> 1": "the table has two axes, so that the last is axis 1",
        "1 -> 2": "the table equals its transpose, so that both axes give the same",
    },
    minutes=6,
)
