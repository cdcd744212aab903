"""A window without slots

With a window of W a token sees itself and the W - 1 before it. So a cache may join what
it kept and what is new, and cut off what nobody will see again.

Write `keep_tail(kept, key, W)`: `kept` (H, S, D) are keys of earlier tokens, S = 0 at
first; `key` (H, T, D) are new, and T may be larger than W. Give two things: the keys
that the new tokens choose from (all that was kept, then all that is new), and what must
be kept for the token after them, and no more. W may be one.
"""

from headway.practice import Exercise

# --- your file ---
import torch
from torch import Tensor


def keep_tail(kept: Tensor, key: Tensor, W: int) -> tuple[Tensor, Tensor]:
    """Join keys (H, S, D) and (H, T, D), and cut off what has left the window W."""
    # --- write ---
    keys = torch.cat([kept, key], dim=1)
    start = max(0, keys.shape[1] - (W - 1))
    return keys, keys[:, start:]
    # --- written ---


if __name__ == "__main__":
    kept = torch.zeros(1, 0, 1)
    for piece in torch.arange(8.0).view(1, 8, 1).split([2, 1, 5], dim=1):
        keys, kept = keep_tail(kept, piece, 3)
        print(keys.flatten().tolist())
    # [0.0, 1.0]
    # [0.0, 1.0, 2.0]
    # [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
# --- end of your file ---


def run(keep_tail, key, cuts, W):  # type: ignore[no-untyped-def]
    kept, seen = key[:, :0], []
    for piece in key.split(cuts, dim=1):
        keys, kept = keep_tail(kept, piece, W)
        seen.append((keys, kept))
    return seen


EXERCISE = Exercise(
    answer="keep_tail",
    read=("decoding/sliding_window/#a-ring-of-slots", "A ring of slots"),
    hints=(
        "How many of the old tokens does the next new token see, besides itself?",
        "Join first, give all of that to the new tokens, and cut afterwards, for those "
        "that come later.",
        "The cut begins W - 1 from the end, and never before the beginning. Try your "
        "slice with W = 1: what does a slice from -0 on give?",
    ),
    draw=lambda d: (d.normal(d.H, 12, d.D), [2, 1, 6, 3], d.W),
    ask=run,
    trials=({}, {"W": 1}, {"W": 2, "H": 12, "D": 12}, {"W": 6}, {"W": 20}),
    law="Joining and cutting gives what the ring gives, with one place less, and with "
    "a copy for each piece.",
    right=[
        """
        # narrow with a length of zero gives nothing, which a slice from -0 does not.
        keys = torch.cat((kept, key), 1)
        length = keys.shape[1]
        few = min(W - 1, length)
        return keys, keys.narrow(1, length - few, few)
        """,
        """
        # Token by token, as a queue: each step can be printed.
        keys = torch.cat((kept, key), 1)
        tokens = list(keys.unbind(1))
        while len(tokens) > W - 1:
            tokens.pop(0)
        return keys, torch.stack(tokens, 1) if tokens else keys[:, :0]
        """,
    ],
    stars=3,
    minutes=8,
)
