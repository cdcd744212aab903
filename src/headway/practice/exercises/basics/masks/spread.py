"""How far do the row sums spread?

After dropout a row of weights no longer sums to one. Write `spread(weights, p)`: the
standard deviation of the sum of a row, over all draws.

`weights` is one row of S numbers that sum to one. Each is dropped with probability p,
on its own; what is kept grows by 1 / (1 - p). Give one number, exactly: look at all
cases, or find a formula.
"""

from headway.practice import Exercise, Wrong

# --- your file ---
import torch
from torch import Tensor


def spread(weights: Tensor, p: float) -> float:
    """Give the standard deviation of the sum of a row (S) after dropout."""
    # --- write ---
    variance = p / (1 - p) * (weights**2).sum()
    return float(variance**0.5)
    # --- written ---


if __name__ == "__main__":
    print(f"{spread(torch.full((6,), 1 / 6), 0.5):.4f}")
    # 0.4082
# --- end of your file ---


EXERCISE = Exercise(
    answer="spread",
    read=("basics/masks/#no-change-on-average", "No change on average"),
    hints=(
        "How large is the variance of one weight that is either zero or w / (1 - p)?",
        "Variances of draws that do not know of each other add up.",
        "One weight has a variance of p / (1 - p) times its square. Sum, then take the "
        "root.",
    ),
    draw=lambda d: (torch.softmax(d.normal(d.S), dim=-1), 0.3),
    ask=lambda spread, weights, p: float(spread(weights, p)),
    trials=({}, {"S": 4}, {"S": 2}),
    law="The more tokens share the attention, the less a row feels the dropout.",
    right=[
        """
        from itertools import product

        total = 0.0
        for kept in product((0, 1), repeat=len(weights)):
            chance = 1.0
            for k in kept:
                chance = chance * (1 - p if k else p)
            row = sum(k * w / (1 - p) for k, w in zip(kept, weights.tolist()))
            total = total + chance * (row - float(weights.sum())) ** 2
        return total**0.5
        """,
    ],
    wrong=[
        Wrong(
            "float(variance**0.5)",
            "float(variance)",
            "the variance is given, and not its root",
        ),
        Wrong("p / (1 - p)", "p * (1 - p)", "what is kept is not taken to grow"),
        Wrong(
            "(weights**2).sum()",
            "weights.sum() ** 2",
            "the sum is squared, and not each weight",
        ),
        Wrong("p / (1 - p)", "(1 - p) / p", "kept and dropped change places"),
        Wrong(
            "(weights**2).sum()",
            "(weights**2).mean()",
            "the mean of the variances is taken, and not their sum",
        ),
        Wrong("p / (1 - p)", "1 / (1 - p)", "the chance of being dropped is left out"),
    ],
)
