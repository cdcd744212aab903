"""Silence one head

Write `silence(attend, head)`: make one head of a trained module say nothing. It is one
way to find out what a head does.

`attend` is a `MultiHeadAttention` with H = attend.num_heads heads; `head` counts from
zero. Change the module in place: after the call the head must add nothing to the
result, whatever the tokens are, and all other heads must be as they were. Some modules
have biases in their projections, and in others `bias` is None.
"""

from headway.practice import Exercise
from headway.practice.task.definition import DIFFERENT, EQUAL, LOUD

# --- your file ---
import torch
from torch import nn

from headway import MultiHeadAttention


def silence(attend: MultiHeadAttention, head: int) -> None:
    """Set to zero what makes the values of one head; weight has shape (E, d_in)."""
    # --- write ---
    D = attend.W_value.out_features // attend.num_heads
    rows = slice(head * D, (head + 1) * D)
    with torch.no_grad():
        attend.W_value.weight[rows] = 0.0
        if attend.W_value.bias is not None:
            attend.W_value.bias[rows] = 0.0
    # --- written ---


if __name__ == "__main__":
    torch.manual_seed(7)
    attend = MultiHeadAttention(768, 768, 7, 0.0, 12, qkv_bias=True)
    nn.init.eye_(attend.out_proj.weight)
    nn.init.zeros_(attend.out_proj.bias)
    silence(attend, head=11)
    silent = (attend(torch.randn(5, 768)) == 0).all(dim=0).nonzero()
    print(int(silent[0]), "to", int(silent[-1]), "are zero")
    # 704 to 767 are zero
# --- end of your file ---


def run(silence, x, weights, biases, out, num_heads, head):  # type: ignore[no-untyped-def]
    from headway import attention

    d_in, E = weights.shape[-2:]
    given = {}
    for qkv_bias in (True, False):
        attend = MultiHeadAttention(
            d_in, E, 99, 0.0, num_heads, qkv_bias, attend=attention
        ).double()
        for name, weight, bias in zip(
            ("query", "key", "value"), weights, biases, strict=True
        ):
            getattr(attend, f"W_{name}").weight.data = weight.T.contiguous()
            if qkv_bias:
                getattr(attend, f"W_{name}").bias.data = bias
        attend.out_proj.weight.data, attend.out_proj.bias.data = out[1:], out[0]
        silence(attend, head)
        given[f"the rows {'with' if qkv_bias else 'without'} biases"] = attend(x)
        learns = all(one.requires_grad for one in attend.parameters())
        given["its parameters"] = "still learn" if learns else "learn no more"
    return given


EXERCISE = Exercise(
    answer="silence",
    read=("basics/multi_head_attention/#the-module-by-hand", "The module, by hand"),
    hints=(
        "What does a head add if all of its values are zero? And who makes its values?",
        "nn.Linear stores its weight as (E, d_in): a head has D rows of it, one after "
        "the other, and D numbers of the bias.",
        "Head h begins at row h times D. Write zeros into these rows of W_value under "
        "torch.no_grad(), and into the same places of the bias, if there is one.",
    ),
    draw=lambda d: (
        d.normal(d.B, d.T, d.E),
        d.normal(3, d.E, d.H * d.D),
        d.normal(3, d.H * d.D),
        d.normal(1 + d.H * d.D, d.H * d.D),
        d.H,
        max(d.H - 2, 0),
    ),
    ask=run,
    # And the first of two heads, whose columns all stand in the weight.
    trials=(DIFFERENT, EQUAL, LOUD, {"H": 2}),
    law="A head adds its values and nothing else; had the bias been left, the head "
    "would add it still, the same for every token.",
    right=[
        """
        # A loop over weight and bias, if there is one: no question is asked.
        D = attend.W_value.out_features // attend.num_heads
        for one in attend.W_value.parameters():
            for row in range(head * D, (head + 1) * D):
                one.data[row] = 0.0
        """,
        """
        # At the other end: what the head says is made, and nobody takes it.
        D = attend.W_value.out_features // attend.num_heads
        columns = range(head * D, (head + 1) * D)
        attend.out_proj.weight.data[:, columns] = 0.0
        """,
        """
        # A factor for each head: one can turn it down, and not only off.
        keep = torch.arange(attend.num_heads) != head
        factor = keep.repeat_interleave(attend.W_value.out_features // len(keep))
        attend.W_value.weight.data *= factor[:, None]
        if attend.W_value.bias is not None:
            attend.W_value.bias.data *= factor
        """,
    ],
    minutes=12,
)
