"""Keep the heads apart

Write `keep_apart(attend)`: change `out_proj` of a `MultiHeadAttention` in place, so
that the heads no longer meet in it.

There are H = attend.num_heads heads, and `out_proj.weight` has shape (E, E): row i says
what column i of the result takes from the merged heads. Afterwards the D columns of the
result that stand where a head's own stand may take from that head alone. What they took
from it stays as it was, and so does the bias.
"""

from headway.practice import Exercise, Wrong

# --- your file ---
import torch
from torch import nn

from headway import MultiHeadAttention


def keep_apart(attend: MultiHeadAttention) -> None:
    """Leave of out_proj.weight (E, E) the H blocks on its diagonal, (D, D) each."""
    # --- write ---
    H = attend.num_heads
    D = attend.out_proj.in_features // H
    own = torch.block_diag(*torch.ones(H, D, D))
    with torch.no_grad():
        attend.out_proj.weight.mul_(own)
    # --- written ---


if __name__ == "__main__":
    torch.manual_seed(7)
    attend = MultiHeadAttention(5, 6, 11, 0.0, num_heads=2)
    keep_apart(attend)
    print((attend.out_proj.weight != 0).int())
    # tensor([[1, 1, 1, 0, 0, 0],
    #         [1, 1, 1, 0, 0, 0],
    #         [1, 1, 1, 0, 0, 0],
    #         [0, 0, 0, 1, 1, 1],
    #         [0, 0, 0, 1, 1, 1],
    #         [0, 0, 0, 1, 1, 1]], dtype=torch.int32)
# --- end of your file ---


def run(keep_apart, weight, num_heads):  # type: ignore[no-untyped-def]
    attend = MultiHeadAttention(3, len(weight), 9, 0.0, num_heads).double()
    attend.out_proj.weight.data, bias = weight, attend.out_proj.bias.clone()
    before = {name: one.clone() for name, one in attend.state_dict().items()}
    with torch.enable_grad():  # which is as before afterwards
        keep_apart(attend)
        records = torch.is_grad_enabled()
    kept = isinstance(attend.out_proj.weight, nn.Parameter)
    learns = all(one.requires_grad for one in attend.parameters())
    others = [n for n in before if "out_proj" not in n]
    same = all(before[n].equal(attend.state_dict()[n]) for n in others)
    return {
        "out_proj.weight": attend.out_proj.weight,
        "its kind": "a parameter" if kept else "no parameter",
        "other weights": "as they were" if same else "changed",
        "its parameters": "still learn" if learns else "learn no more",
        "whether PyTorch records": "yes" if records else "no more",
        "what out_proj.bias has changed by": attend.out_proj.bias - bias,
    }


