"""Heads that share keys

H heads of queries share G heads of keys, in groups of neighbours: with six heads and
two groups, heads 1, 2, 3 use the first keys, and heads 4, 5, 6 the second.

Write `repeat_groups(keys, H)`: keys for each head. `keys` has shape (B, G, S, D), the
result is (B, H, S, D).
"""

from headway.practice import Exercise

# --- your file ---
import torch
from torch import Tensor


def repeat_groups(keys: Tensor, H: int) -> Tensor:
    """Give keys (B, G, S, D) of groups to each of H heads: (B, H, S, D)."""
    # --- write ---
    times = H // keys.shape[1]
    return keys.repeat_interleave(times, dim=1)
    # --- written ---


if __name__ == "__main__":
    keys = torch.tensor([1.0, 2.0]).reshape(1, 2, 1, 1)
    print(repeat_groups(keys, 6).flatten())
    # tensor([1., 1., 1., 2., 2., 2.])
# --- end of your file ---


EXERCISE = Exercise(
    answer="repeat_groups",
    read=("decoding/grouped_query/#in-tensors", "In tensors"),
    hints=(
        "Which keys does the second head use: those of the first, or the next ones?",
        "Each group's keys are repeated in their place, before the next group's come.",
        "There are two functions that repeat: one repeats each element, the other the "
        "whole row. How often, if H heads share G?",
    ),
    draw=lambda d: (d.normal(d.B, d.G, d.S, d.D), d.H),
    trials=({}, {"H": 8, "G": 4, "B": 4, "S": 4, "D": 4}, {"G": 1, "B": 1}, {"G": 6}),
    law="Neighbouring heads share; with as many groups as heads nothing is repeated.",
    right=[
        """
        # expand copies nothing; only the reshape at the end does.
        B, G, S, D = keys.shape
        return keys[:, :, None].expand(B, G, H // G, S, D).reshape(B, H, S, D)
        """,
        """
        # A number of a group for each head: print it to see who shares.
        return keys[:, torch.arange(H) // (H // keys.shape[1])]
        """,
        """
        # A loop over the heads: slow, but it says which keys each of them reads.
        times = H // keys.shape[1]
        return torch.stack([keys[:, h // times] for h in range(H)], dim=1)
        """,
    ],
    stars=1,
    minutes=3,
)
