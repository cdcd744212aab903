"""One pass over the keys

Write `online(blocks, values)`: what softmax times values gives for one query, without
ever having all scores at once.

`blocks` is a list of scores, each of shape (n), and `values` a list of tables (n, V).
Keep three things while you go: the largest score so far, the sum of exponentials, and
the mixture. When the largest grows, shrink what you have. Scores may be large, of
either sign. The result has V numbers.
"""

from headway.practice import Exercise, Forbidden, Wrong

# --- your file ---
import torch
from torch import Tensor


def online(blocks: list[Tensor], values: list[Tensor]) -> Tensor:
    """Mix values (n, V) by the softmax of all scores, block by block."""
    # --- write ---
    largest = torch.tensor(-torch.inf, dtype=values[0].dtype)
    total = torch.zeros((), dtype=values[0].dtype)
    mixture = torch.zeros_like(values[0][0])
    for scores, rows in zip(blocks, values):
        new = torch.maximum(largest, scores.max())
        shrink = torch.exp(largest - new)
        grown = torch.exp(scores - new)
        total = total * shrink + grown.sum()
        mixture = mixture * shrink + grown @ rows
        largest = new
    return mixture / total
    # --- written ---


if __name__ == "__main__":
    logs = torch.tensor([1.0, 2.0, 3.0, 4.0]).log()
    rows = torch.tensor([[10.0], [20.0], [30.0], [40.0]])
    print(online([logs[:2], logs[2:]], [rows[:2], rows[2:]]))
    # tensor([30.])
# --- end of your file ---


def draw(d):  # type: ignore[no-untyped-def]
    sizes = [2, 1, 3, 2]
    shift = (15 if d.G == 0 else -15) * d.loud  # all far above zero, or far below
    blocks = [d.normal(n) + 3 * place + shift for place, n in enumerate(sizes)]
    if d.V == 1 and d.loud > 1:  # each above the one before, its largest score first
        blocks = [one.sort(descending=True).values for one in blocks]
        blocks = [one + 10 * d.loud * (place - 3) for place, one in enumerate(blocks)]
    else:
        blocks = [blocks[n] for n in d.order(4).tolist()]
    return blocks, [d.normal(len(one), d.V) / d.loud for one in blocks]


def has_all_scores(args, result, given):  # type: ignore[no-untyped-def]
    scores = sum(map(len, given[0]))
    return isinstance(result, Tensor) and result.numel() == scores


