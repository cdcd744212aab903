"""Write the test that finds a leak

Write `leaks(attend)`: True if the future gets through, False if it does not.

`attend` takes tokens of shape (B, T, E), for any B, T and E, and gives rows of shape
(B, T, V). It is meant to hide the future: no row may move when a later token is
changed. Some of those that you are judged on leak in one row or in one text alone, or
read or move a single number; those that do not leak must not be blamed. Try texts of
seven tokens or more.
"""

from headway.practice import Exercise, Wrong

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


_CHANGED = "        changed = x.clone()\n"
_FOR = "for t in range(1, 7):"
_CHANGE = "changed[:, t:] = torch.randn_like(x[:, t:])"
_COMPARE = "if not torch.equal(attend(changed)[:, :t], rows[:, :t]):"

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
    wrong=[
        Wrong(_FOR, "for t in range(6, 7):", "only the last token is ever changed"),
        Wrong(
            _FOR,
            "for t in range(1, 2):",
            "only the first row is looked at; a later one may leak",
            hint="Which rows must stay as they are when token 5 changes? Is it only "
            "the first?",
        ),
        Wrong(
            f"{_FOR}\n        changed = x.clone()\n        {_CHANGE}",
            "for t in range(1, 2):\n        changed = x.clone()\n"
            "        changed[:, t] += 1.0",
            "only the second token is changed and the first row looked at, as when "
            "return stands in the first turn of a loop",
        ),
        Wrong(
            _FOR,
            "for t in range(3, 4):",
            "the text is cut at one place only: all tokens after it are changed, and "
            "all rows before it are compared",
            hint="Inside of the first half, and inside of the second, a row may still "
            "see what comes next. At how many places must the text be cut?",
        ),
        Wrong(
            _CHANGE,
            "changed[0, t:] = torch.randn_like(x[0, t:])",
            "only the first text is changed",
        ),
        Wrong(
            "torch.randn(2, 7, 5",
            "torch.randn(1, 7, 5",
            "there is one text only; a second may leak",
            same_as="only the first text is changed",
        ),
        Wrong(
            _COMPARE,
            "if attend(changed).shape != rows.shape:",
            "what is compared can never differ: one tensor under two names, since "
            "y = x copies nothing, or shapes alone",
        ),
        Wrong(
            _COMPARE,
            "if (attend(changed)[:, :t] - rows[:, :t]).abs().max() > 0.1:",
            "a tolerance is so wide that a small leak goes through",
        ),
        Wrong(
            "attend(changed)[:, :t], rows[:, :t]",
            "attend(changed), rows",
            "rows that may change are compared too",
        ),
        Wrong(
            _CHANGE,
            "changed[:, t - 1] += 1.0",
            "a past token is changed",
            same_as="rows that may change are compared too",
        ),
        Wrong(
            f"{_FOR}\n        changed = x.clone()\n        {_CHANGE}\n"
            "        if not torch.equal(",
            f"for t in range(7):\n        changed = x.clone()\n        {_CHANGE}\n"
            "        if torch.equal(",
            "True is given for rows that are equal, and not for rows that differ",
            same_as="rows that may change are compared too",
        ),
        Wrong(
            "if not torch.equal(",
            "if torch.equal(",
            "it is turned around: True is given for rows that are equal",
        ),
        Wrong(
            _COMPARE,
            "if bool((attend(changed)[:, :t] != rows[:, :t]).all()):",
            "a leak counts only if all earlier rows of all texts move: "
            "`all` stands where `any` is needed",
        ),
        Wrong(
            _COMPARE,
            "if bool((attend(changed)[0, :t] != rows[0, :t]).any()):",
            "only the first text is compared",
            same_as="only the first text is changed",
        ),
        Wrong(
            _COMPARE,
            "if bool((attend(changed)[-1, :t] != rows[-1, :t]).any()):",
            "only the last text is compared",
        ),
        Wrong(
            _COMPARE,
            "if not torch.equal(attend(changed)[:, :t, 0], rows[:, :t, 0]):",
            "only the first number of each row is compared",
        ),
        Wrong(
            _COMPARE,
            "if (attend(changed)[:, :t].sum() - rows[:, :t].sum()).abs() > 1.0:",
            "sums are compared with a wide tolerance, in which leaks cancel out",
        ),
        Wrong(
            _CHANGE,
            "changed[:, t:, 0] += 1.0",
            "only the first number of each token is changed",
        ),
        Wrong(
            _CHANGE,
            "changed[:, t:] = torch.nan",
            "later tokens become nan or infinite, and zero times that is nan, "
            "so that those who hide the future are blamed",
            hint="Which numbers times zero are zero, and which are not?",
        ),
        Wrong(
            f"{_FOR}\n{_CHANGED}        {_CHANGE}\n        {_COMPARE}",
            "for t in range(1, 7):\n"
            "        changed = x.clone()\n"
            "        changed[:, t] += 1.0\n"
            "        if not torch.equal(attend(changed)[:, t - 1], rows[:, "
            "t - 1]):",
            "of each changed token only the row just before it is "
            "compared; an earlier one may see it",
        ),
        Wrong(
            f"{_FOR}\n{_CHANGED}        {_CHANGE}\n        {_COMPARE}",
            "for t in range(6, 7):\n"
            "        changed = x.clone()\n"
            "        changed[:, t] += 1.0\n"
            "        if not torch.equal(attend(changed)[:, 0], rows[:, 0]):",
            "only the last token is changed, and only the first row looked at",
        ),
        Wrong(
            "torch.randn(2, 7, 5",
            "torch.randn(2, 2, 5",
            "the text has two tokens only",
        ),
        Wrong(
            _FOR,
            "for t in range(1, 6):",
            "the loop ends before the last token, which the row before it may see",
        ),
        Wrong(
            _FOR,
            "for t in range(2, 7):",
            "the loop begins with the third token, and the first row may "
            "see the second",
        ),
        Wrong(
            _FOR,
            "for t in range(2, 6):",
            "the loop leaves out both ends: the first row may see the "
            "second token, and the last row but one the last",
        ),
        Wrong(
            _FOR,
            "for t in range(7, 7):",
            "the loop has no turn, so that nothing is found",
            same_as="what is compared can never differ: one tensor under two "
            "names, since y = x copies nothing, or shapes alone",
        ),
        Wrong(
            "        if not torch.equal(attend(changed)[:, :t], rows[:, "
            ":t]):\n"
            "            return True\n"
            "    return False",
            "        if torch.equal(attend(changed)[:, :t], rows[:, :t]):\n"
            "            return False\n"
            "    return True",
            "it leaks only if something moves at every place where the "
            "text is cut; one place is enough",
            hint="`return False` at the first place that holds ends the search. "
            "When may it be said that nothing leaks?",
            same_as="the text is cut at one place only: all tokens after it are "
            "changed, and all rows before it are compared",
        ),
        Wrong(
            "    return False\n",
            "    return None\n",
            "nothing is returned where no leak is found",
        ),
        Wrong(
            "            return True\n    return False",
            "            return False\n    return True",
            "the answer is turned around: False is given where something moves, and "
            "True at the end",
        ),
        Wrong(
            "    x = torch.randn(2, 7, 5, dtype=torch.float64)",
            "    x = torch.randn(7, 5, dtype=torch.float64)",
            "the tokens have no axis of texts; attend takes (B, T, E)",
        ),
        Wrong(
            "torch.randn(2, 7, 5, dtype=torch.float64)",
            "torch.zeros(2, 7, 5, dtype=torch.float64)",
            "all tokens are zero before the change, and a query of zero sees no "
            "difference between keys",
        ),
        Wrong(
            "changed[:, t:] = torch.randn_like(x[:, t:])",
            "changed[:, t:, -1] += 1.0",
            "only the last number of each token is changed",
        ),
        Wrong(
            "torch.equal(attend(changed)[:, :t], rows[:, :t])",
            "torch.equal(attend(changed)[:, :t, -1], rows[:, :t, -1])",
            "only the last number of each row is compared",
        ),
        Wrong(
            "if not torch.equal(attend(changed)[:, :t], rows[:, :t]):",
            "if (attend(changed)[:, :t] != rows[:, :t]).flatten(1).any(1).all():",
            "it is asked that all texts move, and one that does is a leak",
        ),
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
