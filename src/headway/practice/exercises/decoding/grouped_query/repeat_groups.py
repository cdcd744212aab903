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
            "the heads are stacked before the texts; they should stand behind them",
        ),
        Wrong(
            "keys.repeat_interleave(times, dim=1)",
            "keys.expand(len(keys), H, *keys.shape[2:])",
            "expand is given an axis of several groups; it can only repeat an axis of "
            "length one",
        ),
        Wrong(
            "keys.repeat_interleave(times, dim=1)",
            "keys[:, :, :, None].expand(-1, -1, -1, times, -1).reshape(\n"
            "        len(keys), H, *keys.shape[2:]\n"
            "    )",
            "the axis that is repeated stands behind the tokens; it should "
            "stand between groups and tokens",
        ),
        Wrong(
            "keys.repeat_interleave(times, dim=1)",
            "keys[:, torch.arange(H) // keys.shape[1]]",
            "a head's number is divided by how many groups there are; it "
            "should be divided by how many heads share one",
        ),
        Wrong(
            "keys.repeat_interleave(times, dim=1)",
            "torch.stack([keys[:, h // keys.shape[1]] for h in range(H)], dim=1)",
            "a head's number is divided by the number of groups; it should be "
            "divided by H // G",
        ),
        Wrong(
            "keys.repeat_interleave(times, dim=1)",
            "keys.repeat(times, 1, 1, 1)",
            "whole texts are tiled; groups should be repeated",
        ),
        Wrong(
            "keys.repeat_interleave(times, dim=1)",
            "keys.repeat(1, 1, times, 1)",
            "the tokens are tiled; groups should be repeated",
        ),
        Wrong(
            "keys.repeat_interleave(times, dim=1)",
            "keys.repeat(1, H, 1, 1)",
            "all groups are tiled H times; there are H heads in all, and each "
            "group has H // G",
        ),
        Wrong(
            "keys.repeat_interleave(times, dim=1)",
            "keys[:, None].expand(-1, times, -1, -1, -1)",
            "the repeated axis stands before the groups, and is not joined "
            "with them to H",
        ),
        Wrong(
            "keys.repeat_interleave(times, dim=1)",
            "keys[:, -1:].expand(-1, H, -1, -1)",
            "all heads share the last keys",
        ),
        Wrong(
            "H // keys.shape[1]",
            "H // keys.shape[2]",
            "tokens are counted; groups should be, which are axis 1",
        ),
        Wrong(
            "H // keys.shape[1]",
            "H - keys.shape[1]",
            "each is repeated as often as H is larger than G; it should be H "
            "divided by G",
        ),
        Wrong(
            "keys.repeat_interleave(times, dim=1)",
            "keys[:, torch.arange(H) % times]",
            "a head takes the group of its place in the group; it should take "
            "h // (H // G)",
        ),
        Wrong(
            "keys.repeat_interleave(times, dim=1)",
            "keys.repeat_interleave(times + 1, dim=1)[:, :H]",
            "each group is repeated once too often, and the last heads are cut off",
        ),
        Wrong(
            "keys.repeat_interleave(times, dim=1)",
            "keys.repeat_interleave(times, dim=1).squeeze()",
            "axes of size one are removed at the end",
        ),
        Wrong(
            "keys.repeat_interleave(times, dim=1)",
            "torch.cat([keys] * times, dim=1)",
            "whole tables are joined behind each other, so that neighbouring heads do "
            "not share",
            same_as="all groups are tiled, so that neighbouring heads do not share",
        ),
        Wrong(
            "keys.repeat_interleave(times, dim=1)",
            "torch.cat([keys] * times)",
            "whole batches are joined behind each other; groups should be repeated",
            same_as="whole texts are tiled; groups should be repeated",
        ),
        Wrong(
            "keys.repeat_interleave(times, dim=1)",
            "torch.stack([keys] * times, dim=1).flatten(1, 2)",
            "the new axis stands before the groups, so that all groups come before "
            "they repeat",
            same_as="all groups are tiled, so that neighbouring heads do not share",
        ),
        Wrong(
            "keys.repeat_interleave(times, dim=1)",
            "torch.stack([keys] * times, dim=2)",
            "groups and the heads of each keep two axes, made by stack",
            same_as="groups and their heads keep two axes, and are not joined to H",
        ),
        Wrong(
            "keys.repeat_interleave(times, dim=1)",
            "keys[:, torch.arange(H) // H]",
            "a head's number is divided by H, which is zero for all",
            same_as="all heads share the first keys",
        ),
        Wrong(
            "keys.repeat_interleave(times, dim=1)",
            "keys[:, [h // times for h in range(H)], :1]",
            "only the first token of each group is given",
        ),
        Wrong(
            "keys.repeat_interleave(times, dim=1)",
            "keys.unsqueeze(2).repeat(1, 1, H, 1, 1).flatten(1, 2)",
            "each group is repeated H times, by an axis of its own",
            same_as="each group is repeated H times: there are H heads in all, and "
            "not in each group",
        ),
        Wrong(
            "keys.repeat_interleave(times, dim=1)",
            "keys[:, torch.arange(H) % keys.shape[1]]",
            "a head's number modulo G is taken; it should be divided by H // G",
            same_as="all groups are tiled, so that neighbouring heads do not share",
        ),
        Wrong(
            "keys.repeat_interleave(times, dim=1)",
            "[keys[:, h // times] for h in range(H)]",
            "the keys of the heads are given as a list; torch.stack with dim=1 makes "
            "one tensor",
        ),
        Wrong(
            "keys.repeat_interleave(times, dim=1)",
            "torch.cat([keys[:, h // times] for h in range(H)], dim=1)",
            "the heads are joined along the tokens by torch.cat; torch.stack makes an "
            "axis for them",
        ),
        Wrong(
            "keys.repeat_interleave(times, dim=1)",
            "keys.repeat_interleave(times, dim=1).transpose(1, 2)",
            "heads and tokens change places at the end",
        ),
        Wrong(
            "keys.repeat_interleave(times, dim=1)",
            "keys.repeat_interleave(times, dim=1) / times",
            "each copy is divided by how many share it",
        ),
        Wrong(
            "H // keys.shape[1]",
            "keys.shape[1] // H",
            "it is divided the other way round: how often H goes into G",
        ),
        Wrong(
            "keys.repeat_interleave(times, dim=1)",
            "keys.expand(-1, H, -1, -1)",
            "expand is given an axis of several groups, and cannot repeat it",
        ),
        Wrong(
            "    return keys.repeat_interleave(times, dim=1)",
            "    B, G, S, D = keys.shape\n"
            "    return keys[:, :, None].expand(B, G, times, S, D).view(B, H, S, D)",
            "view cannot join axes that expand has repeated without a copy; reshape "
            "can",
        ),
        Wrong(
            "keys.repeat_interleave(times, dim=1)",
            "keys.repeat_interleave(times, dim=1).mT",
            "tokens and numbers change places at the end",
        ),
        Wrong(
            "keys.repeat_interleave(times, dim=1)",
            "keys.repeat_interleave(3, dim=1)",
            "each group is repeated three times, as in the example; it should be H // "
            "G times",
        ),
        Wrong(
            "keys.repeat_interleave(times, dim=1)",
            "torch.stack([keys[:, h // 3] for h in range(H)], dim=1)",
            "three heads are taken to share; it should be H // G",
        ),
        Wrong(
            "keys.repeat_interleave(times, dim=1)",
            "keys.mean(dim=1, keepdim=True).expand(-1, H, -1, -1)",
            "all heads share the mean of the groups",
        ),
        Wrong(
            "    return keys.repeat_interleave(times, dim=1)",
            "    B, G, S, D = keys.shape\n"
            "    found = keys.new_zeros(B, H, S, D)\n"
            "    found[:, ::times] = keys\n"
            "    return found",
            "only the first head of each group gets keys, and the others zeros",
        ),
        Wrong(
            "    return keys.repeat_interleave(times, dim=1)",
            "    B, G, S, D = keys.shape\n"
            "    found = keys.new_zeros(B, H, S, D)\n"
            "    for g in range(G):\n"
            "        found[:, g * G : (g + 1) * G] = keys[:, g : g + 1]\n"
            "    return found",
            "the heads of group g are written from g times G on; it should be from g "
            "times H // G",
        ),
        Wrong(
            "keys.repeat_interleave(times, dim=1)",
            "keys",
            "nothing is repeated",
        ),
    ],
    stars=1,
    minutes=3,
)
