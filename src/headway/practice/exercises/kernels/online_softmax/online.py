"""One pass over the keys

Write `online(blocks, values)`: what softmax times values gives for one query, without
ever having all scores at once.

`blocks` is a list of scores, each of shape (n), and `values` a list of tables (n, V).
Keep three things while you go: the largest score so far, the sum of exponentials, and
the mixture. When the largest grows, shrink what you have. Scores may be large, of
either sign. The result has V numbers.
"""

from headway.practice import Exercise, Forbidden

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
    survivors={"0 -> 1": "any row has the size and the type that zeros must have"},
    stars=2,
    minutes=12,
)
