"""Write the test that finds a leak

Write `leaks(attend)`: True if the future gets through, False if it does not.

`attend` takes tokens of shape (B, T, E), for any B, T and E, and gives rows of shape
(B, T, V). It is meant to hide the future: no row may move when a later token is
changed. Some of those that you are judged on leak in one row or in one text alone, or
read or move a single number; those that do not leak must not be blamed. Try texts of
seven tokens or more.
"""

from headway.practice import Exercise

# --- your file ---
from collections.abc import Callable

import torch
from torch import Tensor


def leaks(attend: Callable[[Tensor], Tensor]) -> bool:
    """Say whether a row moves when a token after it is changed."""
    # --- write ---
    x = torch.randn(2, 7, 5, dtype=torch.float64)
    rows = attend(x)
    for t in range(1, 7):
        changed = x.clone()
        changed[:, t:] = torch.randn_like(x[:, t:])
        if not torch.equal(attend(changed)[:, :t], rows[:, :t]):
            return True
    return False
    # --- written ---


if __name__ == "__main__":
    print(leaks(lambda x: x.cumsum(dim=1)), leaks(lambda x: x - x.mean(dim=1)[:, None]))
    # False True
# --- end of your file ---


def _weigh(x: Tensor, keep: Tensor, fill: float = -torch.inf) -> Tensor:
    scores = (x @ x.mT / x.shape[-1] ** 0.5).masked_fill(~keep, fill)
    return torch.softmax(scores, dim=-1) @ x


def _past(x: Tensor) -> Tensor:
    T = x.shape[1]
    return torch.ones(T, T, dtype=torch.bool).tril()


def right(x: Tensor) -> Tensor:
    """attention that hides the future"""
    return _weigh(x, _past(x))


def last_row_only(x: Tensor) -> Tensor:
    """a sum of all that came before"""
    return x.cumsum(dim=1)


def itself(x: Tensor) -> Tensor:
    """each token alone, no other is seen"""
    return 2 * x


def nothing_hidden(x: Tensor) -> Tensor:
    """attention where nothing is hidden"""
    return _weigh(x, _past(x) | True)


def next_token(x: Tensor) -> Tensor:
    """attention where each row sees the next token too"""
    T = x.shape[1]
    return _weigh(x, torch.ones(T, T, dtype=torch.bool).tril(1))


def second_text(x: Tensor) -> Tensor:
    """attention that hides the future in the first text of a batch alone"""
    return torch.cat([right(x[:1]), nothing_hidden(x[1:])])


def last_token(x: Tensor) -> Tensor:
    """attention whose first row sees the last token"""
    keep = _past(x).clone()
    keep[0, -1] = True
    return _weigh(x, keep)


def first_row(x: Tensor) -> Tensor:
    """attention whose first row sees the second token"""
    keep = _past(x).clone()
    keep[0, 1:2] = True
    return _weigh(x, keep)


def second_row(x: Tensor) -> Tensor:
    """attention whose second row sees the third token"""
    keep = _past(x).clone()
    keep[1:2, 2:3] = True
    return _weigh(x, keep)


def row_before_last(x: Tensor) -> Tensor:
    """attention whose last row but one sees the last token"""
    keep = _past(x).clone()
    keep[-2:-1, -1] = True
    return _weigh(x, keep)


def last_number(x: Tensor) -> Tensor:
    """attention whose first row sees the last number of the second token"""
    rows = right(x).clone()
    rows[:, :1] += x[:, 1:2, -1:].sum(dim=1, keepdim=True)
    return rows


def in_one_number(x: Tensor) -> Tensor:
    """attention whose first row sees the second token in its last number alone"""
    rows = right(x).clone()
    rows[:, :1, -1] += x[:, 1:2].sum(dim=(1, 2))[:, None]
    return rows


def first_number(x: Tensor) -> Tensor:
    """attention whose first row sees the first number of the second token"""
    rows = right(x).clone()
    rows[:, :1] += x[:, 1:2, :1].sum(dim=1, keepdim=True)
    return rows


def in_first_number(x: Tensor) -> Tensor:
    """attention whose first row sees the second token in its first number alone"""
    rows = right(x).clone()
    rows[:, :1, 0] += x[:, 1:2].sum(dim=(1, 2))[:, None]
    return rows


def first_text(x: Tensor) -> Tensor:
    """attention that hides the future in all texts of a batch but the first"""
    return torch.cat([nothing_hidden(x[:1]), right(x[1:])])


def little(x: Tensor) -> Tensor:
    """attention that hides the future by -8, so that a little gets through"""
    return _weigh(x, _past(x), -8.0)


def after_the_softmax(x: Tensor) -> Tensor:
    """attention that hides the future after the softmax, which has seen it"""
    scores = x @ x.mT / x.shape[-1] ** 0.5
    return torch.softmax(scores, dim=-1).tril() @ x


CASES = [
    right,
    last_row_only,
    itself,
    nothing_hidden,
    next_token,
    second_text,
    last_token,
    first_row,
    second_row,
    row_before_last,
    little,
    last_number,
    in_one_number,
    first_text,
    after_the_softmax,
    first_number,
    in_first_number,
]


def run(leaks, attend):  # type: ignore[no-untyped-def]
    found = leaks(attend)
    return None if found is None else bool(found)


EXERCISE = Exercise(
    answer="leaks",
    read=("basics/masks/#how-to-see-a-leak", "How to see a leak"),
    hints=(
        "What may change in the output when only the last token of the input changes?",
        "Exchange all tokens from place t on, and compare the rows before t, for "
        "each t.",
        "Rows that hide the future are equal to the last digit, so compare without "
        "a tolerance; and look at every text of the batch.",
    ),
    draw=lambda d: (CASES[d.case],),
    ask=run,
    trials=[{"case": n} for n in range(len(CASES))],
    law="A row that hides the future does not move by a single digit.",
    right=[
        """
        # By slopes: a row that hides the future has none for a later token.
        x = torch.randn(3, 5, 4, dtype=torch.float64, requires_grad=True)
        rows = attend(x)
        for t in range(4):
            [slope] = torch.autograd.grad(rows[:, t].sum(), x, retain_graph=True)
            if slope[:, t + 1 :].any():
                return True
        return False
        """,
        """
        # By cutting: what is not there cannot be seen.
        x = torch.randn(2, 8, 4, dtype=torch.float64)
        for t in range(1, 8):
            if not torch.allclose(attend(x)[:, :t], attend(x[:, :t])):
                return True
        return False
        """,
    ],
    survivors={
        "2 -> 3": "one text more does no harm",
        "5 -> 6": "tokens may have any width",
        "7 -> 8": "a different length of text does as well, and so does one turn more, "
        "in which nothing is changed",
    },
    stars=3,
    minutes=15,
)
