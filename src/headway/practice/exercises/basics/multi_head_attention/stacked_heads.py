"""Several heads side by side

Write the class `StackedHeads`: num_heads heads `CausalAttention`, each with weights of
its own, on the same tokens.

`__init__` makes `self.heads`, in which the heads can be counted and called by number.
`forward(x)` takes (..., T, d_in) and gives (..., T, H * d_out): for each token the
results of all heads side by side, the first head's first. All weights must be found by
`parameters()`.
"""

from headway.practice import Exercise, Wrong
from headway.practice.task.definition import DIFFERENT, EQUAL, LOUD

# --- your file ---
import torch
from torch import Tensor, nn

from headway import CausalAttention


class StackedHeads(nn.Module):
    """Several heads of causal attention, of d_out numbers each, side by side."""

    def __init__(
        self, d_in: int, d_out: int, context_length: int, num_heads: int
    ) -> None:
        super().__init__()
        # --- write ---
        self.heads = nn.ModuleList(
            CausalAttention(d_in, d_out, context_length, dropout=0.0)
            for _ in range(num_heads)
        )

    def forward(self, x: Tensor) -> Tensor:
        """Give (..., T, H * d_out) for tokens (..., T, d_in)."""
        return torch.cat([head(x) for head in self.heads], dim=-1)
        # --- written ---


if __name__ == "__main__":
    from headway import six_tokens

    words, inputs = six_tokens()
    torch.manual_seed(123)
    attend = StackedHeads(3, 2, context_length=6, num_heads=2)
    print(attend(inputs)[:3].data)
    # tensor([[-0.4519,  0.2216,  0.4772,  0.1063],
    #         [-0.5874,  0.0058,  0.5891,  0.3257],
    #         [-0.6300, -0.0632,  0.6202,  0.3860]])
# --- end of your file ---


def run(cls, x, weights):  # type: ignore[no-untyped-def]
    d_in, d_out = weights.shape[-2:]
    attend = cls(d_in, d_out, x.shape[-2] + 1, len(weights))
    parameters = [*attend.parameters()]
    starts = {head.W_value.weight.sum().item() for head in attend.heads}
    widths = {tuple(head.W_value.weight.shape) for head in attend.heads}
    for head, three in zip(attend.heads, weights, strict=False):
        for name, weight in zip(("query", "key", "value"), three, strict=True):
            getattr(head, f"W_{name}").weight.data = weight.T
    rows, slopes = attend(x), []
    if rows.requires_grad and parameters:
        slopes = torch.autograd.grad(rows.sum(), parameters, allow_unused=True)
    return {
        "the number of heads": len(attend.heads),
        "the shape of a head's W_value": str(sorted(widths)).strip("[]"),
        "how many heads begin with weights of their own": len(starts),
        "the rows of a batch": rows,
        "the rows of one text": attend(x[0]),
        "the number of parameters": len(parameters),
        "parameters that get a gradient": sum(one is not None for one in slopes),
    }


