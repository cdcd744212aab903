"""The maps of all layers in one

Write `rolled_out(maps, residual)`: the attention rollout of a model.

`maps` is a list of one tensor (H, T, T) for each layer, the first layer first: weights
of H heads, whose rows sum to one. In each layer the share `residual` of a token stays
where it is, by the residual connection, and the rest comes through the mean map of the
heads. Give a table (T, T): for each token of the last layer, how much of it leads back
to each token of the text, in the type of the maps.
"""

from headway.practice import Exercise, Property

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
    stars=1,
    minutes=8,
)
