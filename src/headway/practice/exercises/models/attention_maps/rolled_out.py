"""The maps of all layers in one

Write `rolled_out(maps, residual)`: the attention rollout of a model.

`maps` is a list of one tensor (H, T, T) for each layer, the first layer first: weights
of H heads, whose rows sum to one. In each layer the share `residual` of a token stays
where it is, by the residual connection, and the rest comes through the mean map of the
heads. Give a table (T, T): for each token of the last layer, how much of it leads back
to each token of the text, in the type of the maps.
"""

from headway.practice import Exercise, Property, Wrong

# --- your file ---
import torch
from torch import Tensor


def rolled_out(maps: list[Tensor], residual: float) -> Tensor:
    """Give (T, T) for the maps (H, T, T) of the layers, the first one first."""
    # --- write ---
    same = torch.eye(maps[0].shape[-1], dtype=maps[0].dtype)
    result = same
    for layer in maps:
        step = residual * same + (1 - residual) * layer.mean(dim=0)
        result = step @ result
    return result
    # --- written ---


if __name__ == "__main__":
    back = torch.tensor([[1.0, 0, 0], [1.0, 0, 0], [0, 1.0, 0]])
    print(rolled_out([back[None], back[None]], residual=0.9)[-1])
    # tensor([0.0100, 0.1800, 0.8100])
# --- end of your file ---


def draw(d):  # type: ignore[no-untyped-def]
    maps = [torch.softmax(d.normal(d.H, d.T, d.T), dim=-1) for _ in range(d.W)]
    if d.axes == 0:  # of zeros and ones, so that 16 bits hold all products exactly
        looked_at = d.integers(d.T, d.W, d.H, d.T)
        maps = [*torch.nn.functional.one_hot(looked_at, d.T).half()]
    return maps, 0.25  # which all types hold exactly


