"""Silence one head

Write `silence(attend, head)`: make one head of a trained module say nothing. It is one
way to find out what a head does.

`attend` is a `MultiHeadAttention` with H = attend.num_heads heads; `head` counts from
zero. Change the module in place: after the call the head must add nothing to the
result, whatever the tokens are, and all other heads must be as they were. Some modules
have biases in their projections, and in others `bias` is None.
"""

from headway.practice import Exercise, Wrong
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
    wrong=[
        Wrong(
            "        if attend.W_value.bias is not None:\n"
            "            attend.W_value.bias[rows] = 0.0\n",
            "",
            "the bias of its values is left, so that the head adds it to every token",
        ),
        Wrong(
            "        if attend.W_value.bias is not None:\n    ",
            "",
            "a bias is written to where there is none",
        ),
        Wrong(
            "attend.W_value.weight[rows] = 0.0",
            "attend.W_value.weight[:, rows] = 0.0",
            "columns of the weight are cleared, and not rows",
            hint="nn.Linear stores (d_out, d_in). Along which axis do the heads lie?",
        ),
        Wrong(
            "slice(head * D, (head + 1) * D)",
            "slice((head - 1) * D, head * D)",
            "heads are counted from one, so that the head before is silenced",
        ),
        Wrong(
            "slice(head * D, (head + 1) * D)",
            "slice(head, None, attend.num_heads)",
            "every H-th row is cleared, as if the rows were dealt out in turn",
        ),
        Wrong(
            "slice(head * D, (head + 1) * D)",
            "slice(head, head + 1)",
            "one row is cleared; it should be the D rows of the head",
        ),
        Wrong(
            "        attend.W_value.weight[rows] = 0.0",
            "        attend.W_query.weight[rows] = 0.0\n"
            "        attend.W_key.weight[rows] = 0.0\n"
            "        attend.W_query.bias is None or attend.W_query.bias[rows].zero_()\n"
            "        attend.W_key.bias is None or attend.W_key.bias[rows].zero_()\n"
            "        return",
            "queries or keys are cleared, so that the head takes a mean of the past",
        ),
        Wrong(
            "with torch.no_grad():",
            "if True:",
            "parameters are written to while PyTorch records, which it refuses",
        ),
        Wrong(
            "        attend.W_value.weight[rows] = 0.0\n"
            "        if attend.W_value.bias is not None:\n"
            "            attend.W_value.bias[rows] = 0.0\n",
            "        weight = attend.W_value.weight.clone()\n"
            "        weight[rows] = 0.0\n",
            "a copy is changed, or no row at all: the module is as it was",
        ),
        Wrong(
            "        attend.W_value.weight[rows] = 0.0\n"
            "        if attend.W_value.bias is not None:\n"
            "            attend.W_value.bias[rows] = 0.0\n",
            "        attend.W_value.weight[:] = 0.0\n"
            "        if attend.W_value.bias is not None:\n"
            "            attend.W_value.bias[:] = 0.0\n",
            "the values of all heads are cleared",
        ),
        Wrong(
            "slice(head * D, (head + 1) * D)",
            "slice(head, head + D)",
            "the rows begin at the number of the head, and not at D times it",
        ),
        Wrong(
            "attend.W_value.out_features // attend.num_heads",
            "attend.W_value.in_features // attend.num_heads",
            "D is made of the width of the tokens, and not of that of the values",
        ),
        Wrong(
            "attend.W_value.out_features // attend.num_heads",
            "attend.num_heads",
            "the number of heads is taken for the width of one",
        ),
        Wrong(
            "        attend.W_value.weight[rows] = 0.0\n"
            "        if attend.W_value.bias is not None:\n"
            "            attend.W_value.bias[rows] = 0.0\n",
            "        attend.out_proj.weight[rows] = 0.0\n",
            "rows of out_proj are cleared, which are columns of the result; a "
            "head's numbers come in by its columns",
        ),
        Wrong(
            "attend.W_value.bias[rows] = 0.0",
            "attend.W_value.bias[:] = 0.0",
            "the biases of all heads are cleared, and not those of one",
        ),
        Wrong(
            "            attend.W_value.bias[rows] = 0.0",
            "            attend.W_value.bias = None",
            "the bias is taken away, which all heads need",
            same_as="the biases of all heads are cleared, and not those of one",
        ),
        Wrong(
            "(head + 1) * D)",
            "(head + 1) * D - 1)",
            "the last row of the head is left",
        ),
        Wrong(
            "    with torch.no_grad():",
            "    with torch.no_grad():\n        attend.requires_grad_(False)",
            "the head is silent, and the module can learn no more: "
            "requires_grad_(False) stays, no_grad does not",
        ),
        Wrong(
            "        if attend.W_value.bias is not None:\n"
            "            attend.W_value.bias[rows] = 0.0",
            "        attend.W_value.bias[rows].zero_()",
            "part of a bias is read where there is none",
        ),
        Wrong(
            "        if attend.W_value.bias is not None:\n"
            "            attend.W_value.bias[rows] = 0.0",
            "        attend.W_value.bias.data[rows] = 0.0",
            "the data of a bias is asked for where there is none",
        ),
        Wrong(
            "if attend.W_value.bias is not None:",
            "if attend.W_value.bias:",
            "a bias is asked whether it is true, which a tensor of many numbers is "
            "not: ask whether it is None",
        ),
        Wrong(
            "        if attend.W_value.bias is not None:\n"
            "            attend.W_value.bias[rows] = 0.0",
            "        if attend.W_value.bias is not None:\n"
            "            attend.W_value.bias[rows] = 0.0\n"
            "        attend.out_proj.bias[rows] = 0.0",
            "numbers of the bias of out_proj are cleared as well, which belong to "
            "all heads",
        ),
        Wrong(
            "        if attend.W_value.bias is not None:\n"
            "            attend.W_value.bias[rows] = 0.0",
            "        if attend.W_value.bias is not None:\n"
            "            attend.W_value.bias[rows] = 0.0\n"
            "        attend.out_proj.bias.zero_()",
            "the bias of out_proj is cleared as well, which belongs to all heads",
        ),
        Wrong(
            "slice(head * D, (head + 1) * D)",
            "slice(head * D + 1, (head + 1) * D)",
            "the first row of the head is left",
        ),
        Wrong(
            "slice(head * D, (head + 1) * D)",
            "slice(head * D, (head + 1) * D + 1)",
            "one row more is cleared, which belongs to the next head",
        ),
        Wrong(
            "slice(head * D, (head + 1) * D)",
            "slice(head * D, head + 1 * D)",
            "a pair of parentheses is missing: head + 1 * D is head + D",
            same_as="a copy is changed, or no row at all: the module is as it was",
        ),
        Wrong(
            "slice(head * D, (head + 1) * D)",
            "torch.arange(attend.W_value.out_features) // D != head",
            "all other heads are silenced, and this one is left",
        ),
        Wrong(
            "        attend.W_value.weight[rows] = 0.0\n"
            "        if attend.W_value.bias is not None:\n"
            "            attend.W_value.bias[rows] = 0.0",
            "        attend.W_query.weight[rows] = 0.0",
            "rows of W_query are cleared: that changes where the head looks, and "
            "not what it adds",
        ),
        Wrong(
            "        attend.W_value.weight[rows] = 0.0\n"
            "        if attend.W_value.bias is not None:\n"
            "            attend.W_value.bias[rows] = 0.0",
            "        if attend.W_value.bias is not None:\n"
            "            attend.W_value.bias[rows] = 0.0",
            "only the bias of its values is cleared, and not the weight",
        ),
        Wrong(
            "        attend.W_value.weight[rows] = 0.0\n"
            "        if attend.W_value.bias is not None:\n"
            "            attend.W_value.bias[rows] = 0.0",
            "        attend.out_proj.weight.zero_()",
            "all of out_proj is cleared",
            same_as="the values of all heads are cleared",
        ),
        Wrong(
            "        attend.W_value.weight[rows] = 0.0",
            "        attend.W_value.weight[rows] = 0.0\n"
            "        attend.W_query.weight[rows] = 0.0\n"
            "        attend.out_proj.weight[rows] = 0.0",
            "rows of out_proj are cleared besides, which take columns of the "
            "result from all heads",
        ),
        Wrong(
            "        attend.W_value.weight[rows] = 0.0\n"
            "        if attend.W_value.bias is not None:\n"
            "            attend.W_value.bias[rows] = 0.0",
            "        attend.out_proj.weight[:, head] = 0.0",
            "one column of out_proj is cleared; it should be D",
            same_as="one row is cleared; it should be the D rows of the head",
        ),
        Wrong(
            "        attend.W_value.weight[rows] = 0.0",
            "        attend.W_value.weight[rows] = -torch.inf",
            "rows are set to minus infinity, which is for scores; a weight is silent "
            "at zero",
        ),
        Wrong(
            "slice(head * D, (head + 1) * D)",
            "slice(0, (head + 1) * D)",
            "all heads before it are silenced, too",
        ),
        Wrong(
            "slice(head * D, (head + 1) * D)",
            "slice(head * D, None)",
            "all heads behind it are silenced, too",
        ),
        Wrong(
            "slice(head * D, (head + 1) * D)",
            "slice((head + 1) * D, (head + 2) * D)",
            "the head behind is silenced, and not this one",
        ),
        Wrong(
            "slice(head * D, (head + 1) * D)",
            "slice(attend.W_value.out_features - (head + 1) * D, "
            "attend.W_value.out_features - head * D)",
            "heads are counted from the end",
        ),
        Wrong(
            "attend.W_value.out_features // attend.num_heads",
            "attend.W_value.out_features / attend.num_heads",
            "/ gives a fraction, which cuts no rows: // gives a whole number",
        ),
        Wrong(
            "attend.W_value.out_features // attend.num_heads",
            "attend.W_value.out_features",
            "the width of all heads is taken for that of one: D is not divided by the "
            "number of heads",
        ),
        Wrong(
            "        attend.W_value.weight[rows] = 0.0",
            "        attend.W_value.weight[rows] = 1.0",
            "rows are set to one; it should be zero",
        ),
        Wrong(
            "        attend.W_value.weight[rows] = 0.0",
            "        attend.W_value.weight.unflatten(0, (-1, attend.num_heads))[:, "
            "head] = 0.0",
            "rows are dealt out to heads in turn in the weight alone; a head has D "
            "rows one after the other",
        ),
        Wrong(
            "        attend.W_value.weight[rows] = 0.0",
            "        attend.W_value.weight.unflatten(0, (-1, D))[:, head] = 0.0",
            "one row of each head is cleared; it should be all rows of one head",
        ),
        Wrong(
            "        attend.W_value.weight[rows] = 0.0",
            "        attend.W_value.weight = torch.zeros_like(attend.W_value.weight)",
            "a tensor is put where PyTorch wants an nn.Parameter",
        ),
        Wrong(
            "    with torch.no_grad():",
            "    attend.num_heads -= 1\n    with torch.no_grad():",
            "the module is told that it has one head less",
        ),
        Wrong(
            "            attend.W_value.bias[rows] = 0.0",
            "            attend.W_value.bias[head] = 0.0",
            "one number of the bias is cleared; it should be D",
        ),
    ],
    minutes=12,
)
