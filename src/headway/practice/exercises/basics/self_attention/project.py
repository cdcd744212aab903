"""Project all tokens at once

Write `project(x, weight, bias)`: one projection of every token of a batch.

Tokens have shape (B, T, E). The weight is stored as `torch.nn.Linear` stores it, with a
row for each number that comes out: (D, E). The bias has D numbers. The result is
(B, T, D).
"""

from headway.practice import Exercise
from headway.practice.task.definition import DIFFERENT, EQUAL

# --- your file ---
import torch
from torch import Tensor


def project(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Project tokens (B, T, E) by a weight (D, E) and a bias (D) to (B, T, D)."""
    # --- write ---
    return x @ weight.T + bias
    # --- written ---


if __name__ == "__main__":
    x = torch.tensor([[[1.0, 2.0, 3.0]]])
    weight = torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
    print(project(x, weight, torch.tensor([0.0, 0.5])))
    # tensor([[[1.0000, 5.5000]]])
# --- end of your file ---


EXERCISE = Exercise(
    answer="project",
    read=(
        "basics/self_attention/#the-same-with-linear-layers",
        "The same with linear layers",
    ),
    hints=(
        "Each number of the result is a dot product; of which row of the weight?",
        "A product x @ w adds up over the last axis of x and the first axis of w, but "
        "the weight has its E numbers in the last axis.",
        "Turn the weight around with .T before you multiply, and do not forget the "
        "bias.",
    ),
    draw=lambda d: (d.normal(d.B, d.T, d.E), d.normal(d.D, d.E), d.normal(d.D)),
    trials=(DIFFERENT, EQUAL, {"B": 1, "T": 1}),
    law="Every token is projected by the same matrix, wherever it stands.",
    right=[
        """
        # What nn.Linear calls: the weight goes in as it is stored.
        return torch.nn.functional.linear(x, weight, bias)
        """,
        """
        # einsum names the axes: e goes, and nothing needs to be turned around.
        return torch.einsum('bte,de->btd', x, weight) + bias
        """,
        """
        # Number by number: slow, but each is seen to be a dot product with one row.
        rows = [(x * row).sum(dim=-1) for row in weight]
        return torch.stack(rows, dim=-1) + bias
        """,
    ],
    minutes=4,
)
