"""A cache that does not copy

Room for a whole text is reserved once, and each new key is written to its place.

Write `put(room, length, key)`: `room` (H, N, D) has room for N tokens, of which
`length` are in use; `key` (H, T, D) are the next T. Write them to their place in
`room`, and give two things: all keys so far, (H, length + T, D), and how many they are.
What you give must not be a copy. The rest of the room holds anything, nan included.
"""

from headway.practice import Exercise, Property, Wrong

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
    wrong=[
        Wrong(
            "room[:, length:end] = key",
            "room[:, : key.shape[1]] = key",
            "each piece is written to the beginning, over the piece before",
        ),
        Wrong(
            "return room[:, :end], end",
            "return room, end",
            "all of the room is given, with places that were never written",
            exhibit="caches/#the-rest-of-the-page",
        ),
        Wrong(
            "return room[:, :end], end",
            "return room[:, length:end], end",
            "only the new keys are given, and the past is not",
        ),
        Wrong(
            "return room[:, :end], end",
            "return room[:, :end], length",
            "the length is not moved on, so that the next piece is written over this",
        ),
        Wrong(
            "return room[:, :end], end",
            "return room[:, :end], end + key.shape[1]",
            "the new keys are counted twice, so that a gap is left before the next "
            "piece",
        ),
        Wrong(
            "return room[:, :end], end",
            "return room[:, :end], length + 1",
            "a piece is counted as one token",
        ),
        Wrong(
            "    room[:, length:end] = key\n",
            "",
            "the new keys are not written",
        ),
        Wrong(
            "return room[:, :end], end",
            "return room[:, :length], end",
            "what is read ends before the new keys: a token does not see itself",
        ),
        Wrong(
            "    room[:, length:end] = key\n    return room[:, :end], end",
            "    return torch.cat([room[:, :length], key], dim=1), end",
            "old and new keys are joined in a copy, and nothing is written to the room",
        ),
        Wrong(
            "room[:, length:end] = key",
            "room[length:end] = key",
            "the slice is taken along the heads, and not along the tokens",
        ),
        Wrong(
            "room[:, length:end] = key",
            "room[:, length] = key",
            "the whole piece is written to the place of one token; it may have several",
        ),
        Wrong(
            "    return room[:, :end], end",
            "    return room[:, :end], key.shape[1]",
            "the new keys are counted, and not all so far",
        ),
        Wrong(
            "    return room[:, :end], end",
            "    return end, room[:, :end]",
            "the two results are given in the opposite order",
        ),
        Wrong(
            "    return room[:, :end], end",
            "    return room[:, :end]",
            "the keys are given alone, and not how many they are",
        ),
        Wrong(
            "    return room[:, :end], end",
            "    return room[:, : end - 1], end",
            "the last of the new keys is not given",
        ),
        Wrong(
            "room[:, length:end] = key",
            "room[:, -key.shape[1] :] = key",
            "new keys are written to the end of the room, and not behind the old",
        ),
        Wrong(
            "    room[:, length:end] = key\n",
            "    room[:, length + 1 : end + 1] = key\n",
            "a place is left out before each piece",
        ),
        Wrong(
            "key.shape[1]",
            "key.shape[0]",
            "the heads are counted, and not the tokens",
        ),
        Wrong(
            "room[:, length:end] = key",
            "room[:, length:] = key",
            "the slice that is written goes to the end of the room; it should be as "
            "long as the piece",
        ),
        Wrong(
            "room[:, length:end] = key",
            "room[:, end : end + key.shape[1]] = key",
            "the length is moved on before the keys are written, so that they "
            "stand one piece too late",
        ),
        Wrong(
            "room[:, length:end] = key",
            "room[:, length - 1 : end - 1] = key",
            "keys are written one place too early",
        ),
        Wrong(
            "return room[:, :end], end",
            "return room[:end], end",
            "what is given is cut along the heads; it should be cut along the tokens",
        ),
        Wrong(
            "return room[:, :end], end",
            "return room[..., :end], end",
            "what is given is cut along the numbers; it should be cut along the tokens",
        ),
        Wrong(
            "key.shape[1]",
            "key.shape[2]",
            "the numbers of a key are counted; tokens should be, which are axis 1",
        ),
        Wrong(
            "    room[:, length:end] = key\n",
            "    for t in range(key.shape[1]):\n        room[:, length] = key[:, t]\n",
            "every token of the piece is written to one place, and only the "
            "last one stays",
        ),
        Wrong(
            "return room[:, :end], end",
            "return room[:, : end + 1], end",
            "one place too many is given, which was not written yet",
        ),
        Wrong(
            "room[:, length:end] = key",
            "room[:, length:end] = key.flip(1)",
            "the new keys are written in reverse order",
        ),
        Wrong(
            "room[:, length:end] = key",
            "room = room.clone()\n    room[:, length:end] = key",
            "the keys are written to a copy of the room, and the room itself "
            "stays empty",
            same_as="old and new keys are joined in a copy, and nothing is written to "
            "the room",
        ),
        Wrong(
            "return room[:, :end], end",
            "return room[:, :end], len(key)",
            "the heads are counted for the new length: len() gives the first axis",
        ),
        Wrong(
            "return room[:, :end], end",
            "return room[:, : key.shape[1]], end",
            "what is given ends at the number of new tokens; it should end at "
            "the number of all",
        ),
        Wrong(
            "return room[:, :end], end",
            "return room[:, :end], room.shape[1]",
            "the size of the room is given as the length",
        ),
        Wrong(
            "room[:, length:end] = key",
            "room[0, length:end] = key[0]",
            "only the first head is written",
        ),
        Wrong(
            "room[:, length:end] = key",
            "room[:, length:end] += key",
            "the new keys are added to what the room holds there",
        ),
        Wrong(
            "room[:, length:end] = key",
            "room[:, length : end - 1] = key",
            "the slice that is written is one place too short: its end is not "
            "part of it",
        ),
        Wrong(
            "room[:, length:end] = key",
            "room[:, length] = key[:, 0]",
            "only the first token of a piece is written",
        ),
        Wrong(
            "room[:, length:end] = key",
            "room[:, length] = key[:, -1]",
            "only the last token of a piece is written, to the place of the first",
            same_as="every token of the piece is written to one place, and only the "
            "last one stays",
        ),
        Wrong(
            "return room[:, :end], end",
            "return room[:, : end - 1], end - 1",
            "one token too few is given and counted",
        ),
        Wrong(
            "return room[:, :end], end",
            "return room[:, :end], end + 1",
            "one token too many is counted",
        ),
        Wrong(
            "room[:, length:end] = key",
            "place = room[:, length:end]\n    place = key",
            "a name is given to the keys, and nothing is written: place[:] = key "
            "writes",
            same_as="the new keys are not written",
        ),
        Wrong(
            "room[:, length:end] = key",
            "room[:, length : end - 1] = key[:, :-1]",
            "the last token of a piece is not written",
        ),
        Wrong(
            "    room[:, length:end] = key\n",
            "    for t in range(key.shape[1]):\n"
            "        room[:, length + t - 1] = key[:, t]\n",
            "keys are written one place too early, which for the first is the end "
            "of the room",
        ),
        Wrong(
            "return room[:, :end], end",
            "return room[:, : end + key.shape[1]], end",
            "the new keys are counted twice in what is given",
        ),
        Wrong(
            "room[:, length:end] = key\n    return room[:, :end], end",
            "for t in range(key.shape[1]):\n"
            "        room[:, length + t] = key[:, t]\n"
            "        length += 1\n"
            "    return room[:, :length], length",
            "each token moves the place on twice, so that every other place is left"
            " out",
        ),
    ],
    minutes=8,
)
