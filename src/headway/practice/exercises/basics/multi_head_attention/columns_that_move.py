"""See the heads meet

Write `columns_that_move(attend, x, head)`: which columns of a module's result does one
head reach?

`attend` is a `MultiHeadAttention` with H = attend.num_heads heads; x has shape
(T, d_in), and attend(x) has shape (T, E). Change the rows of `W_value` that belong to
the head, and nothing else; look which columns of the result move in any row, by more
than rounding; and leave the weights as they were, to the last digit. The answer is
boolean, of shape (E,).
"""

from headway.practice import Exercise

# --- your file ---
import torch
from torch import Tensor, nn

from headway import MultiHeadAttention


def columns_that_move(attend: MultiHeadAttention, x: Tensor, head: int) -> Tensor:
    """Give (E,): True for each column of attend(x) that a head reaches."""
    # --- write ---
    D = attend.W_value.out_features // attend.num_heads
    rows = slice(head * D, (head + 1) * D)
    kept = attend.W_value.weight.detach().clone()
    before = attend(x)
    with torch.no_grad():
        attend.W_value.weight[rows] += 1.0
        moved = (attend(x) - before).abs() > 1e-9
        attend.W_value.weight.copy_(kept)
    return moved.any(dim=0)
    # --- written ---


if __name__ == "__main__":
    torch.manual_seed(7)
    attend = MultiHeadAttention(5, 6, 11, 0.0, num_heads=2).double()
    x = torch.randn(7, 5, dtype=torch.float64)
    print(columns_that_move(attend, x, head=0).int())
    nn.init.eye_(attend.out_proj.weight)
    print(columns_that_move(attend, x, head=0).int())
    # tensor([1, 1, 1, 1, 1, 1], dtype=torch.int32)
    # tensor([1, 1, 1, 0, 0, 0], dtype=torch.int32)
# --- end of your file ---


def run(columns_that_move, x, weights, mix, head):  # type: ignore[no-untyped-def]
    from headway import attention

    attend = MultiHeadAttention(7, 12, 9, 0.0, 4, attend=attention).double()
    for name, weight in zip(("query", "key", "value"), weights, strict=True):
        getattr(attend, f"W_{name}").weight.data = weight.clone()
    attend.out_proj.weight.data = mix.clone()
    moved = columns_that_move(attend, x, head)
    after = "changed"
    if torch.allclose(attend.W_value.weight, weights[2]):
        after = "changed by rounding"
    if torch.equal(attend.W_value.weight, weights[2]):
        after = "as it was"
    others = attend.W_query.weight, attend.W_key.weight, attend.out_proj.weight
    if not all(map(torch.equal, others, (*weights[:2], mix))):
        after = "changed in other weights"
    return {
        "the columns": moved,
        "the module afterwards": after,
    }


def mix(d):  # type: ignore[no-untyped-def]
    full = d.normal(12, 12)
    full[::5] *= 1e-5  # which move little
    blocks = torch.block_diag(*torch.ones(4, 3, 3)).double()
    return [full, full * blocks, torch.eye(12).double()[d.order(12)]][d.case % 3]


def tokens(d):  # type: ignore[no-untyped-def]
    """Draw tokens, so that all rows of a column rise or fall.

    In some trials the first has no values, so that its row never moves. A single one
    looks at itself, whatever queries and keys are.
    """
    T = 1 if d.case == 6 else 5
    return d.normal(T, 7).abs() * (torch.arange(T)[:, None] >= d.case % 2)


EXERCISE = Exercise(
    answer="columns_that_move",
    read=("basics/multi_head_attention/#what-out_proj-does", "What out_proj does"),
    hints=(
        "What do you compare, to see what one head reaches?",
        "Compute the result, change D rows of W_value under torch.no_grad(), compute "
        "it again, and ask of each column whether any row of it moved.",
        "The rows of head h begin at h times D. Compare with a small tolerance, since "
        "out_proj adds in some order; any(dim=...) goes over the tokens.",
    ),
    draw=lambda d: (tokens(d), d.normal(3, 12, 7), mix(d), d.case % 4),
    trials=[{"case": n} for n in range(7)],
    ask=run,
    law="With out_proj every column can draw on every head. With blocks on its "
    "diagonal, and zeros elsewhere, each head has a small projection of its own.",
    right=[
        """
        # On a copy: nothing need be put back.
        import copy

        D = attend.W_value.out_features // attend.num_heads
        other = copy.deepcopy(attend)
        other.W_value.weight.data[head * D : (head + 1) * D] *= -2.0
        return ~torch.isclose(other(x), attend(x), atol=1e-9).all(dim=0)
        """,
        """
        # Read off out_proj: quick, where the module is known to be of this kind.
        D = attend.W_value.out_features // attend.num_heads
        columns = attend.out_proj.weight[:, head * D : (head + 1) * D]
        return (columns != 0).any(dim=1)
        """,
    ],
    survivors={
        "1.0 -> 3.0": "any other change of the rows does as well",
        "(attend(x) - before).abs() > 1e-09 -> (attend(x) - before).abs() >= 1e-09": ""
        "no column moves by exactly that",
        "attend.W_value.weight.detach() -> attend.W_value.weight": "a clone that "
        "remembers its history holds the same numbers",
    },
    minutes=15,
)
