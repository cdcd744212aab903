"""Several heads side by side

Write the class `StackedHeads`: num_heads heads `CausalAttention`, each with weights of
its own, on the same tokens.

`__init__` makes `self.heads`, in which the heads can be counted and called by number.
`forward(x)` takes (..., T, d_in) and gives (..., T, H * d_out): for each token the
results of all heads side by side, the first head's first. All weights must be found by
`parameters()`.
"""

from headway.practice import Exercise
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
    minutes=8,
)