EXERCISE = Exercise(
    answer="StackedHeads",
    read=(
        "basics/multi_head_attention/#two-heads-side-by-side",
        "Two heads, side by side",
    ),
    hints=(
        "Where must a list of modules be kept, so that the module around it knows of "
        "their weights?",
        "nn.ModuleList holds modules; make a new head for each number of "
        "range(num_heads). In forward, call each with x, and join what they give.",
        "torch.cat([... for head in self.heads], dim=...) joins; the numbers of one "
        "token lie along the last axis.",
    ),
    draw=lambda d: (d.normal(d.B, d.T, d.E), d.normal(d.H, 3, d.E, d.D)),
    ask=run,
    # And fewer heads, and narrower ones, than there are tokens.
    trials=(DIFFERENT, EQUAL, LOUD, {"H": 2, "E": 3, "D": 2}),
    law="H heads of D numbers give H times D numbers for each token, and heads do not "
    "know of each other.",
    right=[
        """
            # nn.Sequential is a list of modules, too; stack shows the heads as an axis.
            sizes = (d_in, d_out, context_length, 0.0)
            heads = (CausalAttention(*sizes) for _ in range(num_heads))
            self.heads = nn.Sequential(*heads)

        def forward(self, x: Tensor) -> Tensor:
            return torch.stack([head(x) for head in self.heads], dim=-2).flatten(-2)
        """,
        """
            # A loop and append: longer, and good where heads differ from each other.
            self.heads = nn.ModuleList()
            for _ in range(num_heads):
                self.heads.append(CausalAttention(d_in, d_out, context_length, 0.0))

        def forward(self, x: Tensor) -> Tensor:
            found = self.heads[0](x)
            for head in self.heads[1:]:
                found = torch.cat((found, head(x)), dim=-1)
            return found
        """,
    ],
    wrong=[
        Wrong(
            "[head(x) for head in self.heads]",
            "[head(x).detach() for head in self.heads]",
            "the results are detached, so that no head can learn",
            hint="detach() and .data cut a result off from the weights that made it.",
        ),
        Wrong(
            "        return torch.cat([head(x) for head in self.heads], dim=-1)",
            "        from headway import attention\n\n"
            "        rows = [\n"
            "            attention(one.W_query(x), one.W_key(x), one.W_value(x))\n"
            "            for one in self.heads\n"
            "        ]\n"
            "        return torch.cat(rows, dim=-1)",
            "only the projections of the heads are used, and the mask is missing",
        ),
        Wrong(
            "        return torch.cat([head(x) for head in self.heads], dim=-1)",
            "        for head in self.heads:\n"
            "            x = head(x)\n"
            "        return x",
            "the heads are called one after another, each on what the last one gave",
            hint="All heads get the same tokens.",
        ),
        Wrong("range(num_heads)", "range(1, num_heads)", "there is one head too few"),
        Wrong(
            "nn.ModuleList(\n            CausalAttention(d_in, d_out, context_length, "
            "dropout=0.0)\n            for _ in range(num_heads)\n        )",
            "nn.ModuleList(\n            [CausalAttention(d_in, d_out, context_length, "
            "dropout=0.0)] * num_heads\n        )",
            "one head is repeated: all are the same module, with the same weights",
            hint="[head] * 3 is a list that names one and the same head three times.",
        ),
        Wrong(
            "self.heads = nn.ModuleList(",
            "self.heads = list(",
            "the heads are in a plain list, so that nothing finds their weights",
            hint="A module looks for weights in modules that it holds, and not in "
            "plain lists. Which list is a module?",
        ),
        Wrong(
            "torch.cat([head(x) for head in self.heads], dim=-1)",
            "sum(head(x) for head in self.heads)",
            "the results of the heads are added",
        ),
        Wrong(
            "torch.cat([head(x) for head in self.heads], dim=-1)",
            "sum(head(x) for head in self.heads) / len(self.heads)",
            "the mean over the heads is taken",
        ),
        Wrong(
            "dim=-1",
            "dim=-2",
            "the heads are joined along the tokens, as if the text were longer",
        ),
        Wrong(
            "CausalAttention(d_in, d_out, context",
            "CausalAttention(d_in, d_out // num_heads, context",
            "d_out is divided among the heads; each head should be d_out wide",
        ),
        Wrong(
            "dim=-1",
            "dim=1",
            "axes are counted from the front, so that a batch and a single text are "
            "joined along different ones",
        ),
        Wrong(
            "dim=-1",
            "dim=0",
            "the heads are joined along the first axis, as if there were more texts",
        ),
        Wrong(
            "torch.cat([head(x) for head in self.heads], dim=-1)",
            "torch.stack([head(x) for head in self.heads], dim=-1)",
            "the heads are an axis of their own, and are not joined",
        ),
        Wrong(
            "torch.cat([head(x) for head in self.heads], dim=-1)",
            "torch.stack([head(x) for head in self.heads], dim=-1).flatten(-2)",
            "the heads' numbers are shuffled into each other, one in turn",
        ),
        Wrong(
            "for head in self.heads]",
            "for head in reversed(self.heads)]",
            "the heads stand in the opposite order",
        ),
        Wrong(
            "CausalAttention(d_in, d_out, context_length, dropout=0.0)",
            "CausalAttention(d_out, d_in, context_length, dropout=0.0)",
            "d_in and d_out are given in the opposite order",
        ),
        Wrong(
            "CausalAttention(d_in, d_out, context_length, dropout=0.0)",
            "CausalAttention(d_in, num_heads * d_out, context_length, dropout=0.0)",
            "each head is as wide as all together; it should be d_out wide",
        ),
        Wrong(
            "CausalAttention(d_in, d_out, context_length, dropout=0.0)",
            "CausalAttention(d_in, d_out, num_heads, dropout=0.0)",
            "the number of heads is given for context_length, so that longer texts "
            "do not fit",
        ),
        Wrong(
            "CausalAttention(d_in, d_out, context_length, dropout=0.0)",
            "CausalAttention(d_in, d_out, d_out, dropout=0.0)",
            "the width of a head is given for context_length, so that longer texts "
            "do not fit",
            same_as="the number of heads is given for context_length, so that "
            "longer texts do not fit",
        ),
        Wrong(
            "CausalAttention(d_in, d_out, context_length, dropout=0.0)",
            "CausalAttention(d_in, d_out, context_length, dropout=0.1)",
            "there is dropout, which nobody asked for",
        ),
        Wrong(
            "torch.cat([head(x) for head in self.heads], dim=-1)",
            "self.heads[0](x)",
            "only the first head is asked",
        ),
        Wrong(
            "torch.cat([head(x) for head in self.heads], dim=-1)",
            "self.heads[-1](x)",
            "only the last head's result is given, as when each round of a loop "
            "writes over the one before",
        ),
        Wrong(
            "torch.cat([head(x) for head in self.heads], dim=-1)",
            "[head(x) for head in self.heads]",
            "the heads' results are given as a list, and not joined",
        ),
        Wrong(
            "torch.cat([head(x) for head in self.heads], dim=-1)",
            "self.heads(x)",
            "the list of heads is called, and not each head: an nn.ModuleList has "
            "no forward",
        ),
        Wrong(
            "torch.cat([head(x) for head in self.heads], dim=-1)",
            "torch.cat(\n"
            "            [head(part) for head, part in zip(self.heads, "
            "x.chunk(len(self.heads), -1))],\n"
            "            dim=-1,\n"
            "        )",
            "each head is given a part of the numbers of a token; all should get "
            "them whole",
        ),
        Wrong(
            "range(num_heads)",
            "range(num_heads + 1)",
            "there is one head too many",
        ),
        Wrong(
            "self.heads = nn.ModuleList(",
            "heads = nn.ModuleList(",
            "the heads are not kept: `heads` is gone when __init__ ends, and "
            "should be self.heads",
        ),
        Wrong(
            "torch.cat([head(x) for head in self.heads], dim=-1)",
            "torch.stack([head(x) for head in self.heads])",
            "the heads are stacked as a new axis in front, and not joined",
        ),
        Wrong(
            "torch.cat([head(x) for head in self.heads], dim=-1)",
            "torch.stack([head(x) for head in self.heads], dim=-2)",
            "the heads are an axis before the numbers, and not joined",
        ),
        Wrong(
            "nn.ModuleList(\n"
            "            CausalAttention(d_in, d_out, context_length, dropout=0.0)\n"
            "            for _ in range(num_heads)\n"
            "        )",
            "nn.ModuleList(\n"
            "            __import__('copy').deepcopy(one)\n"
            "            for one in [CausalAttention(d_in, d_out, context_length, "
            "dropout=0.0)]\n"
            "            for _ in range(num_heads)\n"
            "        )",
            "one head is copied, so that all begin with the same weights",
        ),
        Wrong(
            "context_length, dropout=0.0)",
            "context_length)",
            "dropout is left out, which `CausalAttention` must be given",
        ),
        Wrong(
            "context_length, dropout=0.0)",
            "context_length, dropout=0.0, qkv_bias=True)",
            "the projections have biases, which nobody asked for",
        ),
        Wrong(
            "context_length, dropout=0.0)",
            "context_length, dropout=0.5)",
            "there is a dropout of one half, which nobody asked for",
        ),
        Wrong(
            "CausalAttention(d_in, d_out, context_length, dropout=0.0)",
            "CausalAttention(d_in, context_length, d_out, dropout=0.0)",
            "d_out and context_length are given in the opposite order",
        ),
        Wrong(
            "CausalAttention(d_in, d_out, context_length, dropout=0.0)",
            "CausalAttention(d_in, d_in, context_length, dropout=0.0)",
            "each head is d_in wide; it should be d_out",
        ),
        Wrong(
            "dim=-1",
            "dim=2",
            "axes are counted from the front: axis 2 is the last of a batch alone",
        ),
        Wrong(
            "torch.cat([head(x) for head in self.heads], dim=-1)",
            "torch.stack([head(x) for head in self.heads]).reshape(*x.shape[:-1], -1)",
            "the heads are stacked in front and then reshaped, which puts the numbers "
            "of tokens together, and not those of heads",
        ),
        Wrong(
            "torch.cat([head(x) for head in self.heads], dim=-1)",
            "torch.cat([self.heads[0](x) for _ in self.heads], dim=-1)",
            "the first head is called as often as there are heads; each should be "
            "called",
        ),
        Wrong(
            "[head(x) for head in self.heads]",
            "[x, *(head(x) for head in self.heads)]",
            "the tokens themselves are put in front of the heads' results",
        ),
        Wrong(
            "nn.ModuleList(\n"
            "            CausalAttention(d_in, d_out, context_length, dropout=0.0)\n"
            "            for _ in range(num_heads)\n"
            "        )",
            "nn.ModuleList(\n"
            "            [CausalAttention(d_in, num_heads * d_out, context_length, "
            "0.0)]\n"
            "        )",
            "there is one wide head; there should be several of d_out numbers each",
        ),
        Wrong(
            "nn.ModuleList(\n"
            "            CausalAttention(d_in, d_out, context_length, dropout=0.0)\n"
            "            for _ in range(num_heads)\n"
            "        )",
            "nn.ModuleList(\n"
            "            CausalAttention(d_in // num_heads, d_out, context_length, "
            "dropout=0.0)\n"
            "            for _ in range(num_heads)\n"
            "        )",
            "d_in is divided among the heads; each head should read whole tokens",
        ),
        Wrong(
            "        return torch.cat([head(x) for head in self.heads], dim=-1)",
            "        B, T, _ = x.shape\n"
            "        return torch.cat([head(x) for head in self.heads], dim=-1)",
            "x is taken to have three axes; a single text has two",
        ),
    ],
    minutes=8,
)
