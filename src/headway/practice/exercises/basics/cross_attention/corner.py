"""Cross-attention by a mask alone

Put the memory and the text into one row, the memory first, and call `attention` once,
on all of them. Write `corner(S, T)`: the mask that makes the last T rows of the result
what cross-attention gives.

The mask is boolean, True where a query may look. Its shape is (S + T, S + T), queries
and keys, or broadcasts to that. What the first S rows get does not matter.
"""

from headway.practice import Exercise

# --- your file ---
import torch
from torch import Tensor


def corner(S: int, T: int) -> Tensor:
    """Give a mask for a row of S tokens of memory and T of text."""
    # --- write ---
    is_memory = torch.arange(S + T) < S
    return is_memory.expand(S + T, -1)
    # --- written ---


if __name__ == "__main__":
    from headway import attention

    x, memory = torch.randn(6, 5).double(), torch.randn(11, 5).double()
    row = torch.cat([memory, x])
    rows = attention(row, row, row, mask=corner(11, 6))[11:]
    print(torch.allclose(rows, attention(x, memory, memory)))
    # True
# --- end of your file ---


def run(corner, memory, x):  # type: ignore[no-untyped-def]
    from headway import attention

    S, T = len(memory), len(x)
    row = torch.cat([memory, x])
    mask = torch.broadcast_to(corner(S, T), (S + T, S + T))
    return attention(row, row, row, mask=mask)[S:]


EXERCISE = Exercise(
    answer="corner",
    read=("basics/cross_attention/#the-module-by-hand", "The module, by hand"),
    hints=(
        "Of whom may a key be, if cross-attention is to come out?",
        "The mask depends on the key alone: a key may be seen if it is of the memory.",
        "Number the S + T places, and compare the numbers with S.",
    ),
    draw=lambda d: (d.normal(d.S, d.E), d.normal(d.T, d.E)),
    ask=run,
    trials=({}, dict.fromkeys("BHGTSDVEW", 4), {"loud": 2.0}, {"S": 3, "T": 8}),
    law="Cross-attention is self-attention in a longer row, of which a mask leaves one "
    "corner.",
    right=[
        """
        # One row for all queries: the shortest, as all may see the same keys.
        return (torch.arange(S + T) < S)[None]
        """,
        """
        # Blocks: longer, and good where the memory is to see itself, too, as here.
        mask = torch.zeros(S + T, S + T, dtype=torch.bool)
        mask[:, :S] = True
        return mask
        """,
        """
        # The corner alone; a token of the memory sees itself, so no row is empty.
        mask = torch.eye(S + T, dtype=torch.bool)
        mask[S:, :S] = True
        mask[S:, S:] = False
        return mask
        """,
    ],
    survivors={
        "is_memory.expand(S + T, -1) -> is_memory": "it broadcasts to the same",
    },
    minutes=6,
)
