"""Weights for the other layout

A model was trained with pairs: the numbers 2 i and 2 i + 1 of a head turn together.
Another program has halves: it turns number i with number i + D / 2.

Write `rows_for_halves(weight, H)`: the weight of `W_query` or `W_key`, reordered for
that program. `weight` is (H * D, E); row j makes number j of the queries, head after
head. Each head is reordered by itself: what stood at 0, 2, 4, ... of it goes to its
first half, what stood at 1, 3, 5, ... to its second. Give (H * D, E).
"""

from headway.practice import Exercise, Wrong

# --- your file ---
import torch
from torch import Tensor


def rows_for_halves(weight: Tensor, H: int) -> Tensor:
    """Reorder the rows of a weight (H * D, E), from pairs to halves in each head."""
    # --- write ---
    pairs = weight.unflatten(0, (H, -1, 2))
    halves = pairs.transpose(1, 2)
    return halves.flatten(0, 2)
    # --- written ---


if __name__ == "__main__":
    numbers = torch.arange(8.0)[:, None]
    print(rows_for_halves(numbers, 1).flatten())
    # tensor([0., 2., 4., 6., 1., 3., 5., 7.])
# --- end of your file ---


EXERCISE = Exercise(
    answer="rows_for_halves",
    read=("positions/rotary/#pairs-or-halves", "Pairs or halves"),
    hints=(
        "With two heads of width 4, which row comes second: row 1, row 2, or row 4?",
        "Give the rows three axes: heads, pairs, and the two of a pair. One exchange "
        "of axes does the rest.",
        "unflatten cuts the first axis into (H, how many pairs, 2); exchange the last "
        "two of these three, and flatten all three into one.",
    ),
    draw=lambda d: (d.normal(d.H * 2 * d.D, d.E), d.H),
    trials=({}, dict.fromkeys("BHGTSDVEW", 4), {"H": 1, "D": 3}),
    law="Queries and keys in one other order give the same scores: reorder both, and "
    "the model is the same.",
    right=[
        """
        # Slices in each head: the words of the task, one by one.
        heads = [torch.cat([one[0::2], one[1::2]]) for one in weight.chunk(H)]
        return torch.cat(heads)
        """,
        """
        # A list of row numbers: it can be printed, and kept for a second weight.
        D = weight.shape[0] // H
        order = [h * D + j for h in range(H) for k in (0, 1) for j in range(k, D, 2)]
        return weight[order]
        """,
        """
        # view names all sizes: (heads, pairs, the two of a pair, E).
        rows, E = weight.shape
        D = rows // H
        return weight.view(H, D // 2, 2, E).transpose(1, 2).reshape(rows, E)
        """,
    ],
    wrong=[
        Wrong(
            "(H, -1, 2)",
            "(1, -1, 2)",
            "all heads are reordered as one, so that numbers go to other heads; "
            "each should be reordered by itself",
            hint="Cut the rows into heads first: each is reordered by itself.",
        ),
        Wrong(
            "    pairs = weight.unflatten(0, (H, -1, 2))",
            "    pairs = weight.unflatten(0, (H, 2, -1))",
            "it goes the other way: from halves to pairs",
            exhibit="positions/#rotary-angles-laid-out-otherwise",
        ),
        Wrong(
            "pairs.transpose(1, 2)",
            "pairs",
            "nothing is reordered",
            exhibit="positions/#rotary-angles-laid-out-otherwise",
        ),
        Wrong(
            "pairs.transpose(1, 2)",
            "pairs.transpose(0, 1)",
            "heads are exchanged with pairs",
        ),
        Wrong(
            "pairs.transpose(1, 2)",
            "pairs.flip(2).transpose(1, 2)",
            "the second of each pair goes to the first half",
        ),
        Wrong(
            "halves.flatten(0, 2)",
            "halves.flatten(1, 2)",
            "the heads keep axes of their own",
        ),
        Wrong(
            "weight.unflatten(0, (H, -1, 2))",
            "weight.unflatten(0, (-1, H, 2)).transpose(0, 1)",
            "rows are dealt out to the heads in turn, and a head does not lie in "
            "one piece",
        ),
        Wrong(
            "    pairs = weight.unflatten(0, (H, -1, 2))",
            "    weight = weight[: len(weight) // H]\n"
            "    pairs = weight.unflatten(0, (1, -1, 2))",
            "the order of one head is made, and taken for the whole weight: the "
            "other heads are lost",
        ),
        Wrong(
            "    pairs = weight.unflatten(0, (H, -1, 2))",
            "    weight = weight[: len(weight) // H].repeat(H, 1)\n"
            "    pairs = weight.unflatten(0, (H, -1, 2))",
            "each head is given the rows of the first: their numbers begin at h "
            "times D",
        ),
        Wrong(
            "    pairs = weight.unflatten(0, (H, -1, 2))",
            "    pairs = weight.unflatten(0, (-1, max(H // 2, 1), 2))",
            "H is taken for the width of a head",
        ),
        Wrong(
            "    halves = pairs.transpose(1, 2)",
            "    halves = weight.unflatten(0, (2, H, -1)).transpose(0, 1)",
            "the whole is cut in two, and each head gets a piece of both",
        ),
        Wrong(
            "    halves = pairs.transpose(1, 2)\n    return halves.flatten(0, 2)",
            "    return torch.cat([weight[:, 0::2], weight[:, 1::2]], dim=1)",
            "columns are reordered; it should be rows, which make the queries' numbers",
        ),
        Wrong(
            "weight.unflatten(0, (H, -1, 2))",
            "weight.unflatten(0, (2 * H, -1, 2))",
            "each half of a head is reordered by itself: there are twice as many heads",
        ),
        Wrong(
            "return halves.flatten(0, 2)",
            "return halves.flatten(0, 2).T",
            "the result is transposed",
        ),
        Wrong(
            "return halves.flatten(0, 2)",
            "return halves[0].flatten(0, 1)",
            "only the first head is given",
            same_as="the order of one head is made, and taken for the whole "
            "weight: the other heads are lost",
        ),
        Wrong(
            "return halves.flatten(0, 2)",
            "first = len(weight) // H\n"
            "    return torch.cat([halves.flatten(0, 2)[:first], weight[first:]])",
            "only the first head is reordered; all should be",
        ),
        Wrong(
            "return halves.flatten(0, 2)",
            "return halves.flip(0).flatten(0, 2)",
            "the heads stand in the opposite order",
        ),
        Wrong(
            "return halves.flatten(0, 2)",
            "return halves[:, 0].flatten(0, 1)",
            "only the first halves are given",
        ),
        Wrong(
            "return halves.flatten(0, 2)",
            "return torch.cat([pairs[:, :, 0], pairs[:, :, 1].flip(1)], "
            "dim=1).flatten(0, 1)",
            "the second half of each head stands in the opposite order",
        ),
        Wrong(
            "return halves.flatten(0, 2)",
            "return halves",
            "heads, halves and pairs keep axes of their own",
        ),
        Wrong(
            "return halves.flatten(0, 2)",
            "D = len(weight) // H\n"
            "    order = [j for k in (0, 1) for j in range(k, D, 2)]\n"
            "    return weight[[h * H + j for h in range(H) for j in order]]",
            "the rows of head h begin at h times H; they should begin at h times D",
        ),
        Wrong(
            "    pairs = weight.unflatten(0, (H, -1, 2))\n"
            "    halves = pairs.transpose(1, 2)\n"
            "    return halves.flatten(0, 2)",
            "    return torch.cat([weight[0::2], weight[1::2]])",
            "even and odd rows of the whole weight are put apart; each head should be "
            "reordered by itself",
            same_as="all heads are reordered as one, so that numbers go to other "
            "heads; each should be reordered by itself",
        ),
        Wrong(
            "    pairs = weight.unflatten(0, (H, -1, 2))\n"
            "    halves = pairs.transpose(1, 2)\n"
            "    return halves.flatten(0, 2)",
            "    heads = [torch.cat([one[0::2], one[1::2]]) for one in "
            "weight.chunk(H)]\n"
            "    return torch.cat(heads, dim=1)",
            "the heads are joined side by side; they should stand below each other",
        ),
        Wrong(
            "    pairs = weight.unflatten(0, (H, -1, 2))\n"
            "    halves = pairs.transpose(1, 2)\n"
            "    return halves.flatten(0, 2)",
            "    heads = [torch.cat([one[1::2], one[0::2]]) for one in "
            "weight.chunk(H)]\n"
            "    return torch.cat(heads)",
            "odd rows go to the first half, and even ones to the second",
            same_as="the second of each pair goes to the first half",
        ),
        Wrong(
            "    pairs = weight.unflatten(0, (H, -1, 2))\n"
            "    halves = pairs.transpose(1, 2)\n"
            "    return halves.flatten(0, 2)",
            "    heads = [torch.cat([one[0::2], one[1::2]]) for one in "
            "weight.chunk(H)]\n"
            "    return heads",
            "the heads are given as a list, and not joined",
        ),
        Wrong(
            "    pairs = weight.unflatten(0, (H, -1, 2))\n"
            "    halves = pairs.transpose(1, 2)\n"
            "    return halves.flatten(0, 2)",
            "    heads = [torch.cat([one[: len(one) // 2], one[len(one) // 2 :]]) for "
            "one in weight.chunk(H)]\n"
            "    return torch.cat(heads)",
            "each head is cut in the middle and put together again, so that nothing "
            "changes",
            same_as="nothing is reordered",
        ),
        Wrong(
            "    pairs = weight.unflatten(0, (H, -1, 2))\n"
            "    halves = pairs.transpose(1, 2)\n"
            "    return halves.flatten(0, 2)",
            "    D = len(weight) // H\n"
            "    order = torch.cat([torch.arange(0, D, 2), torch.arange(1, D, 2)])\n"
            "    return weight[order]",
            "the order of one head is taken as row numbers, and the other heads are "
            "lost",
            same_as="the order of one head is made, and taken for the whole weight: "
            "the other heads are lost",
        ),
        Wrong(
            "    pairs = weight.unflatten(0, (H, -1, 2))\n"
            "    halves = pairs.transpose(1, 2)\n"
            "    return halves.flatten(0, 2)",
            "    return weight.unflatten(0, (H, -1, 2)).permute(2, 0, 1, "
            "3).flatten(0, 2)",
            "the halves stand before the heads: all first halves, then all second ones",
            same_as="all heads are reordered as one, so that numbers go to other "
            "heads; each should be reordered by itself",
        ),
        Wrong(
            "    pairs = weight.unflatten(0, (H, -1, 2))\n"
            "    halves = pairs.transpose(1, 2)\n"
            "    return halves.flatten(0, 2)",
            "    D = weight.shape[1] // H\n"
            "    order = [h * D + j for h in range(H) for k in (0, 1) for j in "
            "range(k, D, 2)]\n"
            "    return weight[order]",
            "the width of a head is taken from the columns; it is the number of rows "
            "over H",
        ),
        Wrong(
            "    pairs = weight.unflatten(0, (H, -1, 2))\n"
            "    halves = pairs.transpose(1, 2)\n"
            "    return halves.flatten(0, 2)",
            "    D = len(weight) // H\n"
            "    order = [h * D + j for h in range(H) for k in (0, 1) for j in "
            "range(k, D, 2)]\n"
            "    found = torch.empty_like(weight)\n"
            "    found[order] = weight\n"
            "    return found",
            "row j is written to its number in the order, which goes the other way: "
            "from halves to pairs",
            same_as="it goes the other way: from halves to pairs",
        ),
        Wrong(
            "    pairs = weight.unflatten(0, (H, -1, 2))\n"
            "    halves = pairs.transpose(1, 2)\n"
            "    return halves.flatten(0, 2)",
            "    D = len(weight) // H\n"
            "    order = [h * D + j for h in range(H) for k in (0, 1) for j in "
            "range(k, D, 2)]\n"
            "    return weight[:, order]",
            "columns are reordered by the row numbers; it should be rows",
        ),
        Wrong(
            "    pairs = weight.unflatten(0, (H, -1, 2))\n"
            "    halves = pairs.transpose(1, 2)\n"
            "    return halves.flatten(0, 2)",
            "    D = len(weight) // H\n"
            "    order = [h * D + j + k for h in range(H) for j in range(0, D, 2) for "
            "k in (0, 1)]\n"
            "    return weight[order]",
            "the two of a pair stay neighbours",
            same_as="nothing is reordered",
        ),
        Wrong(
            "    pairs = weight.unflatten(0, (H, -1, 2))\n"
            "    halves = pairs.transpose(1, 2)\n"
            "    return halves.flatten(0, 2)",
            "    D = len(weight) // H\n"
            "    order = [j * H + h for h in range(H) for k in (0, 1) for j in "
            "range(k, D, 2)]\n"
            "    return weight[order]",
            "row j of head h is looked for at j times H plus h; it is at h times D "
            "plus j",
        ),
        Wrong(
            "    pairs = weight.unflatten(0, (H, -1, 2))\n"
            "    halves = pairs.transpose(1, 2)\n"
            "    return halves.flatten(0, 2)",
            "    D = len(weight) // H\n"
            "    found = torch.empty_like(weight)\n"
            "    for h in range(H):\n"
            "        for i in range(D // 2):\n"
            "            found[h * D + i] = weight[h * D + i]\n"
            "            found[h * D + D // 2 + i] = weight[h * D + i + 1]\n"
            "    return found",
            "a loop reads rows i and i + 1; it should be 2 i and 2 i + 1",
        ),
        Wrong(
            "    pairs = weight.unflatten(0, (H, -1, 2))\n"
            "    halves = pairs.transpose(1, 2)\n"
            "    return halves.flatten(0, 2)",
            "    D = len(weight) // H\n"
            "    found = torch.zeros_like(weight)\n"
            "    for h in range(H):\n"
            "        for i in range(D // 2):\n"
            "            found[i] = weight[2 * i]\n"
            "            found[D // 2 + i] = weight[2 * i + 1]\n"
            "    return found",
            "the rows of the first head alone are written, and the others stay zero",
        ),
        Wrong(
            "    pairs = weight.unflatten(0, (H, -1, 2))\n"
            "    halves = pairs.transpose(1, 2)\n"
            "    return halves.flatten(0, 2)",
            "    D = len(weight) // H\n"
            "    found = torch.zeros_like(weight)\n"
            "    for h in range(H):\n"
            "        for i in range(D // 2):\n"
            "            found[i] = weight[h * D + 2 * i]\n"
            "            found[D // 2 + i] = weight[h * D + 2 * i + 1]\n"
            "    return found",
            "each head is written over the first one, and the other rows stay zero",
        ),
        Wrong(
            "    pairs = weight.unflatten(0, (H, -1, 2))\n"
            "    halves = pairs.transpose(1, 2)\n"
            "    return halves.flatten(0, 2)",
            "    found = weight.clone()\n"
            "    for one in found.chunk(H):\n"
            "        half = len(one) // 2\n"
            "        one[:half] = one[0::2].clone()\n"
            "        one[half:] = one[1::2].clone()\n"
            "    return found",
            "the first half is written before the rows of the second are read",
        ),
        Wrong(
            "    pairs = weight.unflatten(0, (H, -1, 2))\n"
            "    halves = pairs.transpose(1, 2)\n"
            "    return halves.flatten(0, 2)",
            "    found = weight.clone()\n"
            "    D = len(weight) // H\n"
            "    for h in range(H):\n"
            "        found[h * D : (h + 1) * D] = torch.cat([found[0:D:2], "
            "found[1:D:2]])\n"
            "    return found",
            "each head gets rows of the first, which is reordered already",
        ),
        Wrong(
            "    pairs = weight.unflatten(0, (H, -1, 2))\n"
            "    halves = pairs.transpose(1, 2)\n"
            "    return halves.flatten(0, 2)",
            "    return weight.unflatten(0, (H, -1, 2)).permute(1, 2, 0, "
            "3).flatten(0, 2)",
            "the heads stand last, so that rows of all heads come in turn",
        ),
        Wrong(
            "    pairs = weight.unflatten(0, (H, -1, 2))\n"
            "    halves = pairs.transpose(1, 2)\n"
            "    return halves.flatten(0, 2)",
            "    heads = weight.unflatten(0, (-1, H))\n"
            "    return torch.cat([heads[0::2], heads[1::2]]).flatten(0, 1)",
            "the heads are taken for the inner axis of the rows; a head lies in one "
            "piece",
        ),
        Wrong(
            "return halves.flatten(0, 2)",
            "return halves.flatten()",
            "all numbers are put into one row; the columns should stay an axis",
        ),
    ],
    minutes=10,
)
