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

from headway.practice import Exercise

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
    stars=1,
    minutes=8,
)
