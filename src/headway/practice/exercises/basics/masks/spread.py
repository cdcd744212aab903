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
    wrong=[
        Wrong(
            "float(variance**0.5)",
            "float(variance)",
            "the variance is given, and not its root",
        ),
        Wrong(
            "p / (1 - p)",
            "p * (1 - p)",
            "what is kept is taken to stay as it is; it should grow by 1 / (1 - p)",
        ),
        Wrong(
            "(weights**2).sum()",
            "weights.sum() ** 2",
            "the sum is squared; each weight should be",
        ),
        Wrong("p / (1 - p)", "(1 - p) / p", "kept and dropped change places"),
        Wrong(
            "(weights**2).sum()",
            "(weights**2).mean()",
            "the mean of the variances is taken, and not their sum",
        ),
        Wrong("p / (1 - p)", "1 / (1 - p)", "the chance of being dropped is left out"),
        Wrong(
            "    variance = p / (1 - p) * (weights**2).sum()\n"
            "    return float(variance**0.5)",
            "    keep = torch.rand(2000, len(weights), "
            "dtype=weights.dtype) > p\n"
            "    return float((keep * weights / (1 - p)).sum(dim=-1).std())",
            "draws are simulated, so that each call gives another number; "
            "all cases, or a formula, give it exactly",
        ),
        Wrong(
            "p / (1 - p) *",
            "0.25 / (1 - p) ** 2 *",
            "all cases count the same, as if p were one half",
        ),
        Wrong(
            "    variance = p / (1 - p) * (weights**2).sum()\n",
            "    variance = 0.25 / (1 - p) ** 2 * (weights**2).sum()\n"
            "    variance = variance + (0.5 / (1 - p) - 1) ** 2\n",
            "all cases count the same, as if p were one half, and their "
            "distance from one is taken",
        ),
        Wrong(
            "    variance = p / (1 - p) * (weights**2).sum()\n",
            "    n = 2 ** len(weights)\n"
            "    variance = 0.25 / (1 - p) ** 2 * (weights**2).sum() * n / "
            "(n - 1)\n",
            "all cases count the same, by std of a tensor of all cases, "
            "which divides by one less than their number",
        ),
        Wrong(
            "(weights**2).sum()",
            "weights.sum()",
            "the weights are not squared",
            same_as="the sum is squared; each weight should be",
        ),
        Wrong(
            "    variance = p / (1 - p) * (weights**2).sum()\n",
            "    variance = p / (1 - p)\n",
            "the weights do not count, as if one had all",
            same_as="the sum is squared; each weight should be",
        ),
        Wrong(
            "(weights**2).sum()",
            "1 / len(weights)",
            "all weights are taken to be equal",
        ),
        Wrong(
            "(weights**2).sum()",
            "len(weights)",
            "the number of weights stands where the sum of their squares should",
        ),
        Wrong(
            "p / (1 - p) *",
            "p *",
            "what is kept grows by one factor less: the variance is p (1 - "
            "p) over (1 - p) squared",
        ),
        Wrong(
            "p / (1 - p) *",
            "p / (1 - p) ** 2 *",
            "the chance of being kept is left out: the variance is p (1 - "
            "p) over (1 - p) squared",
        ),
        Wrong(
            "p / (1 - p) *",
            "1 / (1 - p) ** 2 *",
            "the factor of growth alone counts, and no chance",
        ),
        Wrong(
            "p / (1 - p) *",
            "(p / (1 - p)) ** 2 *",
            "p / (1 - p) is squared, as if it were a standard deviation",
        ),
        Wrong(
            "p / (1 - p) *",
            "p * (1 - p) ** 2 *",
            "it is multiplied by 1 - p where it should be divided",
        ),
        Wrong(
            "p / (1 - p) *",
            "(1 - p) *",
            "the chance of being kept is taken for the variance of a weight",
        ),
        Wrong(
            "p / (1 - p) *",
            "1.0 *",
            "p does not count",
        ),
        Wrong(
            "(weights**2).sum()",
            "(weights**2).sum() / len(weights) ** 2",
            "the variance is that of the mean of the row; it should be that of its sum",
        ),
        Wrong(
            "(weights**2).sum()",
            "weights.var()",
            "the variance among the weights is taken; it should be that of "
            "their sum over all draws",
        ),
        Wrong(
            "    variance = p / (1 - p) * (weights**2).sum()\n"
            "    return float(variance**0.5)",
            "    return float(weights.std())",
            "the weights' own standard deviation is given, and dropout does not count",
        ),
        Wrong(
            "(weights**2).sum()\n",
            "(weights**2).sum() + weights.sum() ** 2\n",
            "the mean of the square is taken, and the square of the mean "
            "is not taken off",
        ),
        Wrong(
            "float(variance**0.5)",
            "float(variance**0.5) / (1 - p)",
            "it is divided by 1 - p once more",
        ),
        Wrong(
            "float(variance**0.5)",
            "round(float(variance**0.5), 4)",
            "the number is rounded to four digits",
        ),
        Wrong(
            "float(variance**0.5)",
            "float(variance) ** 2",
            "the variance is squared; its root is asked for",
        ),
        Wrong(
            "(weights**2).sum()",
            "(weights**4).sum()",
            "the weights are squared twice",
        ),
        Wrong(
            "(weights**2).sum()",
            "(weights**2).max()",
            "the largest weight alone counts",
        ),
        Wrong(
            "float(variance**0.5)",
            "float((p / (1 - p) * (weights * (1 - weights)).sum()) ** 0.5)",
            "the variance of a weight is taken to be w (1 - w), as if one token were "
            "drawn by the weights",
        ),
        Wrong(
            "p / (1 - p) *",
            "p**2 / (1 - p) *",
            "the chance of being dropped comes in twice",
        ),
        Wrong(
            "    variance = p / (1 - p) * (weights**2).sum()\n"
            "    return float(variance**0.5)",
            "    from itertools import product\n"
            "\n"
            "    total = 0.0\n"
            "    for kept in product((0, 1), repeat=len(weights)):\n"
            "        chance = 1.0\n"
            "        for k in kept:\n"
            "            chance = chance * (1 - p if k else p)\n"
            "        row = sum(k * w / (1 - p) for k, w in zip(kept, "
            "weights.tolist()))\n"
            "        total = total + chance * abs(row - 1.0)\n"
            "    return total",
            "the mean distance from one is given; it should be the root of the mean "
            "square",
        ),
        Wrong(
            "    variance = p / (1 - p) * (weights**2).sum()\n"
            "    return float(variance**0.5)",
            "    from itertools import product\n"
            "\n"
            "    total = 0.0\n"
            "    for kept in product((0, 1), repeat=len(weights)):\n"
            "        chance = 1.0\n"
            "        for k in kept:\n"
            "            chance = chance * (p if k else 1 - p)\n"
            "        row = sum(k * w / (1 - p) for k, w in zip(kept, "
            "weights.tolist()))\n"
            "        total = total + chance * (row - 1.0) ** 2\n"
            "    return total**0.5",
            "a kept weight gets the chance p, and a dropped one 1 - p; it is the "
            "other way round",
        ),
        Wrong(
            "    variance = p / (1 - p) * (weights**2).sum()\n"
            "    return float(variance**0.5)",
            "    from itertools import product\n"
            "\n"
            "    total = 0.0\n"
            "    for kept in product((0, 1), repeat=len(weights)):\n"
            "        chance = 1.0\n"
            "        for k in kept:\n"
            "            chance = chance * (1 - p if k else p)\n"
            "        row = sum(k * w for k, w in zip(kept, weights.tolist()))\n"
            "        total = total + chance * (row - 1.0) ** 2\n"
            "    return total**0.5",
            "all cases are looked at, and what is kept does not grow",
        ),
        Wrong(
            "    variance = p / (1 - p) * (weights**2).sum()\n"
            "    return float(variance**0.5)",
            "    return float((p / (1 - p) * (weights.float() ** 2).sum()) ** 0.5)",
            "it is computed in 32 bits",
        ),
        Wrong(
            "p / (1 - p) * (weights**2).sum()",
            "p * (1 - p) * (weights**2).mean()",
            "what is kept is taken to stay as it is, and the mean of the variances is "
            "taken, and not their sum",
        ),
        Wrong(
            "p / (1 - p) * (weights**2).sum()",
            "p * (1 - p) * weights.sum() ** 2",
            "what is kept is taken to stay as it is, and the sum is squared; each "
            "weight should be",
        ),
        Wrong(
            "p / (1 - p) * (weights**2).sum()",
            "p * (1 - p) / len(weights)",
            "what is kept is taken to stay as it is, and all weights to be equal",
        ),
        Wrong(
            "p / (1 - p) * (weights**2).sum()",
            "p * (1 - p) * weights.var()",
            "what is kept is taken to stay as it is, and the variance among the "
            "weights is taken",
        ),
        Wrong(
            "p / (1 - p) * (weights**2).sum()",
            "p * (1 - p) * len(weights)",
            "the number of kept weights is looked at, as if each weight were one",
        ),
        Wrong(
            "p / (1 - p) * (weights**2).sum()",
            "(1 - p) / p * (weights**2).mean()",
            "kept and dropped change places, and the mean of the variances is taken",
        ),
        Wrong(
            "p / (1 - p)",
            "p / (1 + p)",
            "it is divided by 1 + p; it should be by 1 - p",
        ),
    ],
    minutes=12,
)
