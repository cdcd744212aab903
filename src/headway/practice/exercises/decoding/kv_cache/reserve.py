"""A cache that does not copy

Room for a whole text is reserved once, and each new key is written to its place.

Write `put(room, length, key)`: `room` (H, N, D) has room for N tokens, of which
`length` are in use; `key` (H, T, D) are the next T. Write them to their place in
`room`, and give two things: all keys so far, (H, length + T, D), and how many they are.
What you give must not be a copy. The rest of the room holds anything, nan included.
"""

from headway.practice import Exercise, Property

# --- your file ---
import torch
from torch import Tensor


def put(room: Tensor, length: int, key: Tensor) -> tuple[Tensor, int]:
    """Write keys (H, T, D) into room (H, N, D), and give all keys so far."""
    # --- write ---
    end = length + key.shape[1]
    room[:, length:end] = key
    return room[:, :end], end
    # --- written ---


if __name__ == "__main__":
    room, length = torch.full((1, 16, 1), torch.nan), 0
    for piece in torch.arange(6.0).view(1, 6, 1).split([3, 1, 2], dim=1):
        keys, length = put(room, length, piece)
        print(keys.flatten(), length)
    # tensor([0., 1., 2.]) 3
    # tensor([0., 1., 2., 3.]) 4
    # tensor([0., 1., 2., 3., 4., 5.]) 6
# --- end of your file ---


def run(put, key, cuts, N):  # type: ignore[no-untyped-def]
    room = torch.full((key.shape[0], N, key.shape[2]), torch.nan, dtype=key.dtype)
    room[:, 1::2] = 7.0  # of an earlier text
    length, seen = 0, {}
    for piece in key.split(cuts, dim=1):
        given = put(room, length, piece)
        if not isinstance(given, (tuple, list)) or len(given) != 2:
            return given
        if not isinstance(given[0], Tensor):
            return given
        keys, length = given
        number = len(seen) // 2 + 1
        seen[f"the keys after piece {number}"] = keys.clone()
        seen[f"their number after piece {number}"] = length
    return seen


def copies_nothing(put, key, cuts, N):  # type: ignore[no-untyped-def]
    room = torch.full((key.shape[0], N, key.shape[2]), torch.nan, dtype=key.dtype)
    keys, _ = put(room, 0, key[:, :2])
    room[:, 0] = 7.0
    return bool((keys[:, 0] == 7.0).all())


EXERCISE = Exercise(
    answer="put",
    read=("decoding/kv_cache/#it-equals-the-package", "It equals the package"),
    hints=(
        "At which place of the room does the first of the new keys stand, and at which "
        "the last?",
        "Assign to a slice along the axis of the tokens; then give another slice, from "
        "the beginning on. A slice is no copy.",
        "The slice that is written begins where the keys so far end, and is as long as "
        "there are new keys; the slice that is read has the same end.",
    ),
    draw=lambda d: (d.normal(d.H, 9, d.D), [4, 3, 2], 12),
    ask=run,
    trials=({}, {"H": 9, "D": 9}, {"H": 1, "D": 1}),
    properties=[
        Property(
            "what it gives is a part of the room, and no copy, such as cat, clone and "
            "contiguous make",
            copies_nothing,
        )
    ],
    law="Each key is written once and never moved, however many follow.",
    right=[
        """
        # narrow: the start and the length say the same as a slice.
        T = key.shape[1]
        room.narrow(1, length, T).copy_(key)
        return room.narrow(1, 0, length + T), length + T
        """,
        """
        # A token at a time: the way an answer grows while a model writes.
        for t, one in enumerate(key.unbind(1)):
            room[:, length + t] = one
        return room[:, : length + key.shape[1]], length + key.shape[1]
        """,
    ],
    minutes=8,
)
