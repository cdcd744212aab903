"""Write the test that finds mixed texts

Write `mixes_texts(attend)`: True if a text of a batch can move another, else False.

`attend` takes tokens of shape (B, T, 5), for any B and T, and gives rows of shape
(B, T, V). Texts of a batch share nothing: no row of a text may move when another text
is changed. Some of those that you are judged on mix texts only here and there; those
that do not must not be blamed, whatever their tokens do to each other.
"""

from headway.practice import Exercise, Wrong

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
    wrong=[
        Wrong(
            "for text in range(3):",
            "for text in range(1):",
            "only the first text is changed, so that what comes from others is missed",
        ),
        Wrong(
            "for text in range(3):",
            "for text in range(2, 3):",
            "only the last text is changed, so that what comes from others is missed",
        ),
        Wrong(
            "        moved[text] = False\n",
            "",
            "the changed text is looked at too; it may move",
        ),
        Wrong(
            "(attend(changed) - before).abs() > 1e-9",
            "(attend(changed) - before).abs() > 0.1",
            "the tolerance is so wide that a small share of another text is missed",
        ),
        Wrong(
            "if moved.any():",
            "if attend(changed).shape != before.shape:",
            "what is compared can never differ: one tensor under two names, since "
            "y = x copies nothing, or shapes alone",
        ),
        Wrong(
            "moved[text] = False",
            "moved[:, 1:] = moved[text] = False",
            "only the first token of each text is looked at",
        ),
        Wrong(
            "    before = attend(x)\n",
            "    x, other = x[:2], x[::2]\n"
            "    return not torch.equal(attend(x)[0], attend(other)[0])\n",
            "only the second of two texts is changed, and only the first is looked at",
        ),
        Wrong(
            "    before = attend(x)\n",
            "    alone = attend(x[:1])[0]\n"
            "    return not torch.allclose(attend(x[:2])[0], alone)\n",
            "only the first text is compared with itself alone",
            same_as="only the second of two texts is changed, and only the first is "
            "looked at",
        ),
        Wrong(
            "    before = attend(x)\n",
            "    rows = attend(x[:1].repeat(3, 1, 1))\n"
            "    return not torch.allclose(rows[0], rows[1])\n",
            "all texts are equal, and their rows are compared with each other",
        ),
        Wrong(
            "    before = attend(x)\n",
            "    before = attend(x)\n"
            "    return not torch.equal(before[0], before[1])\n",
            "two texts are compared with each other, and none is changed",
            same_as="the changed text is looked at too; it may move",
        ),
        Wrong(
            "            return True\n    return False",
            "            return False\n    return True",
            "the answer is turned around: True if texts are kept apart",
        ),
        Wrong(
            "    before = attend(x)\n"
            "    for text in range(3):\n"
            "        changed = x.clone()\n"
            "        changed[text] = torch.randn(7, 5,",
            "    x = x[:, :1]\n"
            "    before = attend(x)\n"
            "    for text in range(3):\n"
            "        changed = x.clone()\n"
            "        changed[text] = torch.randn(1, 5,",
            "texts have one token, so that what only later tokens do is missed",
        ),
        Wrong(
            "changed[text] = torch.randn(7, 5, dtype=torch.float64)",
            "changed[text, 0] = torch.randn(5, dtype=torch.float64)",
            "only the first token of a text is changed, so that what comes from "
            "later ones is missed",
        ),
        Wrong(
            "    before = attend(x)\n",
            "    before = attend(x)\n"
            "    changed = x.clone()\n"
            "    changed[:, 0] = 0.0\n"
            "    return not torch.allclose(attend(changed)[:, 1:], before[:, "
            "1:])\n",
            "a token is changed in all texts: that asks whether tokens look at "
            "each other, and not texts",
        ),
        Wrong(
            "moved[text] = False",
            "moved[: text + 1] = False",
            "only later texts are looked at, and not those before the changed one",
        ),
        Wrong(
            "moved[text] = False",
            "moved[text:] = False",
            "only earlier texts are looked at, and not those behind the changed one",
        ),
        Wrong(
            "    before = attend(x)\n",
            "    return not torch.allclose(attend(x.flip(0)).flip(0), attend(x))\n",
            "texts are put in a different order: what treats them all alike mixes "
            "them unseen",
        ),
        Wrong(
            "    before = attend(x)\n",
            "    return not torch.allclose(attend(x)[:2], attend(x[:2]))\n",
            "a last text is taken away, so that what comes from earlier ones is missed",
        ),
        Wrong(
            "    before = attend(x)\n",
            "    x = torch.zeros_like(x)\n    before = attend(x)\n",
            "what is changed was zeros before, so that a share of it is missed",
        ),
        Wrong(
            "        if moved.any():\n            return True\n",
            "        return bool(moved.any())\n",
            "the loop ends in its first round, so that one text alone is changed",
            same_as="only the first text is changed, so that what comes from others is "
            "missed",
        ),
        Wrong(
            "changed[text] = torch.randn(7, 5, dtype=torch.float64)",
            "changed[text, -1] = torch.randn(5, dtype=torch.float64)",
            "only the last token of a text is changed, so that what comes from "
            "others is missed",
        ),
        Wrong(
            "moved[text] = False",
            "moved[text:] = False\n        moved[: max(text - 1, 0)] = False",
            "only the text before the changed one is looked at",
        ),
        Wrong(
            "    before = attend(x)\n",
            "    x = x[:2]\n"
            "    before = attend(x)\n"
            "    for text in range(2):\n"
            "        changed = x.clone()\n"
            "        changed[text] = torch.randn(7, 5, dtype=torch.float64)\n"
            "        if not torch.allclose(attend(changed)[1 - text], "
            "before[1 - text]):\n"
            "            return True\n"
            "    return False\n"
            "    before = attend(x)\n",
            "the batch has two texts, so that what a third one does is missed",
        ),
        Wrong(
            "    before = attend(x)\n",
            "    alone = torch.cat([attend(text[None]) for text in x])\n"
            "    return not torch.equal(alone, attend(x))\n"
            "    before = attend(x)\n",
            "texts in a batch are compared with texts alone to the last digit, "
            "which rounding decides",
        ),
        Wrong(
            "    before = attend(x)\n",
            "    return False\n",
            "the batch has one text, or nothing is compared: it always says False",
            same_as="what is compared can never differ: one tensor under two "
            "names, since y = x copies nothing, or shapes alone",
        ),
        Wrong(
            "moved[text] = False",
            "moved[text] = False\n        moved = moved[:, -1]",
            "only the last row of each text is looked at",
        ),
        Wrong(
            "moved[text] = False",
            "moved[text] = False\n        moved = moved[..., 0]",
            "only the first number of each row is looked at",
        ),
        Wrong(
            "moved[text] = False",
            "moved[text] = False\n        moved = moved[:1]",
            "only the rows of the first text are looked at",
        ),
        Wrong(
            "moved[text] = False",
            "moved[text] = False\n        moved = moved[-1:]",
            "only the rows of the last text are looked at",
        ),
        Wrong(
            "changed[text] = torch.randn(7, 5, dtype=torch.float64)",
            "changed[text, :, 0] = torch.randn(7, dtype=torch.float64)",
            "only the first number of each token is changed, so that what comes "
            "from others is missed",
        ),
        Wrong(
            "changed[text] = torch.randn(7, 5, dtype=torch.float64)",
            "changed[text] += 1.0",
            "the same number is added to a whole text, which leaves its "
            "differences as they were",
        ),
        Wrong(
            "if moved.any():",
            "moved[text] = True\n        if moved.all():",
            "a text counts only if all numbers of all others move; one is enough",
        ),
        Wrong(
            "for text in range(3):",
            "for text in range(1, 3):",
            "the first text is never changed",
        ),
        Wrong(
            "for text in range(3):",
            "for text in range(2):",
            "the last text is never changed",
        ),
        Wrong(
            "moved[text] = False",
            "moved[text] = False\n        moved = moved[(text + 1) % 3]",
            "only the text behind the changed one is looked at",
        ),
        Wrong(
            "    before = attend(x)\n",
            "    return not torch.allclose(attend(x[:1])[0], attend(x)[0])\n",
            "only the first text is compared with itself alone, in a batch of three",
            same_as="only the rows of the first text are looked at",
        ),
        Wrong(
            "    before = attend(x)\n",
            "    return not torch.allclose(attend(x[-1:])[0], attend(x)[-1])\n",
            "only the last text is compared with itself alone",
            same_as="only the rows of the last text are looked at",
        ),
        Wrong(
            "    before = attend(x)\n",
            "    return not torch.allclose(attend(x[1:])[-1], attend(x)[-1])\n",
            "the first text is taken away, and only the last is looked at",
        ),
        Wrong(
            "    before = attend(x)\n",
            "    return not torch.allclose(attend(x[1:]), attend(x)[1:])\n",
            "the first text is taken away, so that what comes from later ones is "
            "missed",
        ),
        Wrong(
            "        moved = (attend(changed) - before).abs() > 1e-9\n"
            "        moved[text] = False\n",
            "        changed[text] = torch.nan\n"
            "        moved = attend(changed).isnan()\n"
            "        moved[text] = False\n",
            "a text becomes nan, and zero times nan is nan, so that a module is "
            "blamed that gives other texts a weight of zero",
        ),
        Wrong(
            "changed[text] = torch.randn(7, 5, dtype=torch.float64)",
            "changed[text] = x[text].flip(0)",
            "the tokens of a text change their order, and nothing new comes in",
        ),
        Wrong(
            "    before = attend(x)\n",
            "    x = torch.randn(4, 7, 5, dtype=torch.float64)\n"
            "    before = attend(x)\n"
            "    for text in range(4):\n"
            "        changed = x.clone()\n"
            "        changed[text] = torch.randn(7, 5, dtype=torch.float64)\n"
            "        behind = (text + 1) % 4\n"
            "        if not torch.allclose(attend(changed)[behind], before[behind]):\n"
            "            return True\n"
            "    return False\n"
            "    before = attend(x)\n",
            "of four texts only the one behind the changed one is looked at",
        ),
        Wrong(
            "        moved[text] = False\n",
            "        moved = (attend(changed).sum() - before.sum()).abs() > 1e-9\n",
            "sums over all texts are compared, in which the changed one counts",
        ),
        Wrong(
            "    before = attend(x)\n",
            "    alone = attend(x[:1])\n"
            "    return not torch.allclose(attend(x[:1].repeat(3, 1, 1)), alone)\n"
            "    before = attend(x)\n",
            "a text is compared with copies of itself, so that what it gets from "
            "others is what it would get alone",
        ),
        Wrong(
            "for text in range(3):",
            "for text in (0, 2):",
            "only the first and the last text are changed",
        ),
        Wrong(
            "if moved.any():",
            "if moved:",
            "a table is asked for one answer: .any() says whether one of its "
            "entries is True",
        ),
        Wrong(
            "        moved[text] = False\n",
            "        moved = moved & (torch.arange(3) != text)[:, None, "
            "None].expand_as(x)\n",
            "rows are taken to have as many numbers as tokens; they have V",
        ),
        Wrong(
            "x = torch.randn(3, 7, 5, dtype=torch.float64)\n"
            "    before = attend(x)\n"
            "    for text in range(3):",
            "x = torch.randn(2, 7, 5, dtype=torch.float64)\n"
            "    before = attend(x)\n"
            "    for text in range(1):",
            "there are two texts, and the first alone is changed, so that what the "
            "second does to it is missed",
        ),
    ],
    survivors={
        "(attend(changed) - before).abs() > 1e-09 -> "
        "(attend(changed) - before).abs() >= 1e-09": "no number moves by that",
        "(attend(changed) - before).abs() -> attend(changed) - before": "of many "
        "numbers that move some grow",
    },
    minutes=15,
)
