"""A window without slots

With a window of W a token sees itself and the W - 1 before it. So a cache may join what
it kept and what is new, and cut off what nobody will see again.

Write `keep_tail(kept, key, W)`: `kept` (H, S, D) are keys of earlier tokens, S = 0 at
first; `key` (H, T, D) are new, and T may be larger than W. Give two things: the keys
that the new tokens choose from (all that was kept, then all that is new), and what must
be kept for the token after them, and no more. W may be one.
"""

from headway.practice import Exercise, Wrong

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
    wrong=[
        Wrong(
            "    return keys, keys[:, start:]",
            "    return keys, keys[:, -(W - 1) :]",
            "the slice begins at -(W - 1), which is the beginning if W is one: nothing "
            "is forgotten then",
            hint="With W = 1 nothing need be kept. What does keys[:, -0:] give?",
        ),
        Wrong(
            "keys.shape[1] - (W - 1)",
            "keys.shape[1] - W",
            "W tokens are kept: one more than the next token sees besides itself",
            exhibit="caches/#window-too-wide",
        ),
        Wrong(
            "    return keys, keys[:, start:]",
            "    return keys[:, start:], keys[:, start:]",
            "it is cut first and read afterwards, so that the first tokens of a long "
            "piece find nothing",
            exhibit="caches/#longer-than-the-ring",
        ),
        Wrong(
            "keys[:, start:]",
            "keys[:, : W - 1]",
            "the oldest are kept, and the newest are forgotten",
        ),
        Wrong(
            "max(0, keys.shape[1] - (W - 1))",
            "keys.shape[1] - (W - 1)",
            "while there are few tokens the cut begins below zero, and Python counts "
            "that from the end",
        ),
        Wrong(
            "    return keys, keys[:, start:]",
            "    return keys, keys",
            "nothing is forgotten",
        ),
        Wrong(
            "    return keys, keys[:, start:]",
            "    return keys, key[:, max(0, key.shape[1] - (W - 1)) :]",
            "only new tokens are kept: a short piece pushes out all of the past",
        ),
        Wrong(
            "torch.cat([kept, key], dim=1)",
            "torch.cat([key, kept], dim=1)",
            "new keys are put before the old",
        ),
        Wrong(
            "keys.shape[1] - (W - 1)",
            "keys.shape[1] - (W - 2)",
            "one token too few is kept",
        ),
        Wrong(
            "    return keys, keys[:, start:]",
            "    keys = keys[:, -(W - 1) :]\n    return keys, keys",
            "it is cut first and read afterwards, and with W = 1 it is not cut at all",
            exhibit="caches/#longer-than-the-ring",
        ),
        Wrong(
            "    return keys, keys[:, start:]",
            "    return keys[:, start:], keys",
            "the two results are given in the wrong order",
        ),
        Wrong(
            "torch.cat([kept, key], dim=1)",
            "torch.cat([kept, key], dim=1)[:, -W:]",
            "the new tokens choose from the latest W tokens alone, so that the first "
            "ones of a long piece find too little",
            exhibit="caches/#longer-than-the-ring",
        ),
        Wrong(
            "keys.shape[1] - (W - 1)",
            "len(keys) - (W - 1)",
            "heads are counted, where tokens must be: len() gives the first axis",
        ),
        Wrong(
            "    return keys, keys[:, start:]",
            "    return key, keys[:, start:]",
            "the new tokens choose from the new keys alone; they should see "
            "what was kept, too",
        ),
        Wrong(
            "    return keys, keys[:, start:]",
            "    return keys, kept[:, max(0, kept.shape[1] - (W - 1)) :]",
            "the new keys are not kept for later tokens",
        ),
        Wrong(
            "keys.shape[1] - (W - 1)",
            "keys.shape[1] - W - 1",
            "two tokens too many are kept: brackets are missing around W - 1",
        ),
        Wrong(
            "keys.shape[1] - (W - 1)",
            "keys.shape[2] - (W - 1)",
            "the numbers of a key are counted; tokens should be, which are axis 1",
        ),
        Wrong(
            "torch.cat([kept, key], dim=1)",
            "torch.cat([kept, key], dim=0)",
            "the keys are joined along the heads; they should be joined along "
            "the tokens",
        ),
        Wrong(
            "torch.cat([kept, key], dim=1)",
            "torch.cat([kept, key], dim=2)",
            "the keys are joined along their numbers; they should be joined "
            "along the tokens",
        ),
        Wrong(
            "    return keys, keys[:, start:]",
            "    return keys, keys[:, :start]",
            "what has left the window is kept, and what is in it is forgotten",
        ),
        Wrong(
            "    return keys, keys[:, start:]",
            "    return keys[:, start:]",
            "only what is kept is given, and not the keys that the new tokens "
            "choose from",
        ),
        Wrong(
            "    return keys, keys[:, start:]",
            "    return keys, start",
            "the place of the cut is given; what is kept should be",
        ),
        Wrong(
            "max(0, keys",
            "min(0, keys",
            "min stands where max should, so that nothing is cut off",
        ),
        Wrong(
            "    return keys, keys[:, start:]",
            "    return keys, keys[start:]",
            "the cut is made along the heads; it should be made along the tokens",
        ),
        Wrong(
            "    return keys, keys[:, start:]",
            "    return keys, keys[:, -1:]",
            "only the newest key is kept",
        ),
        Wrong(
            "    return keys, keys[:, start:]",
            "    return keys, kept[:, :0]",
            "nothing is kept",
            same_as="the new keys are not kept for later tokens",
        ),
        Wrong(
            "    return keys, keys[:, start:]",
            "    old = kept[:, max(0, kept.shape[1] - (W - 1)) :]\n"
            "    return keys, torch.cat([old, key], dim=1)",
            "only what was kept is cut, and a long piece stays whole",
        ),
        Wrong(
            "    return keys, keys[:, start:]",
            "    few = max(0, W - 1 - key.shape[1])\n    return keys, keys[:, few:]",
            "the window less the new tokens is cut off; what stands before the "
            "last W - 1 should be",
        ),
        Wrong(
            "    return keys, keys[:, start:]",
            "    return keys[:, -(W - 1 + key.shape[1]) :], keys[:, -W:]",
            "W tokens are kept, and the oldest of them is left out when the "
            "next ones choose",
        ),
        Wrong(
            "    keys = torch.cat([kept, key], dim=1)\n",
            "    keys = torch.cat([kept, key], dim=1)\n"
            "    if key.shape[1] >= W:\n"
            "        keys = key\n",
            "if the new tokens fill the window, they get no kept keys, which the "
            "first of them should still see",
        ),
        Wrong(
            "    start = max(0, keys.shape[1] - (W - 1))\n",
            "    if key.shape[1] >= W:\n"
            "        return keys, key[:, -W:]\n"
            "    start = max(0, keys.shape[1] - (W - 1))\n",
            "if the new tokens fill the window, the last W of them are kept, which "
            "is one more than the next token can see",
        ),
        Wrong(
            "    start = max(0, keys.shape[1] - (W - 1))\n",
            "    if key.shape[1] >= W:\n"
            "        return keys, key\n"
            "    start = max(0, keys.shape[1] - (W - 1))\n",
            "if the new tokens fill the window, all of them are kept",
        ),
        Wrong(
            "    start = max(0, keys.shape[1] - (W - 1))\n",
            "    if key.shape[1] < W - 1:\n"
            "        return keys, keys\n"
            "    start = max(0, keys.shape[1] - (W - 1))\n",
            "if the new tokens do not fill the window, nothing is forgotten",
        ),
        Wrong(
            "keys[:, start:]",
            "keys[:, int(start > 0) :]",
            "at most one key is forgotten with each piece, which may be longer",
        ),
        Wrong(
            "    start = max(0, keys.shape[1] - (W - 1))\n",
            "    if keys.shape[1] <= W:\n"
            "        return keys, keys\n"
            "    start = max(0, keys.shape[1] - (W - 1))\n",
            "W tokens are kept as long as there are no more; W - 1 should be",
        ),
        Wrong(
            "    start = max(0, keys.shape[1] - (W - 1))\n",
            "    if keys.shape[1] < W:\n"
            "        return keys, kept\n"
            "    start = max(0, keys.shape[1] - (W - 1))\n",
            "while the window is not full, the new keys are not kept",
        ),
        Wrong(
            "    return keys, keys[:, start:]",
            "    old = kept[:, -(W - 1 - key.shape[1]) :]\n"
            "    return keys, torch.cat([old, key], dim=1)[:, -(W - 1) :]",
            "the old keys are cut from -(W - 1 - T) on, which is above zero for a "
            "long piece, and zero keeps all",
        ),
        Wrong(
            "    return keys, keys[:, start:]",
            "    return keys, torch.stack(keys.unbind(1)[start:], dim=1)",
            "with W = 1 no token is left, of which torch.stack makes nothing",
        ),
        Wrong(
            "    return keys, keys[:, start:]",
            "    return keys, keys.narrow(1, keys.shape[1] - W + 1, W - 1)",
            "narrow is asked for W - 1 tokens, also while there are fewer",
        ),
        Wrong(
            "keys[:, start:]",
            "keys[:, -max(1, W - 1) :]",
            "at least one key is kept, though with W = 1 none is seen",
        ),
        Wrong(
            "    return keys, keys[:, start:]",
            "    return keys, key[:, : W - 1]",
            "the first of the new keys are kept, and the past is not",
        ),
        Wrong(
            "keys[:, start:]",
            "keys[:, W - 1 :]",
            "the cut begins W - 1 from the beginning; it should be from the end",
        ),
        Wrong(
            "    return keys, keys[:, start:]",
            "    keys = keys[:, -W:]\n    return keys, keys",
            "the latest W tokens are all that is given and kept: the first ones "
            "of a long piece find too little, and one too many is kept",
        ),
        Wrong(
            "    return keys, keys[:, start:]",
            "    return kept, keys[:, start:]",
            "the new tokens choose from what was kept alone; they should see the "
            "new keys, too",
        ),
        Wrong(
            "    return keys, keys[:, start:]",
            "    return keys, keys[..., start:]",
            "the cut is made along the numbers of a key; it should be made along "
            "the tokens",
        ),
    ],
    stars=3,
    minutes=8,
)
