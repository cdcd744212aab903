"""Write the table of who reaches whom

A head was written in a hurry. Its author says: the mask is there, and the result has
the right shape. Find out what leaks, and from where.

Write `reach(head, x)`: a boolean table of shape (T, T). Row t, column j is True if row
t of head(x) moves when token j of x is changed, and nothing else. `x` has shape
(T, d_in), and `head(x)` has T rows. A row that does not move stays equal to the last
digit.
"""

from headway.practice import Exercise

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
    survivors={
        "1.0 -> 3.0": "any other change of the token does as well",
        "-1 -> 1": "the result has two axes, so that the last is axis 1",
    },
    minutes=15,
)
