"""A ring of slots

With a window of W tokens a cache needs W slots, and no more: token p goes to slot
p modulo W, over the one that is forgotten.

Write `write(slots, positions, key, start)`: put the keys of T new tokens, the first of
which has position `start`, into a ring. `slots` (W, D) holds keys, `positions` (W) the
position of each, or -1 for an empty slot; `key` is (T, D), and T may be larger than W.
Give new slots and new positions; leave those that you were given as they were.
"""

from headway.practice import Exercise, Wrong

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
    wrong=[
        Wrong(
            "slots[(start + t) % W] = one",
            "slots[t % W] = one",
            "the keys of each piece begin again at the first slot, though its "
            "positions do not",
        ),
        Wrong("= start + t\n", "= t\n", "positions begin again with each piece"),
        Wrong(
            "enumerate(key)",
            "enumerate(key[:W])",
            "of a piece longer than the ring "
            "the first tokens are kept, and not the last",
            exhibit="caches/#longer-than-the-ring",
        ),
        Wrong(
            "slots, positions = slots.clone(), positions.clone()",
            "pass",
            "the ring that was given is changed",
        ),
        Wrong(
            "slots[(start + t) % W] = one",
            "slots[(start + t + 1) % W] = one",
            "keys go to the slot behind their own",
        ),
        Wrong(
            "positions[(start + t) % W] = start + t",
            "pass",
            "positions are not written",
            exhibit="caches/#hidden-but-read",
        ),
        Wrong("W = len(slots)", "W = len(slots) - 1", "one slot is never used"),
        Wrong(
            "        slots[(start + t) % W] = one\n"
            "        positions[(start + t) % W] = start + t\n",
            "        slots[t % W] = one\n        positions[t % W] = start + t\n",
            "each piece begins again at the first slot, with its keys and with its "
            "positions",
        ),
        Wrong(
            " = start + t\n",
            " = (start + t) % W\n",
            "the number of the slot is written where the position of the token belongs",
        ),
        Wrong(
            " = start + t\n",
            " = start + t + 1\n",
            "positions are counted from one",
        ),
        Wrong(
            "enumerate(key)",
            "enumerate(key[-W:])",
            "of a piece longer than the ring the last tokens are kept, but get the "
            "positions of its first",
        ),
        Wrong(
            "slots, positions = slots.clone(), positions.clone()",
            "slots, positions = torch.zeros_like(slots), torch.full_like(positions, "
            "-1)",
            "each piece begins with an empty ring, and what the ring held is gone",
        ),
        Wrong(
            "slots, positions = slots.clone(), positions.clone()",
            "slots = slots.clone()",
            "the positions that were given are changed: only the keys are copied",
        ),
        Wrong(
            "        slots[(start + t) % W] = one\n"
            "        positions[(start + t) % W] = start + t\n",
            "        slots = torch.cat([slots[1:], one[None]])\n"
            "        last = torch.tensor([start + t])\n"
            "        positions = torch.cat([positions[1:], last])\n",
            "all slots move up by one for each token, and the newest stands last: "
            "that is no ring",
        ),
        Wrong(
            "        slots[(start + t) % W] = one\n"
            "        positions[(start + t) % W] = start + t\n",
            "        oldest = positions.argmin()\n"
            "        slots[oldest] = one\n"
            "        positions[oldest] = start + t\n",
            "a token goes to the first empty slot, or to the oldest: a ring that "
            "does not begin with token 0 then lies elsewhere",
        ),
        Wrong(
            "slots, positions = slots.clone(), positions.clone()",
            "positions = positions.clone()",
            "the keys that were given are changed: only the positions are copied",
        ),
        Wrong(
            "        slots[(start + t) % W] = one\n"
            "        positions[(start + t) % W] = start + t\n",
            "        slots[(start + t) % len(key)] = one\n"
            "        positions[(start + t) % len(key)] = start + t\n",
            "the remainder is taken by the number of new tokens; it should be "
            "taken by W",
        ),
        Wrong(
            "        slots[(start + t) % W] = one\n"
            "        positions[(start + t) % W] = start + t\n",
            "        slots[(start + t) // W] = one\n"
            "        positions[(start + t) // W] = start + t\n",
            "it is divided by W; the remainder should be taken",
        ),
        Wrong(
            "W = len(slots)",
            "W = len(slots) + 1",
            "one slot more is counted than there is",
            same_as="the remainder is taken by the number of new tokens; it should be "
            "taken by W",
        ),
        Wrong(
            "W = len(slots)",
            "W = slots.shape[1]",
            "the numbers of a key are counted; slots should be, which are axis 0",
        ),
        Wrong(
            " = start + t\n",
            " = start\n",
            "all new tokens get the position of the first",
        ),
        Wrong(
            "enumerate(key)",
            "[*enumerate(key)][-1:]",
            "only the last of the new tokens is written",
        ),
        Wrong(
            "enumerate(key)",
            "[*enumerate(key)][:1]",
            "only the first of the new tokens is written",
        ),
        Wrong(
            "enumerate(key)",
            "[*enumerate(key)][:-1]",
            "the last of the new tokens is not written",
        ),
        Wrong(
            "enumerate(key)",
            "reversed([*enumerate(key)])",
            "the tokens are written from the last to the first, so that in a "
            "long piece old ones overwrite new ones",
            same_as="of a piece longer than the ring the first tokens are kept, and "
            "not the last",
        ),
        Wrong(
            "        slots[(start + t) % W] = one\n"
            "        positions[(start + t) % W] = start + t\n",
            "        slots[(start + t + 1) % W] = one\n"
            "        positions[(start + t + 1) % W] = start + t\n",
            "keys and positions go to the slot behind their own",
        ),
        Wrong(
            "        slots[(start + t) % W] = one\n"
            "        positions[(start + t) % W] = start + t\n",
            "        slots[(start + t - 1) % W] = one\n"
            "        positions[(start + t - 1) % W] = start + t\n",
            "keys and positions go to the slot before their own",
        ),
        Wrong(
            "        slots[(start + t) % W] = one\n"
            "        positions[(start + t) % W] = start + t\n",
            "        slots[(start + t) % W] = one\n    positions[start % W] = start\n",
            "the position of the first new token alone is written",
        ),
        Wrong(
            "        slots[(start + t) % W] = one\n"
            "        positions[(start + t) % W] = start + t\n",
            "        place = min(start + t, W - 1)\n"
            "        slots[place] = one\n"
            "        positions[place] = start + t\n",
            "once the ring is full, all tokens go to its last slot; they "
            "should go on from the first",
        ),
        Wrong(
            "        slots[(start + t) % W] = one\n"
            "        positions[(start + t) % W] = start + t\n",
            "        if (start + t) < W:\n"
            "            slots[start + t] = one\n"
            "            positions[start + t] = start + t\n",
            "once the ring is full, nothing is written any more",
        ),
        Wrong(
            "    return slots, positions\n",
            "    return positions, slots\n",
            "the two results are given in the opposite order",
        ),
        Wrong(
            "    W = len(slots)\n",
            "    W = len(slots)\n"
            "    if len(key) >= W:\n"
            "        first = start + len(key) - W\n"
            "        return key[-W:].clone(), torch.arange(first, first + W)\n",
            "a piece that fills the ring is put down in order of time, from the "
            "first slot on; each token should go to its position modulo W",
        ),
        Wrong(
            "    return slots, positions\n",
            "    return slots\n",
            "the slots are given alone, without the positions",
        ),
        Wrong(
            "    return slots, positions\n",
            "    at = positions.argsort()\n    return slots[at], positions[at]\n",
            "the slots are sorted by position; each token should stay at its position "
            "modulo W",
        ),
        Wrong(
            "    return slots, positions\n",
            "    return torch.cat([slots, key])[-W:], positions\n",
            "the keys are appended and the last W kept, and the positions are those "
            "of a ring",
        ),
        Wrong(
            "    for t, one in enumerate(key):\n"
            "        slots[(start + t) % W] = one\n"
            "        positions[(start + t) % W] = start + t\n",
            "    slots = torch.cat([slots, key])[-W:]\n"
            "    new = torch.arange(start, start + len(key))\n"
            "    positions = torch.cat([positions, new])[-W:]\n",
            "keys are appended and the last W kept, so that all move: that is no ring",
            same_as="all slots move up by one for each token, and the newest stands "
            "last: that is no ring",
        ),
        Wrong(
            "    for t, one in enumerate(key):\n"
            "        slots[(start + t) % W] = one\n"
            "        positions[(start + t) % W] = start + t\n",
            "    end = start + len(key)\n"
            "    slots[start % W : end % W] = key[: max(end % W - start % W, 0)]\n"
            "    positions[start % W : end % W] = torch.arange(start, end)[: max(end "
            "% W - start % W, 0)]\n",
            "one slice is written, which is empty where the new tokens go around the "
            "end of the ring",
        ),
        Wrong(
            "    for t, one in enumerate(key):\n"
            "        slots[(start + t) % W] = one\n"
            "        positions[(start + t) % W] = start + t\n",
            "    at = start % W\n"
            "    room = key[: W - at]\n"
            "    slots[at : at + len(room)] = room\n"
            "    positions[at : at + len(room)] = start + torch.arange(len(room))\n",
            "what does not fit before the end of the ring is left out; it should go "
            "on from the first slot",
        ),
        Wrong(
            "    for t, one in enumerate(key):\n"
            "        slots[(start + t) % W] = one\n"
            "        positions[(start + t) % W] = start + t\n",
            "    at = (start + torch.arange(len(key))) % W\n"
            "    slots[at] = key\n"
            "    positions[at] = at\n",
            "the numbers of the slots are written as positions, all at once",
            same_as="the number of the slot is written where the position of the "
            "token belongs",
        ),
        Wrong(
            "    for t, one in enumerate(key):\n"
            "        slots[(start + t) % W] = one\n"
            "        positions[(start + t) % W] = start + t\n",
            "    at = start % W\n"
            "    slots[at : at + len(key)] = key\n"
            "    positions[at : at + len(key)] = start + torch.arange(len(key))\n",
            "the keys are written by one slice, which does not go around the end of "
            "the ring",
        ),
        Wrong(
            "enumerate(key)",
            "enumerate(key, 1)",
            "the new tokens are counted from one, so that keys and positions are one "
            "too far",
        ),
        Wrong(
            "        slots[(start + t) % W] = one\n",
            "        slots[(start + t) % W] += one\n",
            "keys are added to what stands in the slot; they should replace it",
        ),
        Wrong(
            "        slots[(start + t) % W] = one\n",
            "        slots[start % W] = one\n",
            "all keys of a piece go to the slot of its first token",
        ),
        Wrong(
            "        slots[(start + t) % W] = one\n"
            "        positions[(start + t) % W] = start + t\n",
            "        slots[start % W] = one\n        positions[start % W] = start\n",
            "all tokens of a piece go to the slot of the first, with its position",
        ),
        Wrong(
            "        slots[(start + t) % W] = one\n"
            "        positions[(start + t) % W] = start + t\n",
            "        slots[(start + t) % W] = one\n"
            "        positions[t % W] = start + t\n",
            "the positions of each piece begin again at the first slot, though its "
            "keys do not",
        ),
        Wrong(
            "        slots[(start + t) % W] = one\n"
            "        positions[(start + t) % W] = start + t\n",
            "        slots[(start + t) % W] = one\n"
            "        positions[start + t] = start + t\n",
            "positions are written at the position itself, and not at its remainder",
        ),
        Wrong(
            "    W = len(slots)\n",
            "    W = len(slots)\n    start = int(positions.max()) + 1\n",
            "the ring is taken to say where it goes on; an empty one may begin at any "
            "position",
        ),
        Wrong(
            "    W = len(slots)\n",
            "    W = len(slots)\n    key = key[-W:]\n",
            "of a long piece the last tokens are kept, with the positions of its first",
            same_as="of a piece longer than the ring the last tokens are kept, but "
            "get the positions of its first",
        ),
        Wrong(
            "        slots[(start + t) % W] = one\n"
            "        positions[(start + t) % W] = start + t\n",
            "        empty = (positions == -1).nonzero()\n"
            "        place = int(empty[0]) if len(empty) else (start + t) % W\n"
            "        slots[place] = one\n"
            "        positions[place] = start + t\n",
            "a token goes to the first empty slot as long as there is one; it should "
            "always go to its position modulo W",
        ),
        Wrong(
            "    for t, one in enumerate(key):\n"
            "        slots[(start + t) % W] = one\n"
            "        positions[(start + t) % W] = start + t\n",
            "    skip = max(len(key) - W, 0)\n"
            "    for t, one in enumerate(key[skip:]):\n"
            "        slots[(start + skip + t) % W] = one\n"
            "        positions[(start + skip + t) % W] = start + t\n",
            "of a piece longer than the ring the last tokens are kept in their slots, "
            "with the positions of its first",
        ),
        Wrong(
            "    for t, one in enumerate(key):\n"
            "        slots[(start + t) % W] = one\n"
            "        positions[(start + t) % W] = start + t\n",
            "    skip = max(len(key) - W, 0)\n"
            "    for t, one in enumerate(key[skip:]):\n"
            "        slots[(start + t) % W] = one\n"
            "        positions[(start + t) % W] = start + skip + t\n",
            "of a piece longer than the ring the last tokens are kept with their "
            "positions, in the slots of its first",
        ),
        Wrong(
            "        slots[(start + t) % W] = one\n"
            "        positions[(start + t) % W] = start + t\n",
            "        slots[(start + t - 1) % W] = one\n"
            "        positions[(start + t - 1) % W] = start + t - 1\n",
            "all positions are one too small, and so are the slots",
        ),
        Wrong(
            "slots, positions = slots.clone(), positions.clone()",
            "slots, positions = torch.zeros_like(slots), positions.clone()",
            "the keys that the ring held are gone",
        ),
        Wrong(
            "slots, positions = slots.clone(), positions.clone()",
            "slots, positions = slots.clone(), torch.full_like(positions, -1)",
            "the positions that the ring held are gone",
        ),
        Wrong(
            "        slots[(start + t) % W] = one\n",
            "        slots[(start + t) % W] = key[(start + t) % len(key)]\n",
            "keys are looked up by their position in the text; they are counted from "
            "the first of the piece",
        ),
        Wrong(
            "enumerate(key)",
            "enumerate(key[start:])",
            "the keys are cut by `start`, as if `key` had the whole text",
        ),
        Wrong(
            "enumerate(key)",
            "enumerate(key.T)",
            "the numbers of a key are gone through, and not the tokens",
        ),
    ],
    stars=2,
    minutes=10,
)
