"""Write the test that finds mixed texts

Write `mixes_texts(attend)`: True if a text of a batch can move another, else False.

`attend` takes tokens of shape (B, T, 5), for any B and T, and gives rows of shape
(B, T, V). Texts of a batch share nothing: no row of a text may move when another text
is changed. Some of those that you are judged on mix texts only here and there; those
that do not must not be blamed, whatever their tokens do to each other.
"""

from headway.practice import Exercise

# --- your file ---
from collections.abc import Callable

import torch
from torch import Tensor


def mixes_texts(attend: Callable[[Tensor], Tensor]) -> bool:
    """Say whether a row moves when another text is changed."""
    # --- write ---
    x = torch.randn(3, 7, 5, dtype=torch.float64)
    before = attend(x)
    for text in range(3):
        changed = x.clone()
        changed[text] = torch.randn(7, 5, dtype=torch.float64)
        moved = (attend(changed) - before).abs() > 1e-9
        moved[text] = False
        if moved.any():
            return True
    return False
    # --- written ---


if __name__ == "__main__":
    from functools import partial

    for dim in (1, 0):
        print(mixes_texts(partial(torch.cumsum, dim=dim)))
    # False
    # True
# --- end of your file ---


def _scores(x: Tensor) -> Tensor:
    return x @ x.mT / x.shape[-1] ** 0.5


def right(x: Tensor) -> Tensor:
    """attention within each text"""
    return torch.softmax(_scores(x), dim=-1) @ x


def causal(x: Tensor) -> Tensor:
    """attention within each text, with the future hidden"""
    T = x.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    return torch.softmax(_scores(x).masked_fill(future, -torch.inf), dim=-1) @ x


def mean(x: Tensor) -> Tensor:
    """each text less its own mean"""
    return x - x.mean(dim=1, keepdim=True)


def over_texts(x: Tensor) -> Tensor:
    """a softmax over the texts of the batch"""
    return torch.softmax(_scores(x), dim=0) @ x


def tokens_first(x: Tensor) -> Tensor:
    """a module that takes the first axis for the tokens"""
    return right(x.transpose(0, 1)).transpose(0, 1)


def one_row(x: Tensor) -> Tensor:
    """attention that puts all texts into one row"""
    return right(x.flatten(0, 1)[None]).view_as(x)


def next_text(x: Tensor) -> Tensor:
    """attention where each text sees the one before, and the first sees itself"""
    return right(x) + torch.cat([x[:1], x[:-1]])


def from_last(x: Tensor) -> Tensor:
    """attention where the last text is added to the first"""
    other = torch.zeros_like(x)
    other[0] = x[-1] * (len(x) > 1)
    return right(x) + other


def from_first(x: Tensor) -> Tensor:
    """attention where the first text is added to the last row of the last"""
    other = torch.zeros_like(x)
    other[-1, -1] = x[0, 0] * (len(x) > 1)
    return right(x) + other


def little(x: Tensor) -> Tensor:
    """attention less a thousandth of the mean over the batch"""
    return right(x) - 1e-3 * x.mean(dim=0)


def second_of_two(x: Tensor) -> Tensor:
    """attention of a second text that adds the third"""
    other = torch.zeros_like(x)
    other[1:2] = x[2:3] if len(x) > 2 else x[:1]
    return right(x) + other


def later_tokens(x: Tensor) -> Tensor:
    """attention whose later tokens are added to those of the text before"""
    other = torch.zeros_like(x)
    other[:-1, 1:] = x[1:, 1:]
    return right(x) + other


def two_further(x: Tensor) -> Tensor:
    """attention where each text adds the text after the next"""
    other = torch.zeros_like(x)
    other[:-2] = x[2:]
    return right(x) + other


def third_of_second(x: Tensor) -> Tensor:
    """attention of a third text that adds the second"""
    other = torch.zeros_like(x)
    other[2:3] = x[1:2] * (len(x) > 2)
    return right(x) + other


def first_of_second(x: Tensor) -> Tensor:
    """attention of a first text that adds the second"""
    other = torch.zeros_like(x)
    other[0] = x[1:2].sum(dim=0)
    return right(x) + other


def first_rows(x: Tensor) -> Tensor:
    """attention where the first row of each text adds that of the text behind it"""
    other = torch.zeros_like(x)
    other[:-1, 0] = x[1:, 0]
    return right(x) + other


