"""A short memory

Write `short_memory(T, W)`: a mask that lets each of T tokens see the latest W tokens,
itself included, and no more.

The mask has shape (T, T), boolean, True where a token may look. This is called a
sliding window.
"""

from headway.practice import Exercise, Wrong

# --- your file ---
import torch
from torch import Tensor


def short_memory(T: int, W: int) -> Tensor:
    """Give a mask (T, T): True for a token and the W - 1 before it."""
    # --- write ---
    past = torch.ones(T, T, dtype=torch.bool).tril()
    return past.triu(1 - W)
    # --- written ---


if __name__ == "__main__":
    print(short_memory(6, 3).int())
    # tensor([[1, 0, 0, 0, 0, 0],
    #         [1, 1, 0, 0, 0, 0],
    #         [1, 1, 1, 0, 0, 0],
    #         [0, 1, 1, 1, 0, 0],
    #         [0, 0, 1, 1, 1, 0],
    #         [0, 0, 0, 1, 1, 1]], dtype=torch.int32)
# --- end of your file ---


EXERCISE = Exercise(
    answer="short_memory",
    read=("basics/masks/#two-more-masks", "Two more masks"),
    hints=(
        "How many places below the diagonal is the first key that is forgotten?",
        "Cut twice: what lies above the diagonal is the future, and what lies far "
        "below it is forgotten.",
        "tril keeps what lies on a diagonal and below, triu what lies on it and above. "
        "Diagonals below the middle have negative numbers.",
    ),
    draw=lambda d: (d.S, d.W),
    trials=({}, {"S": 9, "W": 1}, {"S": 5, "W": 5}, {"S": 4, "W": 7}),
    law="Every row sees W keys, except the first W - 1, which see all there are. "
    "Models for long texts use it: with a kernel that skips what is hidden, the cost "
    "grows with T times W and not with T times T.",
    right=[
        """
        # Distances compared: both rules can be read, the past and the window.
        t, s = torch.arange(T)[:, None], torch.arange(T)
        return (s <= t) & (t - s < W)
        """,
        """
        # Row by row: slow, but each slice is the window itself.
        mask = torch.zeros(T, T, dtype=torch.bool)
        for t in range(T):
            mask[t, max(0, t - W + 1) : t + 1] = True
        return mask
        """,
        """
        # The past, without what is older: two triangles subtracted.
        every = torch.ones(T, T, dtype=torch.bool)
        return every.tril() & ~every.tril(-W)
        """,
    ],
    wrong=[
        Wrong(
            "1 - W",
            "-W",
            "one token too many is seen: W count without the token itself",
            exhibit="caches/#window-too-wide",
        ),
        Wrong("1 - W", "2 - W", "one token too few is seen"),
        Wrong("past.triu(1 - W)", "past", "nothing is forgotten"),
        Wrong(".tril()", ".tril(W - 1)", "the window reaches into the future as well"),
        Wrong(
            "past.triu(1 - W)",
            "past & (torch.arange(T) < W)",
            "the first W tokens are seen; it should be the latest",
        ),
        Wrong("past.triu(1 - W)", "past.triu(1 - W).T", "rows and columns are swapped"),
        Wrong(
            "past.triu(1 - W)",
            "past & ~past.triu(1 - W)",
            "the mask is inverted: what the window holds is hidden",
        ),
        Wrong(
            ".tril()",
            ".clone()",
            "the future is seen: only what is forgotten is cut off",
        ),
        Wrong(
            "past.triu(1 - W)",
            "past.tril(-1).triu(-W)",
            "the window ends before the token itself: a token does not see itself",
        ),
        Wrong(
            "past.triu(1 - W)",
            "past | torch.ones_like(past).triu(1 - W)",
            "the two conditions are joined by or, so that one of them is enough",
        ),
        Wrong(
            "past.triu(1 - W)",
            "past & (torch.arange(T)[:, None] // W == torch.arange(T) // W)",
            "the text is cut into blocks of W, and each token sees its own block",
        ),
        Wrong(
            "past = torch.ones(T, T, dtype=torch.bool).tril()\n"
            "    return past.triu(1 - W)",
            "mask = torch.zeros(T, T, dtype=torch.bool)\n"
            "    for t in range(T):\n"
            "        mask[t, t - W + 1 : t + 1] = True\n"
            "    return mask",
            "the window begins below zero for the first tokens, and Python "
            "counts that from the end",
            hint="max(0, ...) keeps the beginning of a slice from going below zero.",
        ),
        Wrong(
            "past = torch.ones(T, T, dtype=torch.bool).tril()\n"
            "    return past.triu(1 - W)",
            "mask = torch.zeros(T, T, dtype=torch.bool)\n"
            "    for t in range(T):\n"
            "        mask[t, t - W : t + 1] = True\n"
            "    return mask",
            "the window begins one token too early, and below zero for the "
            "first tokens, where Python counts from the end",
        ),
        Wrong(
            "past = torch.ones(T, T, dtype=torch.bool).tril()\n"
            "    return past.triu(1 - W)",
            "mask = torch.zeros(T, T, dtype=torch.bool)\n"
            "    for t in range(T):\n"
            "        mask[t, t - W + 1 : t] = True\n"
            "    return mask",
            "the slice ends before the token itself, and begins below zero "
            "for the first tokens",
        ),
        Wrong(
            "past = torch.ones(T, T, dtype=torch.bool).tril()\n"
            "    return past.triu(1 - W)",
            "mask = torch.zeros(T, T, dtype=torch.bool)\n"
            "    for t in range(T):\n"
            "        mask[t, max(0, t - W + 1) : t] = True\n"
            "    return mask",
            "the slice ends before the token itself: a token does not see "
            "itself, and sees W - 1 before it",
        ),
        Wrong(
            "past = torch.ones(T, T, dtype=torch.bool).tril()\n"
            "    return past.triu(1 - W)",
            "mask = torch.zeros(T, T, dtype=torch.bool)\n"
            "    for t in range(W - 1, T):\n"
            "        mask[t, t - W + 1 : t + 1] = True\n"
            "    return mask",
            "tokens before the first full window see nothing; they should "
            "see all there are",
        ),
        Wrong(
            "past.triu(1 - W)",
            "past.triu(W - 1)",
            "the diagonal goes to the wrong side: the sign of its number is turned",
        ),
        Wrong(
            "past.triu(1 - W)",
            "past.triu(W)",
            "the diagonal goes to the wrong side, so that nothing is left",
        ),
        Wrong(
            "past.triu(1 - W)",
            "past.tril(W - 1)",
            "the past is cut by tril once more, which forgets nothing",
            same_as="nothing is forgotten",
        ),
        Wrong(
            "past.triu(1 - W)",
            "past.tril(1 - W)",
            "the mask holds what is forgotten and one token more",
        ),
        Wrong(
            "past.triu(1 - W)",
            "past ^ past.tril(1 - W)",
            "the oldest token of the window is taken off, too",
            same_as="one token too few is seen",
        ),
        Wrong(
            "past.triu(1 - W)",
            "past[:, :W]",
            "the table is cut to W columns; it should have T",
        ),
        Wrong(
            "past.triu(1 - W)",
            "past[-W:]",
            "the table is cut to W rows; it should have T",
        ),
        Wrong(
            "past.triu(1 - W)",
            "(past | past.T).tril(W).triu(-W)",
            "the distance is taken without its sign, and W counts without "
            "the token itself",
        ),
        Wrong(
            "past.triu(1 - W)",
            "past.triu(1 - W).fill_diagonal_(False)",
            "a token does not see itself",
            same_as="the slice ends before the token itself: a token does not see "
            "itself, and sees W - 1 before it",
        ),
        Wrong(
            "past.triu(1 - W)",
            "past & (torch.arange(T) >= T - W)",
            "the last W tokens of the text are seen; it should be the "
            "latest before each token",
        ),
        Wrong(
            "past.triu(1 - W)",
            "past & (torch.arange(T)[:, None] - torch.arange(T) == W - 1)",
            "only the oldest token of the window is seen",
        ),
        Wrong(
            "torch.ones(T, T, dtype=torch.bool).tril()",
            "torch.ones(T, W, dtype=torch.bool).tril()",
            "the table has W columns; it should have T",
        ),
        Wrong(
            "torch.ones(T, T, dtype=torch.bool).tril()",
            "torch.ones(T, T, dtype=torch.bool).triu()",
            "the future is seen: the second triu cuts nothing off",
        ),
        Wrong(
            "past = torch.ones(T, T, dtype=torch.bool).tril()\n"
            "    return past.triu(1 - W)",
            "every = torch.ones(T, T, dtype=torch.bool)\n"
            "    return every.triu().tril(W)",
            "rows and columns are swapped, and one token too many is seen",
        ),
        Wrong(
            "past = torch.ones(T, T, dtype=torch.bool).tril()\n"
            "    return past.triu(1 - W)",
            "mask = torch.zeros(T, T, dtype=torch.bool)\n"
            "    for t in range(T):\n"
            "        for s in range(t - W + 1, t + 1):\n"
            "            mask[t, s] = True\n"
            "    return mask",
            "the loop over keys begins below zero for the first tokens, and "
            "Python counts such places from the end",
            hint="max(0, ...) keeps the loop from going below zero.",
        ),
        Wrong(
            "past = torch.ones(T, T, dtype=torch.bool).tril()\n"
            "    return past.triu(1 - W)",
            "mask = torch.zeros(T, T, dtype=torch.bool)\n"
            "    for t in range(T):\n"
            "        mask[t, max(0, t - W // 2) : t + W // 2 + 1] = True\n"
            "    return mask",
            "the window lies around the token, half of it in the future",
        ),
        Wrong(
            "past = torch.ones(T, T, dtype=torch.bool).tril()\n"
            "    return past.triu(1 - W)",
            "mask = torch.zeros(T, T, dtype=torch.bool)\n"
            "    for t in range(T):\n"
            "        mask[t, : t if t < W else t + 1] = True\n"
            "    return mask.triu(1 - W)",
            "the first W tokens do not see themselves",
        ),
        Wrong(
            "past = torch.ones(T, T, dtype=torch.bool).tril()\n"
            "    return past.triu(1 - W)",
            "mask = torch.zeros(T, T, dtype=torch.bool)\n"
            "    for t in range(T):\n"
            "        mask[t, max(0, t - W + 1) if t >= W else 0 : t + 1 if t >= W "
            "else T] = True\n"
            "    return mask",
            "the first W tokens see the whole text, and the future with it",
        ),
        Wrong(
            "past = torch.ones(T, T, dtype=torch.bool).tril()\n"
            "    return past.triu(1 - W)",
            "mask = torch.zeros(T, T, dtype=torch.bool)\n"
            "    for t in range(T):\n"
            "        mask[t, max(0, t - W + 1) if t >= W else 0 : t + 1 if t >= W "
            "else W] = True\n"
            "    return mask",
            "the first W tokens see each other, and so the future",
        ),
        Wrong(
            "past = torch.ones(T, T, dtype=torch.bool).tril()\n"
            "    return past.triu(1 - W)",
            "first = torch.arange(T) < W\n"
            "    return torch.stack([first.roll(t - W + 1) for t in range(T)])",
            "a row is rolled, and what leaves it on the left comes back on the right",
        ),
        Wrong(
            "1 - W",
            "-W - 1",
            "two tokens too many are seen",
        ),
        Wrong(
            "past = torch.ones(T, T, dtype=torch.bool).tril()\n"
            "    return past.triu(1 - W)",
            "mask = torch.zeros(T, T, dtype=torch.bool)\n"
            "    for w in range(W):\n"
            "        mask |= torch.ones(T - w, dtype=torch.bool).diag(-w)\n"
            "    return mask",
            "W diagonals are laid, and the text has fewer than that if W is "
            "larger than T",
        ),
        Wrong(
            "past.triu(1 - W)",
            "torch.where(past.triu(1 - W), 0.0, -torch.inf)",
            "zeros and minus infinity are given; it should be True and False",
        ),
        Wrong(
            "past = torch.ones(T, T, dtype=torch.bool).tril()\n"
            "    return past.triu(1 - W)",
            "return torch.ones(W, W, dtype=torch.bool).tril().triu(1 - T)",
            "T and W are exchanged",
        ),
        Wrong(
            "past = torch.ones(T, T, dtype=torch.bool).tril()\n"
            "    return past.triu(1 - W)",
            "t, s = torch.arange(T)[:, None], torch.arange(T)\n"
            "    return (s <= t) and (t - s < W)",
            "`and`, a chain such as a <= b < c, or a bracket that is missing "
            "around a comparison asks for one answer; tables are joined by `&`, "
            "with brackets",
        ),
        Wrong(
            "past = torch.ones(T, T, dtype=torch.bool).tril()\n"
            "    return past.triu(1 - W)",
            "return torch.arange(T) > T - 1 - W",
            "the row of the last token alone is given; each should have one",
        ),
    ],
    minutes=5,
)
