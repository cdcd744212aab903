"""Stacked heads into one projection

Each of several heads has a projection of its own. Write `into_one(layers)`: one
projection that gives for each token what all of them give, side by side, the first
head's numbers first.

`layers` is a list of H layers, each an `nn.Linear(d_in, D, bias=False)`. Give one
`nn.Linear` from d_in to H * D, also without a bias, with copies of their weights: it
can be trained, and the layers stay as they are.
"""

from headway.practice import Exercise, Wrong
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
    wrong=[
        Wrong(
            "one.weight = nn.Parameter(weight)",
            "one.weight.copy_(weight)",
            "a parameter is written to while PyTorch records, which it refuses",
            hint="Under torch.no_grad() a parameter may be written to; or make a new "
            "nn.Parameter.",
        ),
        Wrong(
            "one.weight = nn.Parameter(weight)",
            "one.weight = weight",
            "a tensor is put where PyTorch wants an nn.Parameter",
        ),
        Wrong(
            "    one.weight = nn.Parameter(weight)\n",
            "    one.weight = nn.Parameter(weight)\n"
            "    for h, layer in enumerate(layers):\n"
            "        layer.weight.data = one.weight.data.chunk(len(layers))[h]\n",
            "the layers are made views of the new weight; they should stay as they are",
        ),
        Wrong(
            "[layer.weight for layer in layers])",
            "[layer.weight for layer in layers[::-1]])",
            "the heads stand in the opposite order",
        ),
        Wrong(
            "torch.cat([layer.weight for layer in layers])",
            "torch.stack([layer.weight for layer in layers], dim=1).flatten(0, 1)",
            "the rows of the heads are shuffled into each other, one in turn",
        ),
        Wrong(
            "torch.cat([layer.weight for layer in layers])",
            "torch.cat([layer.weight for layer in layers], dim=1)",
            "the weights stand side by side, and not below each other",
        ),
        Wrong(
            "torch.cat([layer.weight for layer in layers])",
            "torch.cat([layer.weight.T for layer in layers], dim=1)",
            "each weight is transposed first, which nn.Linear has done already",
        ),
        Wrong(
            "torch.cat([layer.weight for layer in layers])",
            "torch.cat([layer.weight.T for layer in layers], dim=1)\n"
            "    weight = weight.reshape(-1, len(weight))",
            "the weight is reshaped to the right sizes, and not transposed",
        ),
        Wrong(
            "torch.cat([layer.weight for layer in layers])",
            "torch.cat([layers[0].weight] * len(layers))",
            "the first head's weight is repeated",
        ),
        Wrong(
            "torch.cat([layer.weight for layer in layers])",
            "sum(layer.weight for layer in layers)",
            "the weights of the heads are added",
        ),
        Wrong(
            "bias=False)\n    one",
            "bias=True)\n    one",
            "the bias is left on, with random numbers",
        ),
        Wrong(
            "    one.weight = nn.Parameter(weight)\n",
            "",
            "no weight is copied, and the layer keeps its random ones",
        ),
        Wrong(
            "nn.Parameter(weight)",
            "nn.Parameter(weight, requires_grad=False)",
            "the copies cannot be trained",
        ),
        Wrong(
            "    weight = torch.cat(",
            "    for layer in layers:\n"
            "        layer.requires_grad_(False)\n"
            "    weight = torch.cat(",
            "the layers are frozen for the copy, and stay frozen: no_grad and "
            "detach leave nothing behind",
        ),
        Wrong(
            "nn.Linear(weight.shape[1], weight.shape[0], bias=False)",
            "nn.Linear(weight.shape[0], weight.shape[1], bias=False)",
            "in_features and out_features are given in the opposite order",
        ),
        Wrong(
            "    return one",
            "    return weight",
            "the weight is given; it should be a layer",
        ),
        Wrong(
            "    return one",
            "    return one.weight",
            "the weight of the layer is given; it should be the layer",
        ),
        Wrong(
            "torch.cat([layer.weight for layer in layers])",
            "sum(layer.weight for layer in layers) / len(layers)",
            "the mean of the heads' weights is taken",
        ),
        Wrong(
            "torch.cat([layer.weight for layer in layers])",
            "layers[0].weight",
            "only the first layer is copied",
        ),
        Wrong(
            "    one = nn.Linear(weight.shape[1], weight.shape[0], bias=False)\n"
            "    one.weight = nn.Parameter(weight)\n",
            "    one = layers[0]\n"
            "    one.weight = nn.Parameter(weight)\n"
            "    one.out_features = len(weight)\n",
            "the first layer itself is made larger; it should stay as it is",
            same_as="the layers are made views of the new weight; they should "
            "stay as they are",
        ),
        Wrong(
            "nn.Parameter(weight)",
            "nn.Parameter(weight.T)",
            "the joined weight is transposed",
            same_as="each weight is transposed first, which nn.Linear has done already",
        ),
        Wrong(
            "torch.cat([layer.weight for layer in layers])",
            "torch.cat([layer.weight for layer in layers[1:]])",
            "the first layer is left out",
        ),
        Wrong(
            "torch.cat([layer.weight for layer in layers])",
            "torch.cat([layer.weight for layer in layers[:-1]])",
            "the last layer is left out",
        ),
        Wrong(
            "    return one",
            "    return nn.Sequential(*layers)",
            "the layers are put one behind the other in an nn.Sequential; one layer "
            "is asked for",
        ),
        Wrong(
            "    return one",
            "    return nn.ModuleList(layers)",
            "a list of the layers is given; one layer is asked for",
        ),
        Wrong(
            "    return one",
            "    D = layers[0].in_features\n"
            "    one = nn.Linear(D, len(layers) * D, bias=False)\n"
            "    with torch.no_grad():\n"
            "        for h, layer in enumerate(layers):\n"
            "            one.weight[h * D : (h + 1) * D] = layer.weight\n"
            "    return one",
            "slices are as long as d_in; a head has D rows",
        ),
        Wrong(
            "    return one",
            "    D = layers[0].out_features\n"
            "    one = nn.Linear(layers[0].in_features, len(layers) * D, bias=False)\n"
            "    with torch.no_grad():\n"
            "        for layer in layers:\n"
            "            one.weight[:D] = layer.weight\n"
            "    return one",
            "each head's weight is written to the same rows, so that the last one is "
            "left",
        ),
        Wrong(
            "    return one",
            "    D = layers[0].out_features\n"
            "    with torch.no_grad():\n"
            "        for h, layer in enumerate(layers):\n"
            "            one.weight[:, h * D : (h + 1) * D] = layer.weight\n"
            "    return one",
            "columns of the weight are written, one slice for each head, and not rows",
        ),
        Wrong(
            "    return one",
            "    D = layers[0].out_features\n"
            "    with torch.no_grad():\n"
            "        for h, layer in enumerate(layers):\n"
            "            one.weight[h : h + D] = layer.weight\n"
            "    return one",
            "every row is written to a place that begins at the number of the head, "
            "and not at D times it",
        ),
        Wrong(
            "torch.cat([layer.weight for layer in layers])",
            "torch.stack([layer.weight for layer in layers])",
            "the weights are stacked with an axis of heads in front, and not joined",
        ),
        Wrong(
            "    one = nn.Linear(weight.shape[1], weight.shape[0], bias=False)",
            "    one = nn.Linear(weight.shape[1], layers[0].out_features, bias=False)",
            "out_features is that of one layer",
        ),
        Wrong(
            "torch.cat([layer.weight for layer in layers])",
            "torch.cat([torch.randn_like(layer.weight) for layer in layers])",
            "in a new layer numbers are drawn for each head",
        ),
        Wrong(
            "    return one",
            "    one.bias = nn.Parameter(torch.cat([layer.bias for layer in "
            "layers]))\n"
            "    return one",
            "biases are joined, too, where the layers have none",
        ),
        Wrong(
            "    one.weight = nn.Parameter(weight)",
            "    one.weight = layers[0].weight",
            "the weight of the first layer is taken for all",
        ),
        Wrong(
            "torch.cat([layer.weight for layer in layers])",
            "torch.cat([layer.weight for layer in layers])\n"
            "    if len(layers) == 1:\n"
            "        return layers[0]",
            "the weight of a single layer is taken itself, and not a copy",
        ),
    ],
    minutes=8,
)
