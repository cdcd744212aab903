"""Three projections in one matrix

`nn.MultiheadAttention` keeps its three projections in one matrix, queries on top, then
keys, then values. Write `in_proj(W_query, W_key, W_value)`: the numbers to copy there.

Each argument is an `nn.Linear` from d_in to E; its `bias` may be None. Give the weight,
of shape (3 E, d_in), and the bias, of shape (3 E,), with zeros where there is none.
PyTorch stores each weight as `nn.Linear` does.
"""

from headway.practice import Exercise, Wrong

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
    wrong=[
        Wrong(
            "layers = (W_query, W_key, W_value)",
            "layers = (W_key, W_query, W_value)",
            "keys stand on top, and queries below them",
            exhibit="heads/#queries-and-keys-swapped",
        ),
        Wrong(
            "layers = (W_query, W_key, W_value)",
            "layers = (W_query, W_value, W_key)",
            "values stand where the keys belong",
            exhibit="heads/#keys-and-values-swapped",
        ),
        Wrong(
            "layers = (W_query, W_key, W_value)",
            "layers = (W_value, W_key, W_query)",
            "the three stand in the opposite order",
        ),
        Wrong(
            "tuple(layer.weight for layer in layers)",
            "tuple(layer.weight.T for layer in layers)",
            "each weight is transposed, which is how GPT-2 stores it",
        ),
        Wrong(
            "tuple(layer.weight for layer in layers)",
            "tuple(layer.weight for layer in layers), dim=1",
            "the weights stand side by side, and not below each other",
        ),
        Wrong(
            "torch.cat(tuple(layer.weight for layer in layers))",
            "torch.stack(tuple(layer.weight for layer in layers))",
            "the three are an axis of their own, and are not joined",
        ),
        Wrong(
            "torch.cat(tuple(layer.weight for layer in layers))",
            "torch.stack(tuple(layer.weight for layer in layers), dim=1).flatten(0, 1)",
            "the rows of the three are shuffled into each other, one in turn",
        ),
        Wrong(
            "torch.zeros_like(layer.weight[:, 0]) if layer.bias is None else "
            "layer.bias",
            "torch.zeros_like(layer.weight[:, 0])",
            "the biases are left behind",
        ),
        Wrong(
            "torch.zeros_like(layer.weight[:, 0]) if layer.bias is None else "
            "layer.bias",
            "layer.bias",
            "a bias is taken where there is none: None is joined with tensors",
        ),
        Wrong(
            "torch.zeros_like(layer.weight[:, 0])",
            "torch.ones_like(layer.weight[:, 0])",
            "a missing bias is filled with ones, as if it were a factor",
        ),
        Wrong(
            "torch.zeros_like(layer.weight[:, 0])",
            "torch.zeros_like(layer.weight[0])",
            "a missing bias is as wide as the tokens; it should be as wide as the "
            "result",
        ),
        Wrong(
            "    weight = torch.cat(tuple(layer.weight for layer in layers))\n",
            "    weight = torch.cat(tuple(layer.weight for layer in layers)).T\n",
            "the whole is transposed, or the transposed weights stand side by "
            "side: columns are for the results",
        ),
        Wrong(
            "torch.zeros_like(layer.weight[:, 0])",
            "torch.zeros(layer.out_features)",
            "a missing bias has 32 bits, whatever the weight has",
            hint="torch.zeros takes dtype=; zeros_like takes the type of what it is "
            "given.",
        ),
        Wrong(
            "    return weight, torch.cat(biases)",
            "    return weight.view(3, -1, weight.shape[-1]), torch.stack(biases)",
            "the three are stacked on an axis of their own, weights and biases",
        ),
        Wrong(
            "    return weight, torch.cat(biases)",
            "    if any(layer.bias is None for layer in layers):\n"
            "        return weight, torch.zeros_like(weight[:, 0])\n"
            "    return weight, torch.cat(biases)",
            "if one bias is missing, all of them are left out",
        ),
        Wrong(
            "    return weight, torch.cat(biases)",
            "    if all(layer.bias is None for layer in layers):\n"
            "        return weight, None\n"
            "    return weight, torch.cat(biases)",
            "None is given where no layer has a bias; it should be zeros",
        ),
        Wrong(
            "    return weight, torch.cat(biases)",
            "    found = [layer.bias for layer in layers if layer.bias is not "
            "None]\n"
            "    return weight, torch.cat(found)",
            "missing biases are left out, so that the result is too short, or "
            "there is nothing to join",
        ),
        Wrong(
            "layer.bias is None else",
            "not layer.bias else",
            "a bias is asked whether it is true, which a tensor of many numbers "
            "is not: ask whether it is None",
        ),
        Wrong(
            "    biases: list",
            "    for layer in layers:\n"
            "        if layer.bias is None:\n"
            "            layer.bias = "
            "nn.Parameter(torch.zeros_like(layer.weight[:, 0]))\n"
            "    biases: list",
            "layers that had no bias are given one; the layers should stay as they are",
        ),
        Wrong(
            "    return weight, torch.cat(biases)",
            "    weight = weight.unflatten(0, (3, -1)).transpose(0, 1).flatten(0, "
            "1)\n"
            "    return weight, torch.stack(biases, dim=1).flatten()",
            "rows and biases of the three are shuffled into each other, one in turn",
        ),
        Wrong(
            "layers = (W_query, W_key, W_value)",
            "layers = (W_key, W_value, W_query)",
            "the queries stand below; they should stand on top",
        ),
        Wrong(
            "layers = (W_query, W_key, W_value)",
            "layers = (W_value, W_query, W_key)",
            "the values stand on top; they should stand below",
        ),
        Wrong(
            "return weight, torch.cat(biases)",
            "if W_query.bias is None:\n"
            "        return weight, torch.zeros_like(weight[:, 0])\n"
            "    return weight, torch.cat([layer.bias for layer in layers])",
            "only the first layer is asked whether it has a bias; the others may "
            "have none, too",
        ),
        Wrong(
            "return weight, torch.cat(biases)",
            "return weight",
            "only the weight is given; it should be weight and bias",
        ),
        Wrong(
            "return weight, torch.cat(biases)",
            "return torch.cat(biases), weight",
            "weight and bias are given in the opposite order",
        ),
        Wrong(
            "return weight, torch.cat(biases)",
            "return weight, torch.cat(biases)[:, None]",
            "the bias is a column (3 E, 1); it should be (3 E,)",
        ),
        Wrong(
            "return weight, torch.cat(biases)",
            "return weight, sum(biases)",
            "the three biases are added; they should be joined",
        ),
        Wrong(
            "torch.cat(tuple(layer.weight for layer in layers))",
            "sum(layer.weight for layer in layers)",
            "the three weights are added; they should be joined",
        ),
        Wrong(
            "return weight, torch.cat(biases)",
            "return weight, torch.stack(biases)",
            "the biases keep an axis for the three; they should be joined",
        ),
        Wrong(
            "return weight, torch.cat(biases)",
            "return weight, torch.cat(biases[::-1])",
            "the biases stand in the opposite order, and the weights do not",
        ),
        Wrong(
            "torch.cat(tuple(layer.weight for layer in layers))",
            "torch.cat((W_query.weight,) * 3)",
            "the weight of the queries stands there three times",
        ),
        Wrong(
            "layer.bias is None else layer.bias",
            "layer.bias is not None else layer.bias",
            "the question is turned around: there are zeros where there is a bias",
        ),
        Wrong(
            "return weight, torch.cat(biases)",
            "return [layer.weight for layer in layers], biases",
            "weights and biases are given as lists, and not joined",
        ),
        Wrong(
            "return weight, torch.cat(biases)",
            "return weight, torch.stack(biases, dim=-1)",
            "the biases are laid side by side as columns; they should be joined",
        ),
        Wrong(
            "return weight, torch.cat(biases)",
            "return weight, biases[0]",
            "only the bias of the queries is given",
        ),
        Wrong(
            "torch.zeros_like(layer.weight[:, 0])",
            "layer.weight.new_zeros(1)",
            "a missing bias is filled with a single zero; it should be E of them",
        ),
        Wrong(
            "torch.zeros_like(layer.weight[:, 0])",
            "layer.weight.new_zeros(3 * len(layer.weight))",
            "each missing bias is filled with 3 E zeros; it should be E of them",
        ),
        Wrong(
            "torch.zeros_like(layer.weight[:, 0])",
            "torch.zeros_like(layer.weight)",
            "a missing bias is filled with zeros in the shape of a weight; it should "
            "be E of them",
        ),
        Wrong(
            "torch.cat(tuple(layer.weight for layer in layers))",
            "torch.cat(layers)",
            "the layers themselves are joined; their weights should be",
        ),
        Wrong(
            "return weight, torch.cat(biases)",
            "return weight, torch.cat([biases[0], biases[2], biases[1]])",
            "the biases of keys and values are exchanged, and the weights are not",
        ),
        Wrong(
            "return weight, torch.cat(biases)",
            "return weight, torch.cat([biases[1], biases[0], biases[2]])",
            "the biases of queries and keys are exchanged, and the weights are not",
        ),
        Wrong(
            "return weight, torch.cat(biases)",
            "joined = nn.Linear(weight.shape[1], len(weight)).to(weight.dtype)\n"
            "    joined.weight.data = weight\n"
            "    E = len(weight) // 3\n"
            "    for n, layer in enumerate(layers):\n"
            "        if layer.bias is not None:\n"
            "            joined.bias.data[n * E : (n + 1) * E] = layer.bias\n"
            "    return joined.weight, joined.bias",
            "a new layer draws a bias at random, which stays where a layer has none; "
            "there should be zeros",
        ),
        Wrong(
            "return weight, torch.cat(biases)",
            "zeros = torch.zeros_like(weight[:, 0])\n"
            "    if W_query.bias is None:\n"
            "        return weight, zeros\n"
            "    return weight, torch.cat(biases)",
            "the biases of keys and values are left out if the queries have none",
        ),
        Wrong(
            "return weight, torch.cat(biases)",
            "missing = any(layer.bias is None for layer in layers)\n"
            "    zeros = torch.zeros_like(W_query.weight[:, 0])\n"
            "    return weight, zeros if missing else torch.cat(biases)",
            "if one bias is missing, E zeros are given for all; it should be 3 E "
            "numbers",
        ),
        Wrong(
            "return weight, torch.cat(biases)",
            "return weight, torch.zeros_like(W_query.weight[:, 0])",
            "E zeros are given as the bias of all three; it should be 3 E numbers",
        ),
        Wrong(
            "return weight, torch.cat(biases)",
            "return torch.cat([one.weight for one in layers[:2]]), "
            "torch.cat(biases[:2])",
            "the values are left out",
        ),
        Wrong(
            "return weight, torch.cat(biases)",
            "return {'weight': weight, 'bias': torch.cat(biases)}",
            "a dictionary is given; it should be the two tensors, weight and bias",
        ),
        Wrong(
            "torch.cat(tuple(layer.weight for layer in layers))",
            "torch.cat([one.weight * (one.bias is not None) for one in layers])",
            "the weight of a layer without a bias is set to zero; only its bias "
            "should be",
        ),
    ],
    survivors={"0 -> 1": "any column of a weight is as long as its bias"},
    stars=2,
    minutes=10,
)