EXERCISE = Exercise(
    answer="rolled_out",
    read=(
        "models/attention_maps/#rollout-the-maps-of-all-layers-in-one",
        "Rollout: the maps of all layers in one",
    ),
    hints=(
        "A token of the second layer looks at tokens of the first, and these look at "
        "the text. How are two tables of shares made into one?",
        "Make one table a layer: so much of the identity, and so much of the mean "
        "over heads. Then multiply the tables, as matrices.",
        "The last layer is asked first, so it stands at the left of the product, and "
        "the first layer at the right.",
    ),
    draw=draw,
    trials=(
        {},
        dict.fromkeys("BHGTSDVEW", 4),
        {"W": 1},
        {"W": 2, "H": 2, "axes": 0},
    ),
    law="Rows sum to one, as those of each layer do; but how large the values are, and "
    "what layers make of them, is in none of the maps.",
    right=[
        """
        # All steps first, then one product: multi_dot finds the cheapest order.
        eye = torch.eye(maps[0].shape[-1], dtype=maps[0].dtype)
        steps = [residual * eye + (1 - residual) * one.mean(0) for one in maps]
        return torch.linalg.multi_dot([*steps[::-1], eye])
        """,
        """
        # Without an identity: lerp mixes what is there and what comes through.
        T = maps[0].shape[-1]
        result = torch.eye(T, dtype=maps[0].dtype)
        for layer in maps:
            through = torch.einsum("hts,su->tu", layer, result) / len(layer)
            result = torch.lerp(through, result, residual)
        return result
        """,
    ],
    survivors={
        "-1 -> 1": "a map has as many queries as keys, and its axes are three",
        "1 -> 2": "a map has as many queries as keys",
    },
    properties=[
        Property(
            "the rows of the result sum to one",
            lambda answer, maps, residual: torch.allclose(
                answer(maps, residual).sum(dim=-1).double(),
                torch.ones((), dtype=torch.float64),
            ),
        )
    ],
    wrong=[
        Wrong(
            "step @ result",
            "result @ step",
            "the first layer stands at the left of the product, as if it were last",
        ),
        Wrong(
            "residual * same + (1 - residual) * layer.mean(dim=0)",
            "layer.mean(dim=0)",
            "nothing stays: the residual connection is left out",
        ),
        Wrong(
            "residual * same + (1 - residual) * layer.mean(dim=0)",
            "(1 - residual) * same + residual * layer.mean(dim=0)",
            "the two shares are exchanged: what should stay goes through the maps",
        ),
        Wrong(
            "residual * same + (1 - residual) * layer.mean(dim=0)",
            "same + layer.mean(dim=0)",
            "the identity is added and the shares are not used, so that rows sum to "
            "eight",
        ),
        Wrong(
            "residual * same + (1 - residual) * layer.mean(dim=0)",
            "(same + layer.mean(dim=0)) / 2",
            "half of a token stays, whatever `residual` says",
        ),
        Wrong(
            "residual * same +",
            "residual * result +",
            "what was found so far stays in place of the identity, and is multiplied "
            "by itself",
        ),
        Wrong(
            "        step = residual * same + (1 - residual) * layer.mean(dim=0)\n"
            "        result = step @ result\n"
            "    return result",
            "        result = layer.mean(dim=0) @ result\n"
            "    return residual * same + (1 - residual) * result",
            "the residual connection is counted once, at the end, and not in each "
            "layer",
        ),
        Wrong(
            "layer.mean(dim=0)",
            "layer.sum(dim=0)",
            "the heads are added, and their mean is not taken",
        ),
        Wrong(
            "layer.mean(dim=0)",
            "layer.amax(dim=0)",
            "the largest of the heads is taken for each weight, and not their mean",
        ),
        Wrong(
            "layer.mean(dim=0)",
            "layer[0]",
            "only the first head is followed",
        ),
        Wrong(
            "result = step @ result",
            "result = step",
            "only the last layer is left",
        ),
        Wrong(
            "step @ result",
            "step * result",
            "the tables are multiplied number by number, and not as matrices",
        ),
        Wrong(
            "    for layer in maps:\n",
            "    for layer in [torch.stack(maps).mean(dim=0)]:\n",
            "the mean over the layers is taken, and not the product",
        ),
        Wrong(
            "layer.mean(dim=0)",
            "layer.mean(dim=0).T",
            "each map is turned over, so that keys ask and queries are asked",
        ),
        Wrong(
            "step @ result",
            "step + result",
            "the layers are added, and not multiplied",
        ),
        Wrong(
            "(1 - residual) * layer",
            "layer",
            "the maps are not multiplied by what is left, one less the residual",
        ),
        Wrong(
            "    result = same\n",
            "    result = residual * same + (1 - residual) * maps[0].mean(dim=0)\n",
            "it begins with the first layer, which then comes once more",
        ),
        Wrong(
            "    return result",
            "    return result.T",
            "the table is turned over at the end: rows are tokens of the text, and "
            "columns those of the last layer",
        ),
        Wrong(
            "        step = residual * same + (1 - residual) * layer.mean(dim=0)\n"
            "        result = step @ result\n"
            "    return result",
            "        step = residual * same + (1 - residual) * layer\n"
            "        result = step @ result\n"
            "    return result.mean(dim=0)",
            "each head is followed by the same head alone, and the mean is taken at "
            "the end",
        ),
        Wrong(
            "for layer in maps:",
            "for layer in maps[:-1]:",
            "the last layer is left out",
        ),
        Wrong(
            "        step = residual * same + (1 - residual) * layer.mean(dim=0)\n",
            "        step = residual * same + (1 - residual) * "
            "layer.amax(dim=0)\n"
            "        step = step / step.sum(dim=-1, keepdim=True)\n",
            "the largest of the heads is taken, and rows are made to sum to one again",
        ),
        Wrong(
            "        step = residual * same + (1 - residual) * layer.mean(dim=0)\n",
            "        largest = layer.amax(dim=0)\n"
            "        largest = largest / largest.sum(dim=-1, keepdim=True)\n"
            "        step = residual * same + (1 - residual) * largest\n",
            "the largest of the heads is taken and made to sum to one, before "
            "the residual is added",
        ),
        Wrong(
            "layer.mean(dim=0)",
            "layer.amin(dim=0)",
            "the smallest of the heads is taken for each weight, and not their mean",
        ),
        Wrong(
            "layer.mean(dim=0)",
            "layer.median(dim=0).values",
            "the median of the heads is taken, and not their mean",
        ),
        Wrong(
            "layer.mean(dim=0)",
            "layer.prod(dim=0)",
            "the maps of the heads are multiplied; their mean should be taken",
        ),
        Wrong(
            "layer.mean(dim=0)",
            "layer[-1]",
            "only the last head is followed",
        ),
        Wrong(
            "layer.mean(dim=0)",
            "layer.mean(dim=1)",
            "the mean is taken over the queries; it should be over the heads, "
            "which are axis 0",
        ),
        Wrong(
            "layer.mean(dim=0)",
            "layer.mean(dim=-1)",
            "the mean is taken over the keys; it should be over the heads, "
            "which are axis 0",
        ),
        Wrong(
            "layer.mean(dim=0)",
            "layer.mean()",
            "the mean of all numbers is taken; it should be over the heads alone",
        ),
        Wrong(
            "layer.mean(dim=0)",
            "layer.mean(dim=0, keepdim=True)",
            "the heads leave an axis of length one",
        ),
        Wrong(
            "layer.mean(dim=0)",
            "layer.sum(dim=0) / len(maps)",
            "the sum of the heads is divided by the number of layers; it "
            "should be divided by that of the heads",
        ),
        Wrong(
            "layer.mean(dim=0)",
            "layer",
            "each head keeps a table of its own; their mean should be taken in "
            "each layer",
        ),
        Wrong(
            "for layer in maps:",
            "for layer in maps[1:]:",
            "the first layer is left out",
        ),
        Wrong(
            "for layer in maps:",
            "for layer in maps[:1]:",
            "only the first layer is followed",
        ),
        Wrong(
            "for layer in maps:",
            "for layer in reversed(maps):",
            "the layers are taken from the last one on",
            same_as="the first layer stands at the left of the product, as if "
            "it were last",
        ),
        Wrong(
            "residual * same + (1 - residual)",
            "same + (1 - residual)",
            "the whole token stays in each layer; it should be the share `residual`",
        ),
        Wrong(
            "residual * same + (1 - residual)",
            "residual * same + residual",
            "the maps are multiplied by the residual; they should be "
            "multiplied by what is left of one",
        ),
        Wrong(
            "residual * same + (1 - residual)",
            "residual + (1 - residual)",
            "the residual is added to all entries; it should be added on the diagonal",
        ),
        Wrong(
            "        step = residual * same + (1 - residual) * layer.mean(dim=0)\n",
            "        step = same + layer.mean(dim=0)\n"
            "        step = step / step.sum(dim=-1, keepdim=True)\n",
            "the identity is added and rows are made to sum to one",
            same_as="half of a token stays, whatever `residual` says",
        ),
        Wrong(
            "    return result\n",
            "    return result[-1]\n",
            "only the row of the last token is given",
        ),
        Wrong(
            "    return result\n",
            "    return result / len(maps)\n",
            "the product is divided by the number of layers",
        ),
        Wrong(
            "    return result\n",
            "    return result / result.sum(dim=0)\n",
            "the columns are made to sum to one",
        ),
        Wrong(
            "    return result\n",
            "    return residual * same + (1 - residual) * result\n",
            "the residual is added once more at the end",
        ),
        Wrong(
            "    result = same\n",
            "    result = torch.zeros_like(same)\n",
            "it begins with zeros, and a product with zero stays zero",
        ),
        Wrong(
            "    result = same\n",
            "    result = torch.ones_like(same)\n",
            "it begins with a table of ones; it should be the identity",
        ),
        Wrong(
            "result = step @ result",
            "result = step @ step",
            "each step is multiplied by itself, and only the last layer is left",
        ),
        Wrong(
            "        step = residual * same + (1 - residual) * layer.mean(dim=0)\n",
            "        step = residual * same + (1 - residual) * "
            "layer.mean(dim=0)\n"
            "        step = step.tril()\n",
            "the future is cut off, though the maps have what they have",
        ),
        Wrong(
            "        step = residual * same + (1 - residual) * layer.mean(dim=0)\n",
            "        step = residual * same + (1 - residual) * "
            "layer.mean(dim=0)\n"
            "        step = torch.softmax(step, dim=-1)\n",
            "a softmax is taken of each step, whose rows sum to one already",
        ),
        Wrong(
            "        step = residual * same + (1 - residual) * layer.mean(dim=0)\n",
            "        step = residual * same + layer.mean(dim=0)\n"
            "        step = step / step.sum(dim=-1, keepdim=True)\n",
            "the residual is added to whole maps, and rows are made to sum to "
            "one; the maps should give way by as much",
        ),
        Wrong(
            "    result = same\n    for layer in maps:\n",
            "    result = maps[0].mean(dim=0)\n    for layer in maps[1:]:\n",
            "the first layer has no residual connection",
        ),
        Wrong(
            "    same = torch.eye(maps[0].shape[-1], dtype=maps[0].dtype)\n"
            "    result = same\n"
            "    for layer in maps:\n"
            "        step = residual * same + (1 - residual) * layer.mean(dim=0)\n"
            "        result = step @ result\n",
            "    same = torch.eye(maps[0].shape[-1])\n"
            "    result = None\n"
            "    for layer in maps:\n"
            "        step = residual * same + (1 - residual) * layer.mean(dim=0)\n"
            "        result = step if result is None else step @ result\n",
            "the identity has 32 bits, whatever the type of the maps, and shorter "
            "ones become longer by it",
        ),
        Wrong(
            "    result = same\n",
            "    result = maps[0].mean(dim=0)\n",
            "it begins with the map of the first layer, which is then used once more",
        ),
        Wrong(
            "    result = same\n    for layer in maps:\n",
            "    result = residual * same + (1 - residual) * maps[0].mean(dim=0)\n"
            "    for layer in maps[1:]:\n"
            "        result = layer.mean(dim=0) @ result\n"
            "    for layer in []:\n",
            "only the first layer has a residual connection",
        ),
        Wrong(
            "        step = residual * same + (1 - residual) * layer.mean(dim=0)\n"
            "        result = step @ result\n",
            "        step = (1 - residual) * layer.mean(dim=0)\n"
            "        result = residual * same + step @ result\n",
            "the identity is added after the product; what was found so far "
            "should stay, and not the token itself",
        ),
        Wrong(
            "maps[0].shape[-1]",
            "maps[0].shape[0]",
            "the identity has a row for each head; it should have one for each token",
        ),
        Wrong(
            ", dtype=maps[0].dtype)",
            ")",
            "the identity has 32 bits, whatever the type of the maps",
        ),
        Wrong(
            "    return result\n",
            "    return result.mean(dim=0)\n",
            "the mean over the tokens of the last layer is given; each should "
            "have a row",
        ),
        Wrong(
            "residual * same + (1 - residual) * layer.mean(dim=0)",
            "(1 - residual) * layer.mean(dim=0)",
            "what stays of a token is left out, so that rows sum to less than one",
        ),
        Wrong(
            "    for layer in maps:\n",
            "    for layer in torch.stack(maps).mean(dim=0)[:, None]:\n",
            "the mean is taken over the layers, and the heads are multiplied",
        ),
        Wrong(
            "step @ result",
            "step @ result.mT",
            "what was found so far is turned over in each product",
        ),
        Wrong(
            "    for layer in maps:\n"
            "        step = residual * same + (1 - residual) * layer.mean(dim=0)\n",
            "    for n, layer in enumerate(maps, 1):\n"
            "        step = residual * same + (1 - residual) * layer.mean(dim=0)\n"
            "        step = step if n < len(maps) else layer.mean(dim=0)\n",
            "the last layer has no residual connection",
        ),
    ],
    stars=1,
    minutes=8,
)
