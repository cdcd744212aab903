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
        # Two loops in a list: slow, but each number can be seen.
        rows = [[-(2 ** (-8 * h / H)) * (S - 1 - s) for s in range(S)]
                for h in range(1, H + 1)]
        return torch.tensor(rows, dtype=torch.float64)[:, None]
        """,
        """
        # The book's slopes, and einsum for a table of all products.
        from headway import alibi_slopes
        slopes = alibi_slopes(H).double()
        return torch.einsum("h,s->hs", slopes, torch.arange(1 - S, 1.0).double())[
            :, None
        ]
        """,
        """
        # Powers of one factor: slopes are a geometric row, which cumprod makes.
        slopes = torch.full((H,), 2 ** (-8 / H), dtype=torch.float64).cumprod(0)
        return torch.outer(slopes, torch.arange(1 - S, 1).double()).unsqueeze(1)
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
            "the axis of the one query is missing: it should be (H, 1, S)",
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
            "the power is divided by H; it should be the exponent",
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
            "the exponent is rounded to a whole number; it should stay a fraction",
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
            "there is a row for each of S queries; the newest token alone should ask",
        ),
        Wrong(
            "2 ** (-8 * heads / H)",
            "(2 ** (-8 * heads / H)).float().double()",
            "slopes are rounded to 32 bits, and turned into 64 afterwards",
            same_as="slopes are computed in 32 bits",
        ),
        Wrong(
            "-slopes[:, None, None] * behind",
            "-slopes[0] * behind.expand(H, 1, S)",
            "all heads have the slope of the first",
        ),
        Wrong(
            "-slopes[:, None, None] * behind",
            "(-slopes[:, None, None] * behind).mT",
            "the axis of the one query stands last: (H, S, 1); it should be (H, 1, S)",
        ),
        Wrong(
            "behind = (S - 1) - torch.arange(S)",
            "behind = torch.arange(S)[:, None] - torch.arange(S)",
            "there is a table of all queries and keys; it should be the row of the "
            "newest token",
        ),
        Wrong(
            "behind = (S - 1) - torch.arange(S)",
            "behind = (torch.arange(S)[:, None] - torch.arange(S)).clamp(min=0)",
            "there is a table of all queries and keys, with zeros for the future; "
            "it should be its last row",
        ),
        Wrong(
            "2 ** (-8 * heads / H)",
            "2 ** (-8 * heads)",
            "the exponent is not divided by H",
        ),
        Wrong(
            "2 ** (-8 * heads / H)",
            "2.0 ** (-(8 // H) * heads)",
            "8 / H is rounded to a whole number; it should stay a fraction",
        ),
        Wrong(
            "2 ** (-8 * heads / H)",
            "2 ** (-8 / heads)",
            "the exponent is divided by the number of the head; it should be "
            "multiplied by it and divided by H",
        ),
        Wrong(
            "2 ** (-8 * heads / H)",
            "2 ** (-H * heads / 8)",
            "8 and H are exchanged in the exponent",
        ),
        Wrong(
            "2 ** (-8 * heads / H)",
            "-8 * heads / H",
            "there is no power: the exponent is taken for the slope",
        ),
        Wrong(
            "-slopes[:, None, None] * behind",
            "-slopes[:, None, None] + behind",
            "slope and distance are added; they should be multiplied",
        ),
        Wrong(
            "-slopes[:, None, None] * behind",
            "(-slopes[:, None, None] * behind).exp()",
            "the exponential is taken, which the softmax does",
        ),
        Wrong(
            "-slopes[:, None, None] * behind",
            "-slopes[:, None, None] * (behind + 0.0).log1p()",
            "logarithms of distances are taken; it should be the distances",
        ),
        Wrong(
            "-slopes[:, None, None] * behind",
            "(-slopes[:, None, None] * behind)[:1]",
            "only the first head is given",
        ),
        Wrong(
            "-slopes[:, None, None] * behind",
            "(-slopes[:, None, None] * behind)[None]",
            "there is an axis for the texts in front; it should be (H, 1, S)",
        ),
        Wrong(
            "behind = (S - 1) - torch.arange(S)",
            "behind = torch.full((S,), S - 1)",
            "all keys lie equally far back",
        ),
        Wrong(
            "2 ** (-8 * heads / H)",
            "2 ** -(8 * heads // H)",
            "8 h / H is rounded down to a whole number, so that with more than eight "
            "heads two share a slope",
        ),
        Wrong(
            "2 ** (-8 * heads / H)",
            "torch.linspace(2 ** (-8 / H), 2**-8, H, dtype=torch.float64)",
            "slopes lie evenly between the first and the last; each should be a "
            "power of two",
        ),
        Wrong(
            "2 ** (-8 * heads / H)",
            "torch.logspace(-8 / H, -8, H, dtype=torch.float64)",
            "slopes are powers of ten, the base of logspace, and not of two",
        ),
        Wrong(
            "2 ** (-8 * heads / H)",
            "torch.logspace(0, -8, H, base=2, dtype=torch.float64)",
            "the exponents go evenly from 0 to -8; they should begin at -8 / H",
        ),
        Wrong(
            "2 ** (-8 * heads / H)",
            "2 ** (-8 * heads / (H + 1))",
            "the exponent is divided by H + 1",
        ),
        Wrong(
            "2 ** (-8 * heads / H)",
            "2 ** (-8 / H) * heads",
            "the power is multiplied by the number of the head; the exponent should be",
        ),
        Wrong(
            "-slopes[:, None, None]",
            "-slopes",
            "slopes get no axes behind their own, so that they are laid along the keys",
        ),
        Wrong(
            "2 ** (-8 * heads / H)",
            "2 ** (-8 * heads / S)",
            "the exponent is divided by the number of tokens; it should be by H",
        ),
    ],
    stars=1,
    minutes=8,
)
