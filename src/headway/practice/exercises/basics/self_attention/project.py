"""Project all tokens at once

Write `project(x, weight, bias)`: one projection of every token of a batch.

Tokens have shape (B, T, E). The weight is stored as `torch.nn.Linear` stores it, with a
row for each number that comes out: (D, E). The bias has D numbers. The result is
(B, T, D).
"""

from headway.practice import Exercise, Wrong

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
    law="Every token is projected by the same matrix, wherever it stands.",
    right=[
        "return torch.nn.functional.linear(x, weight, bias)",
        "return torch.einsum('bte,de->btd', x, weight) + bias",
    ],
    wrong=[
        Wrong(
            "weight.T",
            "weight",
            "the weight is not transposed: its columns are taken for its rows",
            hint="In which axis of the weight stand the E numbers of a token?",
        ),
        Wrong(" + bias", "", "the bias is left out"),
        Wrong("+ bias", "- bias", "the bias is subtracted"),
        Wrong(
            "x @ weight.T + bias",
            "(x + x.mean()) @ weight.T + bias",
            "something is added to the tokens first",
        ),
        Wrong(
            "x @ weight.T + bias",
            "x[0] @ weight.T + bias",
            "only the first text is projected",
        ),
        Wrong(
            "x @ weight.T + bias",
            "(x @ weight.T + bias).mT",
            "the last two axes of the result are swapped",
        ),
        Wrong(
            "x @ weight.T + bias",
            "(x + bias) @ weight.T",
            "the bias is added before the product",
        ),
        Wrong(
            "x @ weight.T + bias",
            "x @ weight.view(x.shape[-1], -1) + bias",
            "the weight is given a new shape by view, which keeps the order of "
            "its numbers; .T turns it",
            hint="view((E, D)) and .T give tables of one shape. Which of them holds "
            "the same numbers in each row as before in each column?",
        ),
        Wrong(
            "x @ weight.T + bias",
            "x.reshape(-1, x.shape[-1]) @ weight.T + bias",
            "all tokens are put into one long table, which is never cut into "
            "texts again",
        ),
        Wrong("+ bias", "* bias", "it is multiplied by the bias"),
        Wrong(
            "x @ weight.T + bias",
            "weight @ x + bias",
            "the weight stands on the left, as if tokens were columns",
        ),
        Wrong(
            "x @ weight.T + bias",
            "weight @ x.mT + bias",
            "the weight stands on the left, so that tokens come out as columns",
        ),
        Wrong(
            "x @ weight.T + bias",
            "torch.nn.Linear(x.shape[-1], weight.shape[0], dtype=x.dtype)(x)",
            "a new layer draws a weight and a bias of its own, and those that are "
            "given are not used",
        ),
        Wrong(
            "x @ weight.T + bias",
            "torch.nn.Linear(x.shape[-1], weight.shape[0])(x)",
            "a new layer draws a weight and a bias of its own, in 32 bits, and those "
            "that are given are not used",
        ),
    ],
)
