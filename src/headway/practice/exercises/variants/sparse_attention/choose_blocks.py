"""Choose blocks, and do not look ahead

Keys are cut into blocks of `block` tokens, the last of which may be smaller, and each
query sees `keep` of them: its own, and those with the highest scores before it.

Write `choose_blocks(scores, block, keep)`: `scores` (T, N) has a score for each query
and block; the queries are the tokens 0, 1, ..., T - 1 of the same text. Scores may be
large, of either sign, and no two are equal. Give a table (T, N), boolean, True where
the query chose the block. Its own block is always among the `keep`, whatever its score,
and a block of the future never is: a query that has fewer blocks than `keep` sees those
it has. `keep` is at most N.
"""

from headway.practice import Exercise, Property

# --- your file ---
import torch
from torch import Tensor


def choose_blocks(scores: Tensor, block: int, keep: int) -> Tensor:
    """Choose blocks by scores (T, N), which gives a boolean table (T, N)."""
    # --- write ---
    T, N = scores.shape
    own, number = torch.arange(T)[:, None] // block, torch.arange(N)
    scores = scores.masked_fill(number > own, -torch.inf)
    scores = scores.masked_fill(number == own, torch.inf)
    best = scores.topk(keep, dim=1).indices
    chosen = torch.zeros(T, N, dtype=torch.bool).scatter(1, best, True)
    return chosen & (number <= own)
    # --- written ---


if __name__ == "__main__":
    keys, queries = [1, 3, 6, 8, 0, 2, 5, 1], [1, 1, 1, 1, 1, -1, 1, -1]
    means = torch.tensor(keys).double().view(4, 2).mean(dim=1)
    scores = torch.tensor(queries)[:, None] * means
    print(choose_blocks(scores, block=2, keep=2)[-2:].int())
    # tensor([[0, 1, 0, 1],
    #         [0, 0, 1, 1]], dtype=torch.int32)
# --- end of your file ---


def sees_no_future(choose_blocks, scores, block, keep):  # type: ignore[no-untyped-def]
    T, N = scores.shape
    ahead = torch.arange(N) > torch.arange(T)[:, None] // block
    before = choose_blocks(scores.clone(), block, keep)
    after = choose_blocks(torch.where(ahead, scores + 1e6, scores), block, keep)
    return torch.equal(before, after)


def draw(d):  # type: ignore[no-untyped-def]
    T, block = 2 * d.S, d.G
    scores = d.normal(T, -(-T // block))
    scores[-1, 0] = scores.max() + d.loud  # the highest of all, in the past
    return scores, block, d.W


EXERCISE = Exercise(
    answer="choose_blocks",
    read=("variants/sparse_attention/#in-tensors", "In tensors"),
    hints=(
        "What must be done with the scores of future blocks: before the choice, or "
        "after it?",
        "Give future blocks the lowest score there is, and a query's own block the "
        "highest; then take the best. With few blocks, the lowest may be among them.",
        "masked_fill twice, topk along the blocks, scatter True into a table of False; "
        "at last take out what lies in the future all the same.",
    ),
    draw=draw,
    trials=(
        {"S": 7, "G": 2, "W": 3},
        {"S": 8, "G": 3, "W": 2},
        {"S": 6, "G": 3, "W": 1},
        {"S": 5, "G": 1, "W": 4},
        {"S": 3, "G": 2, "W": 3},
        {"S": 7, "G": 2, "W": 2, "loud": 1e10},
    ),
    properties=[
        Property("scores of the future change no choice of the past", sees_no_future)
    ],
    law="No choice moves when the future is changed; with all blocks kept, it is the "
    "causal mask, in blocks.",
    right=[
        """
        # A query at a time, with a sorted list of the blocks of its past.
        T, N = scores.shape
        chosen = torch.zeros(T, N, dtype=torch.bool)
        for t in range(T):
            own = t // block
            past = sorted(range(own), key=lambda i: float(scores[t, i]))
            for i in [own, *past[::-1][: keep - 1]]:
                chosen[t, i] = True
        return chosen
        """,
        """
        # By ranks: argsort twice gives each block its place in the order.
        T, N = scores.shape
        own, number = torch.arange(T)[:, None] // block, torch.arange(N)
        scores = scores.masked_fill(number > own, -torch.inf)
        scores[number == own] = torch.inf
        rank = scores.argsort(dim=1, descending=True).argsort(dim=1)
        return (rank < keep) & (number <= own)
        """,
    ],
    survivors={
        "number > own -> number >= own": "the own block gets the highest score "
        "afterwards",
    },
    stars=3,
    minutes=20,
)
