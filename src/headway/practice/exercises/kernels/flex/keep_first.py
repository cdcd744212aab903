"""A window that keeps the first tokens

A window forgets the first tokens, and many models lean on them. Write
`keep_first(window, first)`, which makes a mask for FlexAttention: a query sees itself
and the newest keys before it, `window` keys in all, and besides the `first` keys of the
text; but never the future.

What you return is a function of four numbers, each a tensor without axes: of the text,
the head, the query and the key. It gives a boolean tensor: True where the query may
look at the key. PyTorch calls it once for all pairs, and so `if`, `and` and `or` do not
work in it.
"""

from headway.practice import Exercise, Wrong

# --- your file ---
from collections.abc import Callable

import torch
from torch import Tensor


def keep_first(window: int, first: int) -> Callable[..., Tensor]:
    """Make a mask_mod of a window that also keeps the first tokens."""

    # --- write ---
    def mod(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        past = kv_idx <= q_idx
        near = kv_idx > q_idx - window
        return past & (near | (kv_idx < first))

    return mod
    # --- written ---


if __name__ == "__main__":
    places, zero = torch.arange(5), torch.tensor(0)
    print(keep_first(2, 1)(zero, zero, places[:, None], places).int())
    # tensor([[1, 0, 0, 0, 0],
    #         [1, 1, 0, 0, 0],
    #         [1, 1, 1, 0, 0],
    #         [1, 0, 1, 1, 0],
    #         [1, 0, 0, 1, 1]], dtype=torch.int32)
# --- end of your file ---


def run(keep_first, T, window, first):  # type: ignore[no-untyped-def]
    # As PyTorch's create_mask does, whose import alone takes a second.
    mod = keep_first(window, first)
    for axes in ((None, None, None, 0), (None, None, 0, None)):
        mod = torch.vmap(mod, axes)
    zero, places = torch.tensor(0), torch.arange(T)
    return mod(zero, zero, places, places)


CASES = [(4, 2, 1), (6, 1, 3), (5, 3, 0), (4, 6, 1), (9, 4, 2)]

EXERCISE = Exercise(
    answer="keep_first",
    read=("kernels/flex/#every-mask-of-this-book", "Every mask of this book"),
    hints=(
        "Three things are asked of a pair. Which of them must hold in any case, and "
        "which of the others is enough?",
        "The key is not in the future, and it is near or among the first. For tables "
        "of true and false, `&` is and, `|` is or.",
        "Near means that the key's number is larger than the query's minus the window; "
        "keys are counted from zero. Mind the brackets around a comparison.",
    ),
    draw=lambda d: CASES[d.case],
    trials=[{"case": n} for n in range(len(CASES))],
    ask=run,
    law="The first tokens are kept for those that come after them, so the future is "
    "hidden in any case.",
    right=[
        """
        # Two masks of their own, joined like those of the chapter.
        def begins(b, h, q_idx, kv_idx):
            return (kv_idx < first) & (kv_idx <= q_idx)

        def near(b, h, q_idx, kv_idx):
            return (q_idx - window < kv_idx) & (kv_idx <= q_idx)

        return lambda *places: near(*places) | begins(*places)
        """,
        """
        # By what is hidden: the future, and what is neither near nor first.
        return lambda b, h, q, k: (k <= q) & ~((q - k >= window) & (k >= first))
        """,
    ],
    wrong=[
        Wrong(
            "past & (near | (kv_idx < first))",
            "past & near | (kv_idx < first)",
            "the first tokens are seen by those before them, too: the future is hidden "
            "in the window alone; it should be hidden in both",
            hint="Who may look at the second token, if two are kept: the first, too?",
        ),
        Wrong(
            "past & (near | (kv_idx < first))",
            "past & near & (kv_idx < first)",
            "all three must hold, so that nothing is seen but the first tokens",
        ),
        Wrong(
            "past & (near | (kv_idx < first))",
            "past & near",
            "the first tokens are forgotten",
        ),
        Wrong(
            "past & (near | (kv_idx < first))",
            "near | (kv_idx < first)",
            "the future is not hidden",
        ),
        Wrong(
            "past & (near | (kv_idx < first))",
            "past & (kv_idx < first)",
            "only the first tokens are seen, and not the window",
        ),
        Wrong(
            "past & (near | (kv_idx < first))",
            "(q_idx <= kv_idx) & ((q_idx > kv_idx - window) | (q_idx < first))",
            "query and key are exchanged",
        ),
        Wrong(
            "kv_idx > q_idx - window",
            "kv_idx >= q_idx - window",
            "the window is one key too long: the token itself counts",
        ),
        Wrong(
            "kv_idx > q_idx - window",
            "kv_idx > q_idx - window + 1",
            "the window is one key too short",
        ),
        Wrong(
            "kv_idx < first",
            "kv_idx <= first",
            "one token too many is kept: keys are counted from zero",
        ),
        Wrong(
            "kv_idx < first",
            "q_idx < first",
            "the first queries see all before them, and the first keys are forgotten",
        ),
        Wrong(
            "kv_idx <= q_idx\n",
            "kv_idx < q_idx\n",
            "a token does not see itself",
            exhibit="triangles/#mask-hides-itself",
        ),
        Wrong(
            "past & (near | (kv_idx < first))",
            "past and (near or kv_idx < first)",
            "`and`, `or`, `not`, `if` or a chain such as a < b < c ask for one answer; "
            "PyTorch asks for all pairs at once",
            hint="For tensors, `&` and `|` join pair by pair.",
        ),
        Wrong(
            "past & (near | (kv_idx < first))",
            "~(past & (near | (kv_idx < first)))",
            "the mask is turned round: True where a key is hidden",
        ),
        Wrong(
            "past & (near | (kv_idx < first))",
            "((q_idx - kv_idx).abs() < window) | (kv_idx < first)",
            "the window reaches to both sides, and nothing hides the future",
        ),
        Wrong(
            "q_idx - window",
            "q_idx - window + first",
            "the first tokens are counted among those of the window, which gets "
            "shorter by them",
        ),
        Wrong(
            "kv_idx > q_idx - window",
            "kv_idx - q_idx < window",
            "the distance is taken the other way round, so that nothing is too far "
            "back",
        ),
        Wrong(
            "kv_idx < first",
            "q_idx - kv_idx < first",
            "the first tokens are counted back from the query, and not from the "
            "beginning of the text",
        ),
        Wrong(
            "past & (near | (kv_idx < first))",
            "kv_idx <= q_idx & (near | (kv_idx < first))",
            "a bracket is missing: `&` binds more strongly than `<=`, so that "
            "the query's number is joined with the mask",
        ),
        Wrong(
            "past & (near | (kv_idx < first))",
            "q_idx >= kv_idx & (near | (kv_idx < first))",
            "a bracket is missing: `&` binds more strongly than `>=`, so that "
            "the key's number is joined with the mask",
        ),
        Wrong(
            "past & (near | (kv_idx < first))",
            "past | near | (kv_idx < first)",
            "the three are joined by `|`, so that one of them is enough",
        ),
        Wrong(
            "kv_idx < first",
            "kv_idx >= first",
            "the comparison is turned round: all but the first tokens are kept",
        ),
        Wrong(
            "kv_idx < first",
            "kv_idx < first - 1",
            "one token too few is kept: keys are counted from zero",
        ),
        Wrong(
            "kv_idx < first",
            "kv_idx == first",
            "only the token behind the first ones is kept",
        ),
        Wrong(
            "kv_idx <= q_idx\n",
            "kv_idx >= q_idx\n",
            "the past is hidden, and the future is seen",
        ),
        Wrong(
            "b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor",
            "b: Tensor, h: Tensor, kv_idx: Tensor, q_idx: Tensor",
            "query and key are taken in each other's order",
            same_as="query and key are exchanged",
        ),
        Wrong(
            "b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor",
            "q_idx: Tensor, kv_idx: Tensor, b: Tensor, h: Tensor",
            "query and key are taken for the first two of the four numbers; "
            "they are the last two",
            same_as="the three are joined by `|`, so that one of them is enough",
        ),
        Wrong(
            "kv_idx > q_idx - window",
            "kv_idx < q_idx - window",
            "the window is turned round: only what has left it is seen",
        ),
        Wrong(
            "kv_idx > q_idx - window",
            "kv_idx < window",
            "the first tokens are counted as a window; a window should move "
            "with the query",
        ),
        Wrong(
            "window: int, first: int",
            "first: int, window: int",
            "the two arguments are taken in each other's order",
        ),
        Wrong(
            "past & (near | (kv_idx < first))",
            "past & near & (kv_idx >= first)",
            "the first tokens are hidden, and the window is all that is seen",
        ),
        Wrong(
            "past & (near | (kv_idx < first))",
            "(past & near) ^ (kv_idx < first)",
            "`^` stands for `|`, so that what is near and among the first is "
            "hidden, and the future is not",
        ),
        Wrong(
            "    return mod\n",
            "    return mod(0, 0, torch.arange(9)[:, None], torch.arange(9))\n",
            "a table is returned; a function should be, which PyTorch can ask",
        ),
        Wrong(
            "past & (near | (kv_idx < first))",
            "torch.where(kv_idx < first, past, near)",
            "the future is hidden among the first tokens alone, and the window "
            "reaches into it",
        ),
        Wrong(
            "q_idx - window",
            "q_idx - window - first",
            "the window is longer by as many keys as are kept of the first",
        ),
        Wrong(
            "kv_idx > q_idx - window",
            "kv_idx // window == q_idx // window",
            "the text is cut into blocks, and near means the same block; a window "
            "should move with the query",
        ),
        Wrong(
            "near | (kv_idx < first)",
            "near ^ (kv_idx < first)",
            "`^` stands for `|`, so that what is near and among the first is hidden",
        ),
        Wrong(
            "past & (near | (kv_idx < first))",
            "past & near | kv_idx < first",
            "a bracket is missing: `|` binds more strongly than `<`, so that the "
            "key's number is joined with the mask before it is compared",
        ),
        Wrong(
            "near | (kv_idx < first)",
            "near | kv_idx < first",
            "brackets are missing around kv_idx < first: `|` binds more strongly "
            "than `<`",
        ),
        Wrong(
            "        return past & (near",
            "        past & (near",
            "the function inside returns nothing: its last line has no return",
        ),
    ],
    stars=1,
    minutes=8,
)