EXERCISE = Exercise(
    answer="online",
    forbids=[
        Forbidden(
            "The task says: without ever having all scores at once. Here one tensor "
            "has them all.",
            """
            weights = torch.softmax(torch.cat(blocks), dim=0)
            return weights @ torch.cat(values)
            """,
            when=has_all_scores,
        )
    ],
    read=(
        "kernels/online_softmax/#one-key-at-a-time-in-loops",
        "One key at a time, in loops",
    ),
    hints=(
        "What is wrong with a sum of exponentials, once a larger score turns up?",
        "All that was summed with the old largest must be multiplied by one number, "
        "the sum and the mixture alike.",
        "That number is exp(old largest - new largest), which is at most one; the new "
        "block is summed with the new largest. Divide once, at the end.",
    ),
    draw=draw,
    trials=(
        {},
        {"V": 1},
        {"loud": 100.0},
        {"loud": 2000.0},
        {"loud": 1e10},
        {"loud": 2000.0, "G": 0},
        {"loud": 2000.0, "V": 1},
    ),
    law="Blocks of any size, in any order, give the same.",
    right=[
        """
        # With the log-sum-exp: rows are always shares, and nothing is divided.
        lse = torch.tensor(-torch.inf, dtype=values[0].dtype)
        out = torch.zeros_like(values[0][0])
        for scores, rows in zip(blocks, values):
            new = torch.logaddexp(lse, scores.logsumexp(0))
            out = out * (lse - new).exp() + (scores - new).exp() @ rows
            lse = new
        return out
        """,
        """
        # Score by score: the three things that are kept are plain numbers and a row.
        largest, total, mixture = -torch.inf, 0.0, torch.zeros_like(values[0][0])
        for scores, rows in zip(blocks, values):
            for score, row in zip(scores, rows):
                new = max(largest, score.item())
                shrink = torch.exp(score.new_tensor(largest - new))
                total = total * shrink + torch.exp(score - new)
                mixture = mixture * shrink + torch.exp(score - new) * row
                largest = new
        return mixture / total
        """,
    ],
    wrong=[
        Wrong(
            "total * shrink + grown.sum()",
            "total + grown.sum()",
            "the sum is not rescaled when the largest score grows",
        ),
        Wrong(
            "mixture * shrink + grown @ rows",
            "mixture + grown @ rows",
            "the mixture is not rescaled when the largest score grows",
            exhibit="pieces/#not-rescaled",
        ),
        Wrong(
            "shrink = torch.exp(largest - new)",
            "shrink = 1.0",
            "neither the sum nor the mixture is rescaled",
        ),
        Wrong(
            "torch.maximum(largest, scores.max())",
            "scores.max()",
            "the largest of the block is taken for the largest so far: right on "
            "paper, and too large for a number when a block is low",
            exhibit="pieces/#maximum-of-the-tile",
        ),
        Wrong(
            "return mixture / total", "return mixture", "it is not divided by the sum"
        ),
        Wrong(
            "zip(blocks, values)",
            "zip(blocks[:-1], values[:-1])",
            "the last block is left out",
            exhibit="pieces/#full-tiles-only",
        ),
        Wrong(
            "torch.exp(largest - new)",
            "torch.exp(new - largest)",
            "what was summed grows, and does not shrink",
        ),
        Wrong(
            "torch.tensor(-torch.inf",
            "torch.tensor(0.0",
            "the largest begins at zero, so that low scores vanish",
            exhibit="pieces/#zero-as-maximum",
        ),
        Wrong(
            "return mixture / total",
            "return mixture / grown.sum()",
            "it is divided by the sum of the last block",
            exhibit="pieces/#the-sum-of-the-last-tile",
        ),
        Wrong(
            "torch.maximum(largest, scores.max())",
            "torch.zeros_like(largest)",
            "exponentials are taken without their largest: of high scores they "
            "overflow, and of low ones they vanish",
            exhibit="pieces/#a-logarithm-without-its-maximum",
        ),
        Wrong(
            "        largest = new\n",
            "",
            "the largest so far is never kept: it stays at minus infinity, and only "
            "the last block is left",
        ),
        Wrong(
            "    return mixture / total",
            "    ends = [torch.softmax(a, dim=0) @ b for a, b in zip(blocks, values)]\n"
            "    return torch.stack(ends).mean(dim=0)",
            "the plain mean of what each block gives is taken",
            exhibit="pieces/#merged-by-plain-means",
        ),
        Wrong(
            "    return mixture / total",
            "    each = zip(blocks, values)\n"
            "    return sum(torch.softmax(a, dim=0) @ b for a, b in each)",
            "each block gets a softmax of its own, and the results are added",
        ),
        Wrong(
            "        largest = new\n    return mixture / total",
            "        largest = new\n"
            "        mixture = mixture / total\n"
            "    return mixture",
            "it is divided by the sum after each block, and not once at the end",
        ),
        Wrong(
            "torch.exp(scores - new)",
            "torch.exp(scores - largest)",
            "the exponentials of a block are taken with the largest before it; "
            "it should be the largest with it",
            same_as="what was summed grows, and does not shrink",
        ),
        Wrong(
            "zip(blocks, values)",
            "zip(blocks[1:], values[1:])",
            "the first block is left out",
        ),
        Wrong(
            "mixture = mixture * shrink + grown @ rows",
            "mixture = grown @ rows",
            "only the last block's mixture is left, and it is divided by the "
            "sum of all",
        ),
        Wrong(
            "total = total * shrink + grown.sum()",
            "total = total * shrink + grown.mean()",
            "the exponentials of a block are averaged; they should be summed",
        ),
        Wrong(
            "total = total * shrink + grown.sum()",
            "total = total * shrink + grown.max()",
            "the largest exponential of a block is counted; all should be summed",
        ),
        Wrong(
            "total = total * shrink + grown.sum()",
            "total = total * shrink + 1",
            "each block counts as one; its exponentials should be summed",
        ),
        Wrong(
            "grown = torch.exp(scores - new)",
            "grown = torch.softmax(scores, dim=0)",
            "each block has a softmax of its own in the place of exponentials "
            "less the largest",
        ),
        Wrong(
            "grown = torch.exp(scores - new)",
            "grown = torch.exp(scores - scores.max())",
            "the exponentials of a block are taken with its own largest; it "
            "should be the largest so far",
        ),
        Wrong(
            "grown = torch.exp(scores - new)",
            "grown = scores - new",
            "the exponential of the scores is forgotten",
        ),
        Wrong(
            "shrink = torch.exp(largest - new)",
            "shrink = largest - new",
            "the exponential is forgotten in the factor that shrinks",
            same_as="what was summed grows, and does not shrink",
        ),
        Wrong(
            "        mixture = mixture * shrink + grown @ rows\n",
            "        mixture = (mixture + grown @ rows) * shrink\n",
            "what is new is shrunk as well; only what was there should be",
        ),
        Wrong(
            "        total = total * shrink + grown.sum()\n"
            "        mixture = mixture * shrink + grown @ rows\n",
            "        total = (total + grown.sum()) * shrink\n"
            "        mixture = (mixture + grown @ rows) * shrink\n",
            "what is new is shrunk with the old, in sum and mixture",
        ),
        Wrong(
            "scores.max()",
            "scores.min()",
            "another score of a block than its largest is taken, such as its "
            "last, its smallest or their mean, so that larger ones overflow",
        ),
        Wrong(
            "    return mixture / total",
            "    return mixture / total, total",
            "the sum is given along with the mixture; the mixture alone is asked for",
        ),
        Wrong(
            "    return mixture / total",
            "    parts = [torch.softmax(a, dim=0) @ b * len(a) for a, b in "
            "zip(blocks, values)]\n"
            "    return sum(parts) / sum(map(len, blocks))",
            "the blocks' own rows are averaged by how many keys they have; "
            "they should count by their sums of exponentials",
        ),
        Wrong(
            "    return mixture / total",
            "    return mixture / sum(map(len, blocks))",
            "it is divided by the number of keys; it should be divided by the "
            "sum of exponentials",
        ),
        Wrong(
            "    return mixture / total",
            "    return sum(torch.exp(a) @ b for a, b in zip(blocks, values)) / total",
            "the mixture is made of bare exponentials, and divided by a sum "
            "less the largest",
        ),
        Wrong(
            "    return mixture / total",
            "    return torch.cat(values).mean(dim=0)",
            "the plain mean of all values is given, whatever the scores are",
        ),
        Wrong(
            "mixture = mixture * shrink + grown @ rows",
            "mixture = mixture * shrink + rows.sum(dim=0)",
            "the values are added without their weights",
        ),
        Wrong(
            "    return mixture / total",
            "    parts = torch.stack([torch.softmax(a, 0) @ b for a, b in "
            "zip(blocks, values)])\n"
            "    return torch.softmax(torch.stack([one.max() for one in "
            "blocks]), 0) @ parts",
            "the blocks' own rows are weighed by their largest scores; they "
            "should count by their sums of exponentials",
        ),
        Wrong(
            "new = torch.maximum(largest, scores.max())",
            "new = blocks[0].max()",
            "the largest of the first block is taken for all blocks, so that larger "
            "ones overflow",
        ),
        Wrong(
            "torch.tensor(-torch.inf",
            "torch.tensor(-1e4",
            "the largest begins at a number such as -10000; scores may lie below it, "
            "and it should be minus infinity",
        ),
        Wrong(
            "torch.tensor(-torch.inf",
            "torch.tensor(-1e9",
            "the largest begins at -1e9; scores may lie below it, too, and it should "
            "be minus infinity",
        ),
        Wrong(
            "new = torch.maximum(largest, scores.max())",
            "new = torch.maximum(largest, scores.max())\n"
            "        if new == largest:\n"
            "            continue",
            "a block counts only if it has a new largest score",
        ),
        Wrong(
            "    for scores, rows in zip(blocks, values):\n",
            "    for scores, rows in zip(blocks[:1] + blocks, values[:1] + values):\n",
            "the first block is counted twice: to begin with, and in the loop",
        ),
        Wrong(
            "    return mixture / total",
            "    best = max(range(len(blocks)), key=lambda n: "
            "blocks[n].max().item())\n"
            "    return values[best][blocks[best].argmax()]",
            "the value with the largest score is given, and nothing is mixed",
        ),
        Wrong(
            "mixture = torch.zeros_like(values[0][0])",
            "mixture = torch.zeros_like(values[0][:1])",
            "the mixture has two axes, (1, V); it should have V numbers",
        ),
        Wrong(
            "grown @ rows\n",
            "grown * rows\n",
            "exponentials and values are multiplied number by number, which does not "
            "fit; @ also adds them up",
        ),
        Wrong(
            "grown @ rows\n",
            "rows @ grown\n",
            "the table of values stands on the left of the product, and the weights "
            "on the right",
        ),
        Wrong(
            "    return mixture / total",
            "    parts = torch.stack([torch.softmax(a, 0) @ b for a, b in zip(blocks, "
            "values)])\n"
            "    shares = torch.stack([one.logsumexp(0) for one in blocks])\n"
            "    return shares / shares.sum() @ parts",
            "the blocks' own rows count by their log-sum-exps; they should count by "
            "the exponentials of those",
        ),
        Wrong(
            "    return mixture / total",
            "    lse, out = torch.full_like(total, -torch.inf), mixture * 0\n"
            "    for scores, rows in zip(blocks, values):\n"
            "        lse = torch.logaddexp(lse, scores.logsumexp(0))\n"
            "        out = out + torch.exp(scores - lse) @ rows\n"
            "    return out",
            "the shares of earlier blocks are not rescaled when the log-sum-exp grows",
        ),
        Wrong(
            "grown @ rows\n",
            "grown @ rows / total\n",
            "what a block adds is divided by the sum so far, and all of it once more "
            "at the end",
        ),
        Wrong(
            "        largest = new\n    return mixture / total",
            "        largest = new\n        return mixture / total",
            "the loop ends after the first block, since return stands inside it",
        ),
        Wrong(
            "shrink = torch.exp(largest - new)",
            "shrink = torch.exp(largest) / torch.exp(new)",
            "the factor is a quotient of exponentials, which overflow or vanish; it "
            "should be the exponential of the difference",
            same_as="exponentials are taken without their largest: of high scores they "
            "overflow, and of low ones they vanish",
        ),
        Wrong(
            "shrink = torch.exp(largest - new)",
            "shrink = torch.exp(largest)",
            "what was summed is multiplied by the exponential of the old largest; it "
            "should be by that of old minus new",
        ),
        Wrong(
            "        grown = torch.exp(scores - new)\n"
            "        total = total * shrink + grown.sum()\n"
            "        mixture = mixture * shrink + grown @ rows\n"
            "        largest = new\n",
            "        for score, row in zip(scores, rows):\n"
            "            total = total * shrink + torch.exp(score - new)\n"
            "            mixture = mixture * shrink + torch.exp(score - new) * row\n"
            "        largest = new\n",
            "what was summed is shrunk once for each score of a block; it should be "
            "once for each block",
        ),
        Wrong(
            "        largest = new\n",
            "        largest = scores.max()\n",
            "the largest of the last block is kept, and not the largest so far",
        ),
        Wrong(
            "return mixture / total",
            "return mixture / (total + 1e-6)",
            "a small number is added to the sum before it is divided by",
        ),
        Wrong(
            "torch.exp(scores - new)",
            "torch.exp(new - scores)",
            "the difference is turned round in the exponential, so that low scores "
            "get most",
        ),
        Wrong(
            "        mixture = mixture * shrink + grown @ rows\n",
            "        mixture = (mixture * shrink + grown @ rows) / 2\n",
            "the old mixture and the new one are averaged; they should be added",
        ),
    ],
    survivors={"0 -> 1": "any row has the size and the type that zeros must have"},
    stars=2,
    minutes=12,
)
