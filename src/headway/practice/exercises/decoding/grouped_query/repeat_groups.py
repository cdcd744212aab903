"""Heads that share keys

H heads of queries share G heads of keys, in groups of neighbours: with six heads and
two groups, heads 1, 2, 3 use the first keys, and heads 4, 5, 6 the second.

Write `repeat_groups(keys, H)`: keys for each head. `keys` has shape (B, G, S, D), the
result is (B, H, S, D).
"""

from headway.practice import Exercise, Wrong

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
    trials=({}, {"H": 8, "G": 4, "B": 4, "S": 4, "D": 4}, {"G": 1}, {"G": 6}),
    law="Neighbouring heads share; with as many groups as heads nothing is repeated.",
    right=[
        """
        B, G, S, D = keys.shape
        return keys[:, :, None].expand(B, G, H // G, S, D).reshape(B, H, S, D)
        """,
        "return keys[:, torch.arange(H) // (H // keys.shape[1])]",
    ],
    wrong=[
        Wrong(
            "keys.repeat_interleave(times, dim=1)",
            "keys.repeat(1, times, 1, 1)",
            "all groups are tiled, so that neighbouring heads do not share",
            exhibit="groups/#tiled-heads",
        ),
        Wrong(
            "dim=1)",
            "dim=2)",
            "tokens are repeated, and not heads",
            exhibit="groups/#repeated-tokens",
        ),
        Wrong(
            "keys.repeat_interleave(times, dim=1)",
            "keys[:, :1].expand(-1, H, -1, -1)",
            "all heads share the first keys",
        ),
        Wrong(
            "H // keys.shape[1]",
            "keys.shape[1]",
            "each is repeated as often as there are groups",
        ),
        Wrong(
            "keys.repeat_interleave(times, dim=1)",
            "keys.flip(1).repeat_interleave(times, dim=1)",
            "the groups stand in reverse order",
        ),
        Wrong(
            "keys.repeat_interleave(times, dim=1)",
            "keys.repeat_interleave(H, dim=1)",
            "each group is repeated H times: there are H heads in all, and not in "
            "each group",
        ),
        Wrong(
            "dim=1)",
            "dim=0)",
            "texts are repeated, and not heads",
        ),
        Wrong(
            "dim=1)",
            "dim=-1)",
            "numbers of a key are repeated, and not heads",
        ),
        Wrong(
            ", dim=1)",
            ")",
            "no axis is named, so that repeat_interleave flattens everything",
        ),
        Wrong(
            "H // keys.shape[1]",
            "H / keys.shape[1]",
            "it is divided by /, which gives no whole number: // does",
        ),
        Wrong(
            "H // keys.shape[1]",
            "H // len(keys)",
            "the texts are counted, and not the groups: they are the second axis",
        ),
        Wrong(
            "keys.repeat_interleave(times, dim=1)",
            "keys[:, :, None].expand(-1, -1, times, -1, -1)",
            "groups and their heads keep two axes, and are not joined to H",
        ),
        Wrong(
            "keys.repeat_interleave(times, dim=1)",
            "torch.stack([keys[:, h // times] for h in range(H)])",
            "the heads are stacked before the texts, and belong behind them",
        ),
        Wrong(
            "keys.repeat_interleave(times, dim=1)",
            "keys.expand(len(keys), H, *keys.shape[2:])",
            "expand is to repeat an axis of several groups: it repeats an axis of "
            "length one",
        ),
    ],
    stars=1,
)