def last_numbers(x: Tensor) -> Tensor:
    """attention where the last number of each token is added to the next text"""
    other = torch.zeros_like(x)
    other[1:, :, -1] = x[:-1, :, -1]
    return right(x) + other


def differences(x: Tensor) -> Tensor:
    """attention where each first token adds a difference of two tokens before"""
    other = torch.zeros_like(x)
    other[1:, 0] = x[:-1, -1] - x[:-1, 0]
    return right(x) + other


def second_of_first(x: Tensor) -> Tensor:
    """attention of a second text that adds the first"""
    other = torch.zeros_like(x)
    other[1:2] = x[:1]
    return right(x) + other


def turned_numbers(x: Tensor) -> Tensor:
    """attention where a last number is added to the first number of the next text"""
    other = torch.zeros_like(x)
    other[1:, :, 0] = x[:-1, :, -1]
    return right(x) + other


def rounded(x: Tensor) -> Tensor:
    """attention within each text, which rounds otherwise in larger batches"""
    return right(x) / (3 * len(x)) * (3 * len(x))


def one_row_hidden(x: Tensor) -> Tensor:
    """attention in one row, where a weight of zero hides each other text"""
    row, text = x.flatten(0, 1), torch.arange(len(x)).repeat_interleave(x.shape[1])
    scores = _scores(row).masked_fill(text != text[:, None], -torch.inf)
    return (torch.softmax(scores, dim=-1) @ row).view_as(x)


def narrow(x: Tensor) -> Tensor:
    """attention within each text that gives two numbers a row"""
    return right(x) @ torch.ones(5, 2, dtype=x.dtype)


def narrow_one_row(x: Tensor) -> Tensor:
    """attention that puts all texts into one row, and gives two numbers a row"""
    return one_row(x) @ torch.ones(5, 2, dtype=x.dtype)


CASES = [
    right,
    causal,
    mean,
    over_texts,
    tokens_first,
    one_row,
    next_text,
    from_last,
    from_first,
    little,
    second_of_two,
    later_tokens,
    two_further,
    third_of_second,
    first_of_second,
    first_rows,
    last_numbers,
    differences,
    rounded,
    second_of_first,
    turned_numbers,
    one_row_hidden,
    narrow,
    narrow_one_row,
]


def run(mixes_texts, attend):  # type: ignore[no-untyped-def]
    found = mixes_texts(attend)
    return found if isinstance(found, (list, tuple)) or found is None else bool(found)


EXERCISE = Exercise(
    answer="mixes_texts",
    read=("basics/checks/#one-question-by-hand", "One question, by hand"),
    hints=(
        "What may change in the other texts when one of them is exchanged?",
        "Exchange one text after the other, and compare the rows of those that were "
        "not changed.",
        "Take three texts that differ, a clone with one of them drawn anew, and look "
        "at all rows but that text's. Allow for rounding, and for no more.",
    ),
    draw=lambda d: (CASES[d.case],),
    ask=run,
    trials=[{"case": n} for n in range(len(CASES))],
    law="A text must get the same answer in any company, and alone.",
    right=[
        """
        # Each text alone: one call more, and it finds what depends on the company.
        x = torch.randn(3, 7, 5, dtype=torch.float64)
        alone = torch.cat([attend(text[None]) for text in x])
        return not torch.allclose(alone, attend(x), atol=1e-9)
        """,
        """
        # By gradients: exact, with nothing to compare, if attend can be differentiated.
        x = torch.randn(4, 3, 5, dtype=torch.float64, requires_grad=True)
        rows = attend(x)
        for text in range(4):
            [slope] = torch.autograd.grad(rows[text].sum(), x, retain_graph=True)
            others = [n for n in range(4) if n != text]
            if slope[others].abs().max() > 1e-12:
                return True
        return False
        """,
        """
        # All others are changed at once: the text that stays must get what it got.
        x, other = torch.randn(2, 4, 6, 5, dtype=torch.float64)
        rows = attend(x)
        for text in range(4):
            changed = other.clone()
            changed[text] = x[text]
            if not torch.allclose(attend(changed)[text], rows[text], atol=1e-9):
                return True
        return False
        """,
    ],
    survivors={
        "(attend(changed) - before).abs() > 1e-09 -> "
        "(attend(changed) - before).abs() >= 1e-09": "no number moves by that",
        "(attend(changed) - before).abs() -> attend(changed) - before": "of many "
        "numbers that move some grow",
    },
    minutes=15,
)
