"""One row a head, and still exact

A model writes: only the newest token asks. Then one row for each head is enough to say
how far back each key lies.

Write `row_bias(H, S)`: the bias of ALiBi for the newest of S tokens, shape (H, 1, S),
in 64 bits. Head h, counted from one, has the slope 2 ** (-8 h / H); H is a power of
two. Near keys must have the small numbers: zero for the newest key, then minus the
slope, minus twice the slope, and so on, so that rounding spoils only what is far.
"""

from headway.practice import Exercise, Wrong

# --- your file ---
import torch
from torch import Tensor


def row_bias(H: int, S: int) -> Tensor:
    """Give the bias (H, 1, S) of H heads for the newest of S tokens."""
    # --- write ---
    heads = torch.arange(1, H + 1, dtype=torch.float64)
    slopes = 2 ** (-8 * heads / H)
    behind = (S - 1) - torch.arange(S)
    return -slopes[:, None, None] * behind
    # --- written ---


if __name__ == "__main__":
    print(row_bias(4, 5)[0])
    # tensor([[-1.0000, -0.7500, -0.5000, -0.2500, -0.0000]], dtype=torch.float64)
# --- end of your file ---


EXERCISE = Exercise(
    answer="row_bias",
    read=(
        "positions/relative_bias/#the-property-only-the-difference-counts",
        "The property: only the difference counts",
    ),
    hints=(
        "How far back does the newest key lie, and the first of S?",
        "A column of slopes, one for each head, times a row of distances, which fall "
        "to zero at the newest key; with a minus.",
        "Count h from one in 64 bits. The row counts down from S - 1, and slopes need "
        "two axes more behind their own.",
    ),
    draw=lambda d: (d.H, d.S),
    trials=({"H": 8}, {"H": 4, "S": 4}, {"H": 2, "S": 1}, {"H": 16, "S": 30}),
    law="The bias depends on the distance alone, and near keys have small numbers, "
    "which are exact in any type.",
    right=[
        """
        rows = [[-(2 ** (-8 * h / H)) * (S - 1 - s) for s in range(S)]
                for h in range(1, H + 1)]
        return torch.tensor(rows, dtype=torch.float64)[:, None]
        """,
        """
        from headway import alibi_slopes
        slopes = alibi_slopes(H).double()
        return torch.einsum("h,s->hs", slopes, torch.arange(1 - S, 1.0).double())[
            :, None
        ]
        """,
    ],
    wrong=[
        Wrong(
            "behind = (S - 1) - torch.arange(S)",
            "behind = -torch.arange(S)",
            "keys are counted from the first: the weights are the same, until 16 bits "
            "spoil the newest keys, which have the largest numbers",
            exhibit="positions/#bias-in-bf16",
        ),
        Wrong(
            "-slopes[:, None, None] * behind",
            "slopes[:, None, None] * behind",
            "the bias of positions has the wrong sign",
            exhibit="positions/#position-bias-negated",
        ),
        Wrong(
            "behind = (S - 1) - torch.arange(S)",
            "behind = torch.arange(S)",
            "the newest token is taken for the first, so that the oldest key is the "
            "nearest",
            exhibit="positions/#bias-by-length",
        ),
        Wrong(
            "torch.arange(1, H + 1, dtype=torch.float64)",
            "torch.arange(H, dtype=torch.float64)",
            "heads are counted from zero, so that the first slope is one",
        ),
        Wrong(
            "2 ** (-8 * heads / H)",
            "2 ** -heads",
            "each slope is half of the one before, which is right for eight heads "
            "alone",
        ),
        Wrong("(S - 1) -", "S -", "every distance is one too large"),
        Wrong(
            "-slopes[:, None, None]",
            "-slopes[:, None]",
            "an axis is missing: the row of the one query",
        ),
        Wrong(
            "-slopes[:, None, None] * behind",
            "-slopes[:, None, None] * behind / S",
            "distances are divided by the length of the text",
        ),
        Wrong(
            "-slopes[:, None, None] * behind",
            "(-slopes[:, None, None] * behind).transpose(0, 1)",
            "the axes of heads and query are exchanged",
        ),
        Wrong(
            "2 ** (-8 * heads / H)",
            "2 ** (8 * heads / H)",
            "the minus in the exponent is lost, so that slopes are larger than one",
        ),
        Wrong(
            "2 ** (-8 * heads / H)",
            "2 ** (-8 * heads) / H",
            "the power is divided by H, and not the exponent",
        ),
        Wrong(
            "2 ** (-8 * heads / H)",
            "2 ** (-heads / H)",
            "the 8 in the exponent is forgotten",
        ),
        Wrong(
            "2 ** (-8 * heads / H)",
            "2 ** (-8 * (H + 1 - heads) / H)",
            "the heads stand in reverse order: the first has the steepest slope",
        ),
        Wrong(
            "2 ** (-8 * heads / H)",
            "torch.exp(-8 * heads / H)",
            "slopes are powers of e, and not of two",
        ),
        Wrong(
            "2 ** (-8 * heads / H)",
            "2 ** (-8 * heads // H)",
            "the exponent is rounded to a whole number",
        ),
        Wrong(
            "torch.arange(1, H + 1, dtype=torch.float64)",
            "torch.arange(1, H + 1)",
            "slopes are computed in 32 bits",
        ),
        Wrong(
            "-slopes[:, None, None] * behind",
            "-slopes[:, None, None] * behind**2",
            "distances are squared",
        ),
        Wrong(
            "-slopes[:, None, None] * behind",
            "-slopes[-1] * behind.expand(H, 1, S)",
            "all heads have one slope",
        ),
        Wrong(
            "behind = (S - 1) - torch.arange(S)",
            "behind = (torch.arange(S)[:, None] - torch.arange(S)).abs()",
            "there is a row for each of S queries, and the newest token alone asks",
        ),
    ],
    stars=1,
)
