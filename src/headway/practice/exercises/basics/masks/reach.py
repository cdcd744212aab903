"""Write the table of who reaches whom

A head was written in a hurry. Its author says: the mask is there, and the result has
the right shape. Find out what leaks, and from where.

Write `reach(head, x)`: a boolean table of shape (T, T). Row t, column j is True if row
t of head(x) moves when token j of x is changed, and nothing else. `x` has shape
(T, d_in), and `head(x)` has T rows. A row that does not move stays equal to the last
digit.
"""

from headway.practice import Exercise, Wrong

# --- your file ---
from collections.abc import Callable

import torch
from torch import Tensor


def reach(head: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Give a table (T, T): is row t of the result moved by token j, in column j?"""
    # --- write ---
    before = head(x)
    columns = []
    for j in range(len(x)):
        changed = x.clone()
        changed[j] += 1.0
        columns.append((head(changed) != before).any(dim=-1))
    return torch.stack(columns, dim=1)
    # --- written ---


if __name__ == "__main__":
    from headway import attention

    def hurried_head(x: Tensor) -> Tensor:
        allowed = torch.ones(len(x), len(x)).tril(1).bool()
        return attention(x, x, x, mask=allowed)

    torch.manual_seed(7)
    print(reach(hurried_head, torch.randn(4, 5)).int())
    # tensor([[1, 1, 0, 0],
    #         [1, 1, 1, 0],
    #         [1, 1, 1, 1],
    #         [1, 1, 1, 1]], dtype=torch.int32)
# --- end of your file ---


def _weigh(x: Tensor, keep: Tensor) -> Tensor:
    x = x.clone()  # products of numbers that lie elsewhere may round differently
    scores = (x @ x.T / x.shape[-1] ** 0.5).masked_fill(~keep, -torch.inf)
    return torch.softmax(scores, dim=-1) @ x


def _square(x: Tensor) -> Tensor:
    return torch.ones(len(x), len(x), dtype=torch.bool)


def causal(x: Tensor) -> Tensor:
    """a head that hides the future"""
    return _weigh(x, _square(x).tril())


def next_token(x: Tensor) -> Tensor:
    """a head where each row sees the next token too"""
    return _weigh(x, _square(x).tril(1))


def window(x: Tensor) -> Tensor:
    """a head where each row sees itself and the token before"""
    return _weigh(x, _square(x).tril().triu(-1))


def alone(x: Tensor) -> Tensor:
    """tokens that see nobody else"""
    return -2 * x


def little(x: Tensor) -> Tensor:
    """a head that hides the future, but for a trillionth of it"""
    return causal(x) + 1e-12 * x.flip(0)


def last_column(x: Tensor) -> Tensor:
    """a causal head that reads and moves the last column alone"""
    return torch.cat([0 * x[:, :-1], causal(x)[:, -1:]], dim=-1)


def first_column(x: Tensor) -> Tensor:
    """a causal head that reads and moves the first column alone"""
    return torch.cat([causal(x)[:, :1], 0 * x[:, 1:]], dim=-1)


def middle_column(x: Tensor) -> Tensor:
    """a causal head that reads and moves one column in the middle"""
    x = torch.cat([0 * x[:, :2], x[:, 2:3], 0 * x[:, 3:]], dim=-1)
    return causal(x)


def balanced(x: Tensor) -> Tensor:
    """a causal head whose rows always sum to zero"""
    seen = causal(x)[:, :1]
    return torch.cat([2 * seen, -seen, -seen, 0 * x[:, 3:]], dim=-1)


def constant(x: Tensor) -> Tensor:
    """a head that reads no token at all"""
    return 0 * x


HEADS = [
    causal,
    next_token,
    window,
    alone,
    little,
    constant,
    last_column,
    first_column,
    middle_column,
    balanced,
]


def draw(d):  # type: ignore[no-untyped-def]
    """Draw a head and tokens, of which one is zero, as padding may be.

    Small tokens get nearly equal weights, so that no tolerance hides one by chance.
    """
    return HEADS[d.case], d.normal(7, 5) / 4 * (torch.arange(7)[:, None] != 2)


EXERCISE = Exercise(
    answer="reach",
    read=("basics/masks/#four-promises", "Four promises"),
    hints=(
        "What do you compare, if one token is changed and all others stay?",
        "For each token: a copy of x with that token changed, the result again, and in "
        "which rows any number differs.",
        "clone() makes the copy; (new != old).any(dim=-1) says it of each row; "
        "torch.stack makes a table of the answers.",
    ),
    draw=draw,
    trials=[{"case": n} for n in range(len(HEADS))],
    law="A causal head gives ones on the diagonal and to the left of it. Where each "
    "token reaches the row before its own, that row sees the very token that a "
    "language model is asked to predict there.",
    right=[
        """
        # By slopes: one call for each row, and no token is changed.
        x = x.clone().requires_grad_()
        rows = []
        for row in head(x):
            [slope] = torch.autograd.grad(row.tanh().sum(), x, retain_graph=True)
            rows.append((slope != 0).any(dim=-1))
        return torch.stack(rows)
        """,
        """
        # All changed texts at once: T copies, with one token changed in each.
        T = len(x)
        shifted = x + torch.eye(T, dtype=x.dtype)[:, :, None]
        after = torch.stack([head(one) for one in shifted])
        return ((after - head(x)).abs().amax(dim=-1) > 0).T
        """,
    ],
    wrong=[
        Wrong(
            "changed = x.clone()",
            "changed = x",
            "the tokens are changed for good, because the copy is none",
        ),
        Wrong(
            "        changed = x.clone()\n        changed[j] += 1.0",
            "        changed = x.clone()\n        changed[j:] += 1.0",
            "the tokens after it are changed too",
        ),
        Wrong(
            "torch.stack(columns, dim=1)",
            "torch.stack(columns)",
            "rows and columns are swapped",
        ),
        Wrong(
            "(head(changed) != before)",
            "((head(changed) - before).abs() > 1e-3)",
            "a tolerance is so wide that a small leak goes through",
        ),
        Wrong(
            ".any(dim=-1)",
            ".all(dim=-1)",
            "a row counts as moved only if all of its numbers move",
        ),
        Wrong(
            "(head(changed) != before).any(dim=-1)",
            "head(changed)[:, 0] != before[:, 0]",
            "only the first column of the result is looked at",
        ),
        Wrong(
            "changed[j] += 1.0",
            "changed[j, 0] += 1.0",
            "only the first number of a token is changed; a head may read others",
        ),
        Wrong(".any(dim=-1)", ".any(dim=0)", "columns are looked at, and not rows"),
        Wrong("!= before", "== before", "it says what stays, and not what moves"),
        Wrong(
            "    before = head(x)\n",
            "    before = x\n",
            "results are compared with the tokens; it should be with those before",
        ),
        Wrong(
            "        changed = x.clone()\n"
            "        changed[j] += 1.0\n"
            "        columns.append((head(changed) != before).any(dim=-1))\n",
            "        x[j] += 1.0\n"
            "        columns.append((head(x) != before).any(dim=-1))\n"
            "        x[j] -= 1.0\n",
            "a change is undone by subtraction, which does not bring back "
            "the last digits; a clone should be changed",
        ),
        Wrong(
            "(head(changed) != before)",
            "(~torch.isclose(head(changed), before))",
            "isclose forgives small differences",
            same_as="a tolerance is so wide that a small leak goes through",
        ),
        Wrong(
            "        changed[j] += 1.0\n"
            "        columns.append((head(changed) != before).any(dim=-1))\n",
            "        changed[j, 0] += 0.01\n"
            "        columns.append(~torch.isclose(head(changed), "
            "before).all(dim=-1))\n",
            "one number is changed a little, and a tolerance forgives "
            "small differences",
        ),
        Wrong(
            "        changed[j] += 1.0\n"
            "        columns.append((head(changed) != before).any(dim=-1))\n",
            "        changed[j] += 0.001\n"
            "        columns.append(~torch.isclose(head(changed), "
            "before).all(dim=-1))\n",
            "a token is changed a little, and a tolerance forgives small differences",
            same_as="a tolerance is so wide that a small leak goes through",
        ),
        Wrong(
            "(head(changed) != before).any(dim=-1)",
            "head(changed)[:, -1] != before[:, -1]",
            "only the last column of the result is looked at",
        ),
        Wrong(
            "(head(changed) != before).any(dim=-1)",
            "head(changed).sum(dim=-1).round(decimals=6) != "
            "before.sum(dim=-1).round(decimals=6)",
            "sums of rows are compared, and rounded",
            same_as="a tolerance is so wide that a small leak goes through",
        ),
        Wrong(
            "(head(changed) != before).any(dim=-1)",
            "(head(changed) != before).any()",
            "it is asked whether any row moves; each row should have its answer",
        ),
        Wrong(
            "(head(changed) != before).any(dim=-1)",
            "head(changed) != before",
            "each number has its answer; each row should have one",
        ),
        Wrong(
            "changed[j] += 1.0",
            "changed[j, -1] += 1.0",
            "only the last number of a token is changed; a head may read others",
        ),
        Wrong(
            "changed[j] += 1.0",
            "changed[:j] += 1.0",
            "the tokens before it are changed, and not the token",
        ),
        Wrong(
            "changed[j] += 1.0",
            "changed[: j + 1] += 1.0",
            "the tokens before it are changed too",
            same_as="the tokens are changed for good, because the copy is none",
        ),
        Wrong(
            "changed[j] += 1.0",
            "changed[j + 1 :] += 1.0",
            "the tokens after it are changed, and not the token",
        ),
        Wrong(
            "changed[j] += 1.0",
            "changed += 1.0",
            "all tokens are changed",
        ),
        Wrong(
            "changed[j] += 1.0",
            "changed[:, j % x.shape[1]] += 1.0",
            "a column is changed; it should be a token, which is a row",
        ),
        Wrong(
            "changed[j] += 1.0",
            "changed[:, j] += 1.0",
            "a column is changed, and there may be fewer columns than "
            "tokens; a token is a row",
        ),
        Wrong(
            "changed[j] += 1.0",
            "changed[j] *= 1.0",
            "nothing is changed",
        ),
        Wrong(
            "changed[j] += 1.0",
            "changed[j - 1] += 1.0",
            "the token before it is changed",
        ),
        Wrong(
            "changed[j] += 1.0",
            "changed[j] = torch.nan",
            "a token becomes nan or infinite, and zero times that is nan, so "
            "that all rows seem to move",
        ),
        Wrong(
            "        changed[j] += 1.0\n",
            "        changed[j] += 1.0\n        before = head(changed)\n",
            "the result before is computed after the change, so that nothing differs",
            same_as="nothing is changed",
        ),
        Wrong(
            "    return torch.stack(columns, dim=1)",
            "    return torch.stack(columns, dim=1).tril()",
            "the future is cut out of the table; it is what is looked for",
        ),
        Wrong(
            "    return torch.stack(columns, dim=1)",
            "    return torch.stack(columns, dim=1).triu(1)",
            "only the future is told; the whole table is asked for",
        ),
        Wrong(
            "    return torch.stack(columns, dim=1)",
            "    return columns",
            "a list is given; it should be one table, as torch.stack makes one",
        ),
        Wrong(
            "    return torch.stack(columns, dim=1)",
            "    return torch.cat(columns)",
            "the columns are put into one long row, by cat; stack makes a table",
        ),
        Wrong(
            "range(len(x))",
            "range(len(x) - 1)",
            "the last token is left out",
        ),
        Wrong(
            "range(len(x))",
            "range(1, len(x))",
            "the first token is left out",
        ),
        Wrong(
            "range(len(x))",
            "range(x.shape[1])",
            "the loop goes over the width of the tokens; it should go over "
            "their number",
        ),
        Wrong(
            "        changed[j] += 1.0\n"
            "        columns.append((head(changed) != before).any(dim=-1))\n",
            "        changed[j, 0] += 1.0\n"
            "        columns.append((head(changed) != before).all(dim=-1))\n",
            "only the first number of a token is changed, and a row counts as moved "
            "only if all of its numbers move",
        ),
        Wrong(
            "(head(changed) != before)",
            "~torch.isclose(head(changed), before)",
            "~ stands before the whole: a row counts as moved only if none of its "
            "numbers stays close",
        ),
        Wrong(
            "(head(changed) != before).any(dim=-1)",
            "(head(changed) - before > 0).any(dim=-1)",
            "differences keep their sign, so that a row that only falls is missed",
        ),
        Wrong(
            "(head(changed) != before).any(dim=-1)",
            "head(changed).sum(dim=-1) != before.sum(dim=-1)",
            "sums of rows are compared; numbers of a row may move against each other",
        ),
        Wrong(
            "changed[j] += 1.0",
            "changed[j] *= 2.0",
            "a token is multiplied or set to zero, which leaves a token of zeros as "
            "it is",
        ),
        Wrong(
            "changed[j] += 1.0",
            "changed = torch.cat([changed[:j], changed[j + 1 :]])",
            "a token is taken out, so that the texts are of different length; it "
            "should be changed",
        ),
        Wrong(
            "(head(changed) != before).any(dim=-1)",
            "(head(changed) == before).all(dim=-1)",
            "True is told of rows that stay, and not of those that move",
        ),
        Wrong(
            "        columns.append((head(changed) != before).any(dim=-1))\n",
            "        after = head(changed)\n"
            "        columns.append((after != before).any(dim=-1))\n"
            "        before = after\n",
            "each result is compared with that of the last change; it should be with "
            "the one before all",
        ),
        Wrong(
            "        columns.append((head(changed) != before).any(dim=-1))\n",
            "        columns.append((head(changed) != before).any(dim=-1) & "
            "(torch.arange(len(x)) == j))\n",
            "only the row of the changed token itself is looked at; all rows should be",
        ),
        Wrong(
            "    return torch.stack(columns, dim=1)",
            "    return torch.ones_like(torch.stack(columns, dim=1)).tril()",
            "the table of a causal head is given, without a look at this one",
        ),
        Wrong(
            "(head(changed) != before).any(dim=-1)",
            "(head(changed) < before).any(dim=-1)",
            "differences keep their sign, so that a row that only rises is missed",
        ),
        Wrong(
            "    return torch.stack(columns, dim=1)",
            "    x = x.clone().requires_grad_()\n"
            "    [slope] = torch.autograd.grad(head(x).sum(), x)\n"
            "    return (slope != 0).any(dim=-1).expand(len(x), -1)",
            "one slope is taken of the whole sum; each row should have its own",
        ),
    ],
    survivors={
        "1.0 -> 3.0": "any other change of the token does as well",
        "-1 -> 1": "the result has two axes, so that the last is axis 1",
    },
    minutes=15,
)
