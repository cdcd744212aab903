"""Stacked heads into one projection

Each of several heads has a projection of its own. Write `into_one(layers)`: one
projection that gives for each token what all of them give, side by side, the first
head's numbers first.

`layers` is a list of H layers, each an `nn.Linear(d_in, D, bias=False)`. Give one
`nn.Linear` from d_in to H * D, also without a bias, with copies of their weights: it
can be trained, and the layers stay as they are.
"""

from headway.practice import Exercise
from headway.practice.task.definition import DIFFERENT, EQUAL, LOUD

# --- your file ---
import torch
from torch import nn


def into_one(layers: list[nn.Linear]) -> nn.Linear:
    """Give one layer for H layers; nn.Linear keeps its weight as (out, in)."""
    # --- write ---
    weight = torch.cat([layer.weight for layer in layers])
    one = nn.Linear(weight.shape[1], weight.shape[0], bias=False)
    one.weight = nn.Parameter(weight)
    return one
    # --- written ---


if __name__ == "__main__":
    torch.manual_seed(7)
    layers = [nn.Linear(3, 2, bias=False) for _ in range(4)]
    one, x = into_one(layers), torch.randn(6, 3)
    apart = torch.cat([layer(x) for layer in layers], dim=-1)
    print(tuple(one.weight.shape), torch.allclose(one(x), apart, atol=1e-6))
    # (8, 3) True
# --- end of your file ---


def run(into_one, x, weights):  # type: ignore[no-untyped-def]
    layers = []
    for weight in weights:
        layers.append(nn.Linear(*weight.shape[::-1], bias=False))
        layers[-1].weight.data = weight.float()
    torch.manual_seed(0)
    one = into_one(layers)
    rows = x @ one.weight.double().mT
    trained = one.weight.requires_grad and one.weight.is_leaf
    both = zip(layers, weights, strict=True)
    kept = all(torch.equal(layer.weight, weight.float()) for layer, weight in both)
    with torch.no_grad():
        one.weight.zero_()
    apart = all(bool(layer.weight.any()) for layer in layers)
    learn = all(layer.weight.requires_grad for layer in layers)
    return {
        "the rows": rows,
        "in_features": one.in_features,
        "out_features": one.out_features,
        "has it a bias": "no" if one.bias is None else "yes",
        "can it be trained": "yes" if trained else "no",
        "are the layers as they were": "yes" if kept else "no",
        "does it share memory with the layers": "no" if apart else "yes",
        "can the layers still be trained": "yes" if learn else "no",
    }


EXERCISE = Exercise(
    answer="into_one",
    read=(
        "basics/multi_head_attention/#side-by-side-is-one-product",
        "Side by side is one product",
    ),
    hints=(
        "A head more makes the result wider. Does it make the weight of an nn.Linear "
        "longer, or wider?",
        "nn.Linear keeps the transpose: each number of the result has a row of the "
        "weight. So the weights of the heads lie below each other.",
        "Join the weights along their first axis, make a layer of these sizes without "
        "a bias, and give it the joined numbers as its nn.Parameter.",
    ),
    draw=lambda d: (d.normal(d.B, d.T, d.E), d.normal(d.H, d.D, d.E)),
    ask=run,
    # And a single head, which needs a copy as well.
    trials=(DIFFERENT, EQUAL, LOUD, {"H": 1}),
    law="Heads side by side in the result are heads below each other in the weight.",
    right=[
        """
        # A slice for each head: long, but it shows where its rows are.
        D, d_in = layers[0].weight.shape
        one = nn.Linear(d_in, len(layers) * D, bias=False).to(layers[0].weight.dtype)
        with torch.no_grad():
            for h, layer in enumerate(layers):
                one.weight[h * D : (h + 1) * D] = layer.weight
        return one
        """,
        """
        # stack and flatten: heads are an axis first, then joined with their rows.
        weight = torch.stack([layer.weight for layer in layers]).flatten(0, 1)
        one = nn.Linear(*weight.T.shape, bias=False)
        one.weight.data = weight.data
        return one
        """,
    ],
    minutes=8,
)
