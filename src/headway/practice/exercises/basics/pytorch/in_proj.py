"""Three projections in one matrix

`nn.MultiheadAttention` keeps its three projections in one matrix, queries on top, then
keys, then values. Write `in_proj(W_query, W_key, W_value)`: the numbers to copy there.

Each argument is an `nn.Linear` from d_in to E; its `bias` may be None. Give the weight,
of shape (3 E, d_in), and the bias, of shape (3 E,), with zeros where there is none.
PyTorch stores each weight as `nn.Linear` does.
"""

from headway.practice import Exercise

# --- your file ---
import torch
from torch import Tensor, nn


def in_proj(
    W_query: nn.Linear, W_key: nn.Linear, W_value: nn.Linear
) -> tuple[Tensor, Tensor]:
    """Give in_proj_weight (3 E, d_in) and in_proj_bias (3 E,)."""
    # --- write ---
    layers = (W_query, W_key, W_value)
    weight = torch.cat(tuple(layer.weight for layer in layers))
    biases: list[Tensor] = [
        torch.zeros_like(layer.weight[:, 0]) if layer.bias is None else layer.bias
        for layer in layers
    ]
    return weight, torch.cat(biases)
    # --- written ---


if __name__ == "__main__":
    layers = [nn.Linear(15, 15, bias=bias) for bias in (True, False, True)]
    weight, bias = in_proj(*layers)
    print(tuple(weight.shape), tuple(bias.shape))
    print(torch.equal(weight[15:30], layers[1].weight), bias[15:30].any().item())
    # (45, 15) (45,)
    # True False
# --- end of your file ---


def run(in_proj, weights, biases, some):  # type: ignore[no-untyped-def]
    layers = []
    for weight, bias, has in zip(weights, biases, some, strict=True):
        E, d_in = weight.shape
        layer = nn.Linear(d_in, E, bias=has).double()
        layer.weight.data = weight
        if has:
            layer.bias.data = bias
        layers.append(layer)
    given = in_proj(*layers)
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        return given
    has_now = [layer.bias is not None for layer in layers]
    named = dict(zip(("in_proj_weight", "in_proj_bias"), given, strict=True))
    return {**named, "the layers": "as they were" if has_now == some else "changed"}


SOME = (
    [True, True, True],
    [False, False, False],
    [True, False, True],
    [False, True, False],
)


def draw(d):  # type: ignore[no-untyped-def]
    return d.normal(3, d.E, d.D), d.normal(3, d.E), SOME[d.case]


EXERCISE = Exercise(
    answer="in_proj",
    read=("basics/pytorch/#the-module", "The module"),
    hints=(
        "Along which axis of a weight do the E outputs of a layer lie?",
        "torch.cat joins tensors along their first axis, unless you say another. A "
        "layer without a bias adds zeros.",
        "Take the three layers in the order queries, keys, values; join their weights; "
        "join their biases, and make E zeros for a layer whose bias is None.",
    ),
    draw=draw,
    trials=[{"case": 0}, {"case": 1, "E": 4, "D": 4}, {"case": 2}, {"case": 3}],
    ask=run,
    law="A matrix for three is three matrices below each other, because nn.Linear "
    "stores the transpose.",
    right=[
        """
        # A layer three times as high: each of the three is copied into its rows.
        E, d_in = W_query.weight.shape
        joined = nn.Linear(d_in, 3 * E).to(W_query.weight.dtype)
        nn.init.zeros_(joined.bias)
        for n, layer in enumerate((W_query, W_key, W_value)):
            joined.weight.data[n * E : (n + 1) * E] = layer.weight
            if layer.bias is not None:
                joined.bias.data[n * E : (n + 1) * E] = layer.bias
        return joined.weight, joined.bias
        """,
        """
        # stack and flatten: the three are an axis first, as they can be split again.
        layers = (W_query, W_key, W_value)
        zeros = W_query.weight.new_zeros(W_query.out_features)
        biases = [zeros if layer.bias is None else layer.bias for layer in layers]
        weight = torch.stack([layer.weight for layer in layers])
        return weight.flatten(0, 1), torch.stack(biases).flatten()
        """,
    ],
    survivors={"0 -> 1": "any column of a weight is as long as its bias"},
    stars=2,
    minutes=10,
)
