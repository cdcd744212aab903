"""Keep the heads apart

Write `keep_apart(attend)`: change `out_proj` of a `MultiHeadAttention` in place, so
that the heads no longer meet in it.

There are H = attend.num_heads heads, and `out_proj.weight` has shape (E, E): row i says
what column i of the result takes from the merged heads. Afterwards the D columns of the
result that stand where a head's own stand may take from that head alone. What they took
from it stays as it was, and so does the bias.
"""

from headway.practice import Exercise

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
    minutes=12,
)
