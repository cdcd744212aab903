"""Slow down the slow pairs

For a text s times as long as in training, YaRN keeps the speeds of the fast pairs,
divides those of the slow ones by s, and blends between.

Write `yarn_speeds(speeds, s, first, last)`: `speeds` (D / 2), in 64 bits, are those of
training, the fastest first. Pairs up to number `first` are kept, pairs from number
`last` on are divided, both counted from zero. Between them, what is kept falls along a
straight line from one to zero, and the new speed is that share of the old speed, plus
the rest of the old speed divided by s. Compute the share in 64 bits, too.
"""

from headway.practice import Exercise

# --- your file ---
import torch
from torch import Tensor


def yarn_speeds(speeds: Tensor, s: float, first: int, last: int) -> Tensor:
    """Blend the speeds (D / 2) of pairs with slower ones, by the number of the pair."""
    # --- write ---
    pair = torch.arange(len(speeds), dtype=torch.float64)
    divided = ((pair - first) / (last - first)).clamp(0, 1)
    return (1 - divided) * speeds + divided * speeds / s
    # --- written ---


if __name__ == "__main__":
    speeds = 10_000.0 ** (-torch.arange(8, dtype=torch.float64) / 8)
    print(speeds / yarn_speeds(speeds, 16.0, first=2, last=6))
    # tensor([ 1.0000,  1.0000,  1.0000,  1.3061,  1.8824,  3.3684, 16.0000,
    #         16.0000], dtype=torch.float64)
# --- end of your file ---


def draw(d):  # type: ignore[no-untyped-def]
    if not d.G < d.T < d.S:
        raise ValueError("the ramp has no room")
    speeds = 1000.0 ** (-torch.arange(d.S, dtype=torch.float64) / d.S)
    return speeds, 2.0 + d.W, d.G, d.T


EXERCISE = Exercise(
    answer="yarn_speeds",
    read=("positions/rotary_scaling/#which-pairs-are-slow", "Which pairs are slow?"),
    hints=(
        "Which pairs must keep their speed, so that neighbours can be told apart?",
        "Make a ramp over the numbers of the pairs: zero up to `first`, one from "
        "`last` on, straight between. clamp cuts off what goes beyond.",
        "The ramp is how far a pair is behind `first`, as a share of the way to "
        "`last`. Mix the old speeds and the divided ones by it.",
    ),
    draw=draw,
    trials=(
        {"G": 1, "T": 4},
        {"S": 9, "W": 14, "G": 2, "T": 6},
        {"S": 6, "W": 1, "G": 1, "T": 3},
        {"S": 8, "G": 0, "T": 5},
    ),
    law="The fastest pair keeps its speed, the slowest is divided by s, and with s = 1 "
    "nothing changes.",
    right=[
        """
        # A loop over the pairs: the words of the task, with what is kept and the rest.
        new = []
        for i, speed in enumerate(speeds):
            share = min(max((last - i) / (last - first), 0.0), 1.0)
            new.append(share * speed + (1 - share) * speed / s)
        return torch.stack(new)
        """,
        """
        # Three pieces, joined: no number has to be cut off.
        keep = 1 - torch.linspace(0, 1, last - first + 1, dtype=torch.float64)
        ones = torch.ones(first, dtype=torch.float64)
        zeros = torch.zeros(len(speeds) - last - 1, dtype=torch.float64)
        return speeds * torch.cat([ones, keep + (1 - keep) / s, zeros + 1 / s])
        """,
        """
        # torch.lerp blends by a share: from the old speeds to the divided ones.
        pair = torch.arange(len(speeds)).to(speeds.dtype)
        divided = ((pair - first) / (last - first)).clamp(0, 1)
        return torch.lerp(speeds, speeds / s, divided)
        """,
    ],
    stars=2,
    minutes=12,
)
