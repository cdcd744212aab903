"""A ring of slots

With a window of W tokens a cache needs W slots, and no more: token p goes to slot
p modulo W, over the one that is forgotten.

Write `write(slots, positions, key, start)`: put the keys of T new tokens, the first of
which has position `start`, into a ring. `slots` (W, D) holds keys, `positions` (W) the
position of each, or -1 for an empty slot; `key` is (T, D), and T may be larger than W.
Give new slots and new positions; leave those that you were given as they were.
"""

from headway.practice import Exercise

# --- your file ---
import torch
from torch import Tensor


def write(
    slots: Tensor, positions: Tensor, key: Tensor, start: int
) -> tuple[Tensor, Tensor]:
    """Write keys (T, D) into a ring of slots (W, D) with positions (W)."""
    # --- write ---
    W = len(slots)
    slots, positions = slots.clone(), positions.clone()
    for t, one in enumerate(key):
        slots[(start + t) % W] = one
        positions[(start + t) % W] = start + t
    return slots, positions
    # --- written ---


if __name__ == "__main__":
    slots, positions = torch.zeros(3, 1), torch.full((3,), -1)
    slots, positions = write(slots, positions, torch.tensor([[10.0], [11.0]]), 0)
    slots, positions = write(slots, positions, torch.tensor([[12.0], [13.0]]), 2)
    print(slots.flatten(), positions)
    # tensor([13., 11., 12.]) tensor([3, 1, 2])
# --- end of your file ---


def run(write, key, W, start):  # type: ignore[no-untyped-def]
    slots, positions = torch.zeros(W, key.shape[1]).double(), torch.full((W,), -1)
    seen: list[object] = []
    for piece in key.split([2, 1, 7, 3], dim=0):
        before = slots.clone(), positions.clone()
        new = write(slots, positions, piece, start)
        kept = torch.equal(before[0], slots) and torch.equal(before[1], positions)
        seen += [*new, kept]
        slots, positions = (torch.as_tensor(one) for one in new)
        start += len(piece)
    return seen


EXERCISE = Exercise(
    answer="write",
    read=("decoding/sliding_window/#a-ring-of-slots", "A ring of slots"),
    hints=(
        "Which slot does the token after the last slot go to?",
        "The remainder of a division by W counts around the ring.",
        "Write token after token: slot and position both go to the remainder of the "
        "token's own position. Work on copies.",
    ),
    draw=lambda d: (d.normal(13, d.D), d.W, d.T),
    ask=run,
    trials=({"T": 0}, {"D": 1, "T": 7, "W": 3}),
    law="The ring holds the newest W tokens, each at its position modulo W.",
    right=[
        """
        # All at once: of a long piece only the last W tokens are left to write.
        W = len(slots)
        new, at = slots.clone(), positions.clone()
        p = start + torch.arange(len(key))
        p, key = p[-W:], key[-W:]
        new[p % W], at[p % W] = key, p
        return new, at
        """,
        """
        # A slot at a time: which is the newest token that belongs there?
        W, end = len(slots), start + len(key)
        new, at = slots.clone(), positions.clone()
        for slot in range(W):
            p = end - 1 - (end - 1 - slot) % W
            if p >= start:
                new[slot], at[slot] = key[p - start], p
        return new, at
        """,
    ],
    stars=2,
    minutes=10,
)