EXERCISE = Exercise(
    answer="keep_apart",
    read=("basics/multi_head_attention/#what-out_proj-does", "What out_proj does"),
    hints=(
        "Which numbers of a matrix let the first half of a result take from the first "
        "half of what comes in, and nothing else?",
        "Squares on the diagonal stay, one for each head, and all the rest is zero. "
        "torch.block_diag makes a table of squares.",
        "Make H squares of ones, D wide, put them on the diagonal of a table, and "
        "multiply the weight by it in place, under torch.no_grad().",
    ),
    draw=lambda d: (d.normal(d.H * d.D, d.H * d.D), d.H),
    trials=[{}, dict.fromkeys("HD", 4), {"D": 2}],
    ask=run,
    law="With blocks each head has a small projection of its own, and no column draws "
    "on two.",
    right=[
        """
        # Block by block: long, but it shows what is kept.
        D = attend.out_proj.in_features // attend.num_heads
        weight = attend.out_proj.weight.data
        kept = weight.clone()
        weight.zero_()
        for h in range(attend.num_heads):
            own = slice(h * D, (h + 1) * D)
            weight[own, own] = kept[own, own]
        """,
        """
        # By the number of the head: a comparison that broadcasts, as for masks.
        E = attend.out_proj.in_features
        head = torch.arange(E) // (E // attend.num_heads)
        attend.out_proj.weight.data[head[:, None] != head] = 0.0
        """,
    ],
    wrong=[
        Wrong(
            "weight.mul_(own)",
            "weight.copy_(own)",
            "blocks of ones take the place of the weight; what stood there should stay",
        ),
        Wrong(
            "weight.mul_(own)",
            "weight.mul_(1 - own)",
            "it is turned around: each head is kept out of its own columns",
        ),
        Wrong(
            "torch.block_diag(*torch.ones(H, D, D))",
            "torch.block_diag(*torch.ones(D, H, H))",
            "there are D blocks of H by H; it should be H blocks of D by D",
        ),
        Wrong(
            "torch.block_diag(*torch.ones(H, D, D))",
            "torch.eye(H).repeat(D, D)",
            "every H-th number is kept, as if the columns were dealt out in turn",
        ),
        Wrong(
            "torch.block_diag(*torch.ones(H, D, D))",
            "torch.eye(H * D)",
            "the diagonal alone is kept, so that a head's own columns do not meet",
        ),
        Wrong(
            "attend.out_proj.weight.mul_(own)",
            "attend.out_proj.weight * own",
            "the product is made and lost, and nothing has changed",
        ),
        Wrong(
            "attend.out_proj.weight.mul_(own)",
            "attend.out_proj.weight.mul_(own)\n        attend.out_proj.bias.zero_()",
            "the bias is cleared as well",
        ),
        Wrong(
            "with torch.no_grad():",
            "if True:",
            "parameters are written to while PyTorch records, which it refuses",
        ),
        Wrong(
            "attend.out_proj.weight.mul_(own)",
            "attend.out_proj.weight.zero_()",
            "nothing is left of the weight: it is cleared before it is copied, or "
            "row after row",
        ),
        Wrong(
            "attend.out_proj.weight.mul_(own)",
            "for h in range(H):\n"
            "            attend.out_proj.weight[h * D : (h + 1) * D, (h + 1) * D "
            ":] = 0",
            "only what stands to the right of each block is cleared",
        ),
        Wrong(
            "attend.out_proj.weight.mul_(own)",
            "for h in range(H):\n"
            "            attend.out_proj.weight[h * D : (h + 1) * D, : h * D] = 0",
            "only what stands to the left of each block is cleared",
        ),
        Wrong(
            "attend.out_proj.weight.mul_(own)",
            "attend.out_proj.weight.tril_()",
            "a triangle is kept, as for tokens, and not blocks",
        ),
        Wrong(
            "attend.out_proj.weight.mul_(own)",
            "attend.out_proj.weight = attend.out_proj.weight * own",
            "a plain tensor takes the place of a parameter, which PyTorch refuses",
            hint="Write into the weight that is there, under torch.no_grad().",
        ),
        Wrong(
            "attend.out_proj.weight.mul_(own)",
            "attend.out_proj.weight.copy_(attend.out_proj.weight.T * own)",
            "the blocks are transposed",
        ),
        Wrong(
            "attend.out_proj.weight.mul_(own)",
            "attend.out_proj.weight[own == 0] = -torch.inf",
            "minus infinity is written, as into scores; it should be zero",
        ),
        Wrong(
            "attend.out_proj.weight.mul_(own)",
            "own[D:] = 0\n        attend.out_proj.weight.mul_(own)",
            "the block of the first head alone is left",
        ),
        Wrong(
            "attend.out_proj.weight.mul_(own)",
            "attend.out_proj.weight.data = (attend.out_proj.weight * own).float()",
            "the weight comes back in 32 bits",
        ),
        Wrong(
            "attend.out_proj.weight.mul_(own)",
            "attend.out_proj.weight[:D, D:] = 0\n"
            "        attend.out_proj.weight[D:, :D] = 0",
            "only the first head is kept apart; the others still meet",
        ),
        Wrong(
            "attend.out_proj.weight.mul_(own)",
            "attend.out_proj.weight[-D:, :-D] = 0\n"
            "        attend.out_proj.weight[:-D, -D:] = 0",
            "only the last head is kept apart; the others still meet",
        ),
        Wrong(
            "attend.out_proj.weight.mul_(own)",
            "own[-D:] = 0\n        attend.out_proj.weight.mul_(own)",
            "the last block is cleared as well, as when a loop ends one too early",
        ),
        Wrong(
            "attend.out_proj.weight.mul_(own)",
            "own[:D] = 0\n        attend.out_proj.weight.mul_(own)",
            "the first block is cleared as well, as when a loop begins one too late",
        ),
        Wrong(
            "attend.out_proj.weight.mul_(own)",
            "own.zero_()\n"
            "        for h in range(H):\n"
            "            own[h : h + D, h : h + D] = 1\n"
            "        attend.out_proj.weight.mul_(own)",
            "blocks begin at h; they should begin at h times D",
        ),
        Wrong(
            "attend.out_proj.weight.mul_(own)",
            "attend.out_proj.weight.triu_()",
            "an upper triangle is kept, and not blocks",
        ),
        Wrong(
            "attend.out_proj.weight.mul_(own)",
            "attend.out_proj.weight.mul_(own)\n"
            "        attend.out_proj.weight.requires_grad_(False)",
            "the weight can learn no more: requires_grad_(False) stays, no_grad "
            "does not",
        ),
        Wrong(
            "attend.out_proj.weight.mul_(own)",
            "for h in range(H - 1):\n"
            "            here, next = h * D, (h + 1) * D\n"
            "            attend.out_proj.weight[here:next, next : next + D] = 0\n"
            "            attend.out_proj.weight[next : next + D, here:next] = 0",
            "each head is kept apart from its neighbours only",
        ),
        Wrong(
            "attend.out_proj.weight.mul_(own)",
            "attend.out_proj.weight[0::2, 1::2] = 0\n"
            "        attend.out_proj.weight[1::2, 0::2] = 0",
            "even and odd numbers are kept apart, and not heads",
        ),
        Wrong(
            "attend.out_proj.weight.mul_(own)",
            "attend.out_proj.weight.mul_(own)\n        attend.out_proj.weight.mul_(H)",
            "the blocks are multiplied by the number of heads; what a head adds "
            "should stay as it was",
        ),
        Wrong(
            "attend.out_proj.weight.mul_(own)",
            "attend.out_proj.weight[:D] *= own[:D]",
            "only the rows of the first head are cleared; its numbers still reach "
            "the columns of others, and theirs meet",
        ),
        Wrong(
            "attend.out_proj.weight.mul_(own)",
            "attend.out_proj.weight[:, :D] *= own[:, :D]",
            "only the columns of the first head are cleared; others still reach "
            "its columns, and theirs meet",
        ),
        Wrong(
            "attend.out_proj.weight.mul_(own)",
            "attend.out_proj.weight.mul_(own)\n        attend.out_proj.weight.div_(H)",
            "the blocks are divided by the number of heads; what a head adds "
            "should stay as it was",
        ),
        Wrong(
            "attend.out_proj.weight.mul_(own)",
            "attend.out_proj.weight.mul_(own)\n        attend.W_value.weight.zero_()",
            "another weight is changed as well; out_proj alone should be",
        ),
        Wrong(
            "attend.out_proj.weight.mul_(own)",
            "attend.out_proj.weight.mul_(own)\n        attend.out_proj.bias = None",
            "the bias is taken away; it should stay as it was",
        ),
        Wrong(
            "with torch.no_grad():",
            "torch.set_grad_enabled(False)\n    if True:",
            "gradients are switched off for all that follows; `with "
            "torch.no_grad():` switches them on again",
        ),
        Wrong(
            "torch.block_diag(*torch.ones(H, D, D))",
            "torch.eye(H).repeat_interleave(D, dim=0)",
            "the table has a column for each head; it should have D of them",
        ),
        Wrong(
            "attend.out_proj.weight.mul_(own)",
            "own.zero_()\n"
            "        for h in range(D):\n"
            "            own[h * D : h * D + D, h * D : h * D + D] = 1\n"
            "        attend.out_proj.weight.mul_(own)",
            "the loop makes D blocks; it should make H, and there may be more "
            "heads than D",
        ),
        Wrong(
            "attend.out_proj.weight.mul_(own)",
            "own.zero_()\n"
            "        for h in range(H):\n"
            "            own[h * H : h * H + H, h * H : h * H + H] = 1\n"
            "        attend.out_proj.weight.mul_(own)",
            "each block is H wide and begins at h times H; it should be D",
        ),
        Wrong(
            "attend.out_proj.weight.mul_(own)",
            "own.zero_()\n"
            "        for h in range(H):\n"
            "            own[h * D : h * D + D - 1, h * D : h * D + D - 1] = 1\n"
            "        attend.out_proj.weight.mul_(own)",
            "each block is one row and one column too small: the end of a slice "
            "is not part of it",
        ),
        Wrong(
            "attend.out_proj.weight.mul_(own)",
            "own.zero_()\n"
            "        for h in range(H):\n"
            "            own[h * D : h * D + D + 1, h * D : h * D + D + 1] = 1\n"
            "        attend.out_proj.weight.mul_(own)",
            "each block is one row and one column too large, so that a number of "
            "the next head comes in",
        ),
    ],
    minutes=12,
)
