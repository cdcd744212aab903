"""See the heads meet

Write `columns_that_move(attend, x, head)`: which columns of a module's result does one
head reach?

`attend` is a `MultiHeadAttention` with H = attend.num_heads heads; x has shape
(T, d_in), and attend(x) has shape (T, E). Change the rows of `W_value` that belong to
the head, and nothing else; look which columns of the result move in any row, by more
than rounding; and leave the weights as they were, to the last digit. The answer is
boolean, of shape (E,).
"""

from headway.practice import Exercise, Wrong

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
    wrong=[
        Wrong(
            "        attend.W_value.weight.copy_(kept)\n",
            "",
            "the weights are not put back",
        ),
        Wrong(
            ".detach().clone()",
            ".detach()",
            "the copy shares its memory with the weights, and changes with them",
            same_as="the weights are not put back",
        ),
        Wrong(
            "attend.W_value.weight[rows] += 1.0",
            "attend.W_value.weight += 1.0",
            "all rows are changed, and so all heads",
        ),
        Wrong(
            "attend.W_value.weight[rows] += 1.0",
            "attend.W_value.weight[:, head] += 1.0",
            "a column of the weight is changed, which belongs to all heads",
            same_as="all rows are changed, and so all heads",
        ),
        Wrong(
            "slice(head * D, (head + 1) * D)",
            "slice((head - 1) * D, head * D)",
            "heads are counted from one",
        ),
        Wrong(
            "slice(head * D, (head + 1) * D)",
            "slice(head, None, attend.num_heads)",
            "every H-th row is changed, as if the rows were dealt out in turn",
        ),
        Wrong(
            "moved.any(dim=0)",
            "moved.any(dim=1)",
            "rows are looked at, and not columns",
        ),
        Wrong(
            "return moved.any(dim=0)",
            "return moved",
            "each number of the result has an answer; each column should have one",
        ),
        Wrong(
            "moved.any(dim=0)",
            "moved.all(dim=0)",
            "a column counts only if it moves in all rows; one is enough",
        ),
        Wrong(
            "moved.any(dim=0)",
            "moved[0]",
            "only the first row is looked at; all should be",
            same_as="a column counts only if it moves in all rows; one is enough",
        ),
        Wrong(
            "moved.any(dim=0)",
            "~moved.any(dim=0)",
            "True is told of columns that stay",
        ),
        Wrong(
            "moved.any(dim=0)",
            "moved.any(dim=0).int()",
            "ones and zeros are given, and not True and False",
        ),
        Wrong(
            "moved.any(dim=0)",
            "moved.any(dim=0).nonzero().flatten()",
            "the numbers of the columns are given, and not True or False for each",
        ),
        Wrong(
            "(attend(x) - before).abs() > 1e-9",
            "attend(x) - before > 1e-9",
            "the sign is left, so that a column that falls is missed",
        ),
        Wrong(
            "weight[rows] +=",
            "weight[:, rows] +=",
            "columns of the weight are changed, and not rows",
        ),
        Wrong(
            "slice(head * D, (head + 1) * D)",
            "slice(head, head + 1)",
            "one row is changed; it should be the D rows of the head",
        ),
        Wrong(
            "(head + 1) * D)",
            "(head + 1) * D - 1)",
            "the last row of the head is left as it was",
        ),
        Wrong(
            "return moved.any(dim=0)",
            "return torch.arange(len(kept)) // D == head",
            "the columns are given where the head's own stand, as if out_proj "
            "were not there",
        ),
        Wrong(
            "    before = attend(x)\n"
            "    with torch.no_grad():\n"
            "        attend.W_value.weight[rows] += 1.0\n",
            "    with torch.no_grad():\n"
            "        attend.W_value.weight[rows] += 1.0\n"
            "        before = attend(x)\n",
            "both results are computed after the change, so that nothing moves",
        ),
        Wrong(
            "        attend.W_value.weight[rows] += 1.0\n",
            "        weight = attend.W_value.weight.clone()\n"
            "        weight[rows] += 1.0\n",
            "a copy of the weight is changed, and not the module",
            same_as="both results are computed after the change, so that nothing moves",
        ),
        Wrong(
            "with torch.no_grad():",
            "if True:",
            "parameters are written to while PyTorch records, which it refuses",
        ),
        Wrong(
            "moved.any(dim=0)",
            "moved.any()",
            "one answer is given for all columns; each should have its own",
        ),
        Wrong(
            "return moved.any(dim=0)",
            "return (attend.out_proj.weight[rows] != 0).any(dim=0)",
            "rows of out_proj are looked at; a head comes in by columns",
        ),
        Wrong(
            "return moved.any(dim=0)",
            "return (attend.out_proj.weight[:, rows] != 0).all(dim=1)",
            "a column counts only if it takes all numbers of the head; one is enough",
        ),
        Wrong(
            "return moved.any(dim=0)",
            "return (attend.out_proj.weight[:, rows] != 0).any(dim=0)",
            "the answer is over the columns of the head in out_proj; it should be "
            "over the rows of out_proj, which are columns of the result",
        ),
        Wrong(
            "attend.W_value.out_features // attend.num_heads",
            "attend.num_heads",
            "the number of heads is taken for the width of one",
        ),
        Wrong(
            "attend.W_value.out_features // attend.num_heads",
            "attend.W_value.in_features // attend.num_heads",
            "D is computed from the width of the tokens; it should be from that of "
            "the values",
            same_as="one row is changed; it should be the D rows of the head",
        ),
        Wrong(
            "slice(head * D, (head + 1) * D)",
            "slice(head, head + D)",
            "the rows begin at the number of the head; they should begin at D times it",
        ),
        Wrong(
            "slice(head * D, (head + 1) * D)",
            "slice(head * D, head + 1 * D)",
            "a pair of parentheses is missing: head + 1 * D is head + D",
        ),
        Wrong(
            "(attend(x) - before).abs() > 1e-9",
            "(attend(x) - before).abs() < 1e-9",
            "what stays is taken for what moves, in each number",
        ),
        Wrong(
            "attend.W_value.weight[rows] += 1.0",
            "attend.out_proj.weight[rows] += 1.0",
            "rows of out_proj are changed, and not of W_value",
            same_as="the columns are given where the head's own stand, as if "
            "out_proj were not there",
        ),
        Wrong(
            "attend.W_value.weight[rows] += 1.0",
            "attend.out_proj.weight[:, rows] += 1.0",
            "columns of out_proj are changed, so that every column moves, whatever "
            "stands there",
            same_as="all rows are changed, and so all heads",
        ),
        Wrong(
            "moved.any(dim=0)",
            "moved.any(dim=0).float()",
            "numbers are given; it should be True and False",
        ),
        Wrong(
            "        attend.W_value.weight.copy_(kept)\n",
            "        attend.W_value.weight[rows] -= 1.0\n",
            "what was added is taken off again, which leaves the weights changed "
            "by rounding: a copy put back does not",
        ),
        Wrong(
            "slice(head * D, (head + 1) * D)",
            "slice((head + 1) * D, (head + 2) * D)",
            "the rows of the next head are changed",
        ),
        Wrong(
            "slice(head * D, (head + 1) * D)",
            "slice(head * D, None)",
            "all rows from the head on are changed, and so the heads behind it",
        ),
        Wrong(
            "slice(head * D, (head + 1) * D)",
            "slice((head + 1) * D)",
            "all rows up to the head's last are changed, and so the heads before it",
        ),
        Wrong(
            "attend.W_value.weight[rows] += 1.0",
            "attend.W_value.weight[rows] += 1.0\n"
            "        attend.W_key.weight[rows] += 1.0",
            "rows of W_key are changed as well, and stay so",
        ),
        Wrong(
            "abs() > 1e-9",
            "abs() > 1e-2",
            "a tolerance is so wide that a small movement is missed",
        ),
        Wrong(
            "attend.W_value.weight[rows] += 1.0\n"
            "        moved = (attend(x) - before).abs() > 1e-9\n"
            "        attend.W_value.weight.copy_(kept)",
            "kept = attend.W_query.weight.clone()\n"
            "        attend.W_query.weight[rows] += 1.0\n"
            "        moved = (attend(x) - before).abs() > 1e-9\n"
            "        attend.W_query.weight.copy_(kept)",
            "rows of W_query or W_key are changed; it should be those of W_value",
        ),
        Wrong(
            "    return moved.any(dim=0)",
            "    return (attend.W_value.weight[rows] != 0).any(dim=0)",
            "the weight of the values is looked at, whose columns are those of the "
            "tokens; it should be the result",
        ),
        Wrong(
            "    return moved.any(dim=0)",
            "    return moved.any(dim=0)[rows]",
            "only the head's own columns are told; all of the result should be",
        ),
        Wrong(
            "    return moved.any(dim=0)",
            "    return moved.any(dim=0), before",
            "something is given besides the answer, which should be alone",
        ),
        Wrong(
            "slice(head * D, (head + 1) * D)",
            "slice(head * D, D)",
            "the rows end at D; they should end at the next head times D",
        ),
        Wrong(
            "    return moved.any(dim=0)",
            "    return (attend.out_proj.weight[:, rows] == 0).any(dim=1)",
            "True is told of columns that some number of the head does not reach",
        ),
        Wrong(
            "attend.W_value.out_features // attend.num_heads",
            "attend.W_value.out_features",
            "the width of all heads is taken for that of one",
        ),
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
