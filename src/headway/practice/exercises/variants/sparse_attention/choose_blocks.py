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

from headway.practice import Exercise, Property, Wrong

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
    wrong=[
        Wrong(
            "    scores = scores.masked_fill(number > own, -torch.inf)\n",
            "",
            "the choice is among all blocks, and the future is hidden only afterwards: "
            "it takes places from the past",
            exhibit="variants/#a-choice-among-all",
        ),
        Wrong(
            "    scores = scores.masked_fill(number == own, torch.inf)\n",
            "",
            "a query's own block gets no place of its own, and is left out where "
            "others score better",
        ),
        Wrong(
            "    return chosen & (number <= own)",
            "    return chosen",
            "blocks of the future are chosen where the past has too few",
            exhibit="variants/#hidden-until-chosen",
        ),
        Wrong(
            "topk(keep, dim=1)",
            "topk(min(keep + 1, N), dim=1)",
            "`keep` blocks are chosen besides the query's own, which is one of them",
        ),
        Wrong(
            "topk(keep, dim=1)",
            "topk(keep, dim=1, largest=False)",
            "the blocks with the lowest scores are taken",
        ),
        Wrong(
            "    return chosen & (number <= own)",
            "    return chosen & (number < own)",
            "the own block is taken out with the future",
        ),
        Wrong(
            "torch.arange(T)[:, None] // block",
            "torch.arange(T)[:, None]",
            "tokens are taken for blocks, so that the future is not hidden",
        ),
        Wrong(
            "scores.masked_fill(number > own, -torch.inf)",
            "scores.masked_fill(number > own, 0.0)",
            "future blocks get the score zero, which is more than that of many others",
        ),
        Wrong(
            "topk(keep, dim=1)",
            "mean(dim=0, keepdim=True).expand(T, N).topk(keep, dim=1)",
            "all queries choose together",
        ),
        Wrong(
            "    scores = scores.masked_fill(number > own, -torch.inf)\n"
            "    scores = scores.masked_fill(number == own, torch.inf)\n",
            "",
            "blocks are chosen among all by score alone, and the future is taken out "
            "afterwards",
            exhibit="variants/#a-choice-among-all",
        ),
        Wrong(
            "topk(keep, dim=1)",
            "topk(keep - 1, dim=1)",
            "one block too few is chosen: the query's own is one of `keep`, and is "
            "among the best already",
        ),
        Wrong(
            "    scores = scores.masked_fill(number == own, torch.inf)\n"
            "    best = scores.topk(keep, dim=1).indices\n"
            "    chosen = torch.zeros(T, N, dtype=torch.bool).scatter(1, best, True)\n",
            "    best = scores.topk(keep, dim=1).indices\n"
            "    chosen = torch.zeros(T, N, dtype=torch.bool).scatter(1, best, True)\n"
            "    chosen = chosen | (number == own)\n",
            "the own block is put in at the end, which makes one too many where its "
            "score was low",
        ),
        Wrong(
            "// block",
            "% block",
            "the place in a block is taken for the number of the block",
        ),
        Wrong(
            "// block",
            "// (T // N)",
            "the size of a block is found by division, which is too small if the "
            "last block is not full",
        ),
        Wrong(
            "    best = scores.topk(keep, dim=1).indices\n"
            "    chosen = torch.zeros(T, N, dtype=torch.bool).scatter(1, best, True)\n",
            "    best = scores.topk(keep, dim=0).indices\n"
            "    chosen = torch.zeros(T, N, dtype=torch.bool).scatter(0, best, True)\n",
            "each block chooses queries, and not each query blocks: the wrong axis",
        ),
        Wrong(
            "    return chosen & (number <= own)",
            "    return ~(chosen & (number <= own))",
            "the table is turned round: True where a block is left out",
        ),
        Wrong(
            "    scores = scores.masked_fill(number > own, -torch.inf)\n"
            "    scores = scores.masked_fill(number == own, torch.inf)\n",
            "    scores = scores.masked_fill(number >= own, -torch.inf)\n",
            "the own block is hidden with the future, and is chosen only where "
            "too few are left",
        ),
        Wrong(
            "    scores = scores.masked_fill(number > own, -torch.inf)\n"
            "    scores = scores.masked_fill(number == own, torch.inf)\n"
            "    best = scores.topk(keep, dim=1).indices\n"
            "    chosen = torch.zeros(T, N, dtype=torch.bool).scatter(1, best, "
            "True)\n"
            "    return chosen & (number <= own)",
            "    scores = scores.masked_fill(number >= own, -torch.inf)\n"
            "    best = scores.topk(keep, dim=1).indices\n"
            "    chosen = torch.zeros(T, N, dtype=torch.bool).scatter(1, best, "
            "True)\n"
            "    return chosen & (number < own) | (number == own)",
            "the own block comes besides `keep` others; it should be one of the `keep`",
            same_as="`keep` blocks are chosen besides the query's own, which is one of "
            "them",
        ),
        Wrong(
            "torch.arange(T)[:, None] // block",
            "torch.arange(T)[:, None] // N",
            "a token's number is divided by how many blocks there are; it "
            "should be divided by their size",
        ),
        Wrong(
            "torch.arange(T)[:, None] // block",
            "torch.arange(1, T + 1)[:, None] // block",
            "tokens are counted from one, so that the last of a block belongs "
            "to the next",
        ),
        Wrong(
            "    best = scores.topk(keep, dim=1).indices\n",
            "    best = (number + 0 * scores).masked_fill(number > own, "
            "-1).topk(keep, dim=1).indices\n",
            "the latest blocks are chosen, whatever their scores",
        ),
        Wrong(
            "    best = scores.topk(keep, dim=1).indices\n",
            "    best = (number + 0 * scores).topk(keep, dim=1, "
            "largest=False).indices\n",
            "the first blocks of the text are chosen, whatever their scores",
        ),
        Wrong(
            "    return chosen & (number <= own)",
            "    return best",
            "the numbers of the blocks are given; a table of True and False is "
            "asked for",
        ),
        Wrong(
            "    return chosen & (number <= own)",
            "    return chosen & (number * block < torch.arange(T)[:, None])",
            "a query's own block is hidden from the first token of it",
        ),
        Wrong(
            "    best = scores.topk(keep, dim=1).indices\n"
            "    chosen = torch.zeros(T, N, dtype=torch.bool).scatter(1, best, "
            "True)\n"
            "    return chosen & (number <= own)",
            "    return (scores >= scores.mean(dim=1, keepdim=True)) & (number <= own)",
            "all blocks above the mean are chosen; it should be `keep` of them",
        ),
        Wrong(
            "    return chosen & (number <= own)",
            "    return number <= own",
            "all blocks of the past are chosen; it should be `keep` of them",
        ),
        Wrong(
            "    return chosen & (number <= own)",
            "    return number == own",
            "only a query's own block is chosen",
        ),
        Wrong(
            "number == own, torch.inf",
            "number == own, 0.0",
            "a query's own block gets the score zero; it should get the highest",
        ),
        Wrong(
            "    scores = scores.masked_fill(number == own, torch.inf)\n",
            "    scores = scores.masked_fill(number == 0, torch.inf)\n",
            "the first block always wins; a query's own block should",
        ),
        Wrong(
            "    scores = scores.masked_fill(number == own, torch.inf)\n",
            "    scores = scores.masked_fill(number == own, torch.inf)\n"
            "    scores = scores.masked_fill(number == 0, torch.inf)\n",
            "the first block of the text is always chosen as well",
        ),
        Wrong(
            "number > own, -torch.inf",
            "number < own, -torch.inf",
            "the past is hidden from the choice; the future should be",
        ),
        Wrong(
            "    return chosen & (number <= own)",
            "    return chosen.sort(dim=1, descending=True).values",
            "the choices of a query are moved to the left end of its row",
        ),
        Wrong(
            "    best = scores.topk(keep, dim=1).indices\n",
            "    best = scores.abs().topk(keep, dim=1).indices\n",
            "scores are taken without their sign",
        ),
        Wrong(
            "    best = scores.topk(keep, dim=1).indices\n",
            "    best = scores.argsort(dim=1)[:, :keep]\n",
            "the blocks are sorted from the lowest score on, and the first are taken",
            same_as="the blocks with the lowest scores are taken",
        ),
        Wrong(
            "    best = scores.topk(keep, dim=1).indices\n",
            "    best = scores.argsort(dim=1, "
            "descending=True).argsort(dim=1)[:, :keep]\n",
            "the ranks of the first blocks are taken for the numbers of the best",
        ),
        Wrong(
            "torch.arange(T)[:, None] // block",
            "torch.arange(T)[:, None] * N // T",
            "a query's own block is found as if all blocks were of one size; the "
            "last may be smaller",
        ),
        Wrong(
            "number == own, torch.inf",
            "number == own, 100.0",
            "a query's own block gets a large score, such as 100; scores may be "
            "larger, and it should be infinity",
        ),
        Wrong(
            "number > own, -torch.inf",
            "number > own, -1e9",
            "future blocks get a low score, such as -1e9; scores may be lower, and it "
            "should be minus infinity",
        ),
        Wrong(
            "    scores = scores.masked_fill(number > own, -torch.inf)\n"
            "    scores = scores.masked_fill(number == own, torch.inf)\n",
            "    scores = scores.masked_fill(number > own, -1e9)\n"
            "    scores = scores.masked_fill(number == own, 1e9)\n",
            "future blocks get a low score and a query's own a high one, such as 1e9; "
            "scores may go beyond, and it should be infinity",
        ),
        Wrong(
            "    return chosen & (number <= own)",
            "    return chosen & (number <= own) & ((number < own) | (own < keep))",
            "the own block is left out where there are more blocks than `keep`",
        ),
        Wrong(
            "torch.arange(T)[:, None] // block",
            "-(-torch.arange(T)[:, None] // block)",
            "the number of the own block is rounded up; it should be rounded down",
        ),
        Wrong(
            "    scores = scores.masked_fill(number > own, -torch.inf)\n"
            "    scores = scores.masked_fill(number == own, torch.inf)\n",
            "    complete = (number + 1) * block <= torch.arange(T)[:, None] + 1\n"
            "    scores = scores.masked_fill(~complete, -torch.inf)\n",
            "only blocks that are complete are taken; the own one should be, too",
        ),
        Wrong(
            "    return chosen & (number <= own)",
            "    chosen = chosen & (number <= own)\n"
            "    return chosen.repeat_interleave(block, dim=1)[:, :T]",
            "a table of tokens is given; it should be of blocks, (T, N)",
        ),
        Wrong(
            "    best = scores.topk(keep, dim=1).indices\n",
            "    lowest = scores.masked_fill(number > own, "
            "torch.inf).argsort(dim=1)[:, : keep - 1]\n"
            "    best = torch.cat([own, lowest], dim=1)\n",
            "besides the own block those with the lowest scores are taken",
        ),
        Wrong(
            "    best = scores.topk(keep, dim=1).indices\n",
            "    best = scores.topk(N if keep == 1 else keep, dim=1).indices\n",
            "with `keep` = 1 all are taken: a slice that begins at -(keep - 1) begins "
            "at zero then",
        ),
        Wrong(
            "    scores = scores.masked_fill(number == own, torch.inf)\n"
            "    best = scores.topk(keep, dim=1).indices\n",
            "    best = scores.topk(keep, dim=1).indices\n    best[:, -1:] = own\n",
            "the own block takes the place of the last of the best, though it may be "
            "among them already",
        ),
        Wrong(
            "scores = scores.masked_fill(number == own, torch.inf)",
            "scores = torch.where(number == own, scores.amax(1, True), scores)",
            "a query's own block gets the highest score of the row, which is a tie; "
            "it should be above all",
        ),
        Wrong(
            "torch.arange(T)[:, None] // block",
            "torch.arange(T)[:, None] / block",
            "the number of the own block is a fraction, by /; it should be whole, by "
            "//",
        ),
        Wrong(
            "    return chosen & (number <= own)",
            "    return chosen | (number <= own)",
            "all of the past is added by `|`; it should be cut to by &",
        ),
        Wrong(
            "number > own, -torch.inf",
            "number > own, torch.inf",
            "future blocks get the highest score",
        ),
        Wrong(
            "topk(keep, dim=1)",
            "topk(min(keep + 2, N), dim=1)",
            "two blocks too many are chosen: one is added where one should be taken "
            "away",
        ),
        Wrong(
            "number == own, torch.inf",
            "number != own, torch.inf",
            "all blocks but a query's own get the highest score",
        ),
    ],
    survivors={
        "number > own -> number >= own": "the own block gets the highest score "
        "afterwards",
    },
    stars=3,
    minutes=20,
)
