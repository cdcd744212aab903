"""How far do the row sums spread?

After dropout a row of weights no longer sums to one. Write `spread(weights, p)`: the
standard deviation of the sum of a row, over all draws.

`weights` is one row of S numbers that sum to one. Each is dropped with probability p,
on its own; what is kept grows by 1 / (1 - p). Give one number, exactly: look at all
cases, or find a formula.
"""

from headway.practice import Exercise

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


def run(spread, weights, p):  # type: ignore[no-untyped-def]
    first, second = float(spread(weights, p)), float(spread(weights, p))
    return first if first == second else "another number at each call"


EXERCISE = Exercise(
    answer="spread",
    read=("basics/scaling/#how-large-is-a-score", "How large is a score?"),
    hints=(
        "How large is the variance of one weight that is either zero or w / (1 - p)?",
        "Variances of draws that do not know of each other add up.",
        "One weight has a variance of p / (1 - p) times its square. Sum, then take the "
        "root.",
    ),
    draw=lambda d: (torch.softmax(d.normal(d.S), dim=-1), d.S / 20),
    ask=run,
    trials=({}, {"S": 4}, {"S": 2}),
    law="The more tokens share the attention, the less a row feels the dropout.",
    right=[
        """
        # All cases: slow, but no formula is needed, and it proves one.
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
        """
        # Standard deviations at right angles: their length is that of the weights.
        return float(weights.norm()) * (p / (1 - p)) ** 0.5
        """,
    ],
    minutes=12,
)
