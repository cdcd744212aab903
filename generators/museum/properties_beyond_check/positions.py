"""Of positions: turned, biased, written as a vector, and longer than trained."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from headway.checks.core.book_sections import Section

from .ask import SHIFT, D, Property, Seen, T, draw, far

ROTARY = Section(
    "Rotary positions", "What breaks it", "positions/rotary/#what-breaks-it"
)
SINUSOIDAL = Section(
    "A wave for each position", "What breaks it", "positions/sinusoidal/#what-breaks-it"
)
SCALING = Section(
    "Longer than trained", "What breaks it", "positions/rotary_scaling/#what-breaks-it"
)
BIAS = Section(
    "A bias for distance", "What breaks it", "positions/relative_bias/#what-breaks-it"
)


# ---- Positions that turn: rotate(x, positions) ----


def _keeps_scores(made: Mapping[str, Any]) -> Seen:
    rotate, at = made["rotate"], torch.arange(T)
    query, key = draw(T, D), draw(T, D, seed=2)
    near = rotate(query, at) @ rotate(key, at).mT
    moved = rotate(query, at + SHIFT) @ rotate(key, at + SHIFT).mT
    return Seen(
        far(near, moved),
        "Query and key are both moved on by a million positions, and their score "
        "changes: it must depend on the distance only.",
    )


def _tells_apart(made: Mapping[str, Any]) -> Seen:
    rows = made["rotate"](torch.ones(2048, D, dtype=torch.float64), torch.arange(2048))
    lost = 2048 - len(rows.unique(dim=0))
    return Seen(lost, f"Of 2,048 positions, {lost} look the same as another one.")


# ---- A number for each distance: bias(query_positions, key_positions) ----


def _of_distance(made: Mapping[str, Any]) -> Seen:
    at = torch.arange(T)
    near, moved = (made["bias"](x, x).double() for x in (at, at + 2048))
    past = torch.ones(T, T, dtype=torch.bool).tril()
    weights = [b.masked_fill(~past, -torch.inf).softmax(-1) for b in (near, moved)]
    return Seen(
        far(*weights),
        "All positions are moved on by 2,048, and the weights of equal scores change: "
        "they must depend on distances only.",
    )


def _of_models(made: Mapping[str, Any]) -> Seen:
    heads = 12
    slopes = [2.0 ** -(h + 1) for h in range(8)]
    slopes += [2.0 ** -(h + 0.5) for h in range(4)]
    at = torch.arange(2)
    bias = made["bias"](at, at)
    if len(bias) != heads:
        return Seen(0.0, "")
    own = bias[:, 1, 1] - bias[:, 1, 0]
    return Seen(
        far(own, torch.tensor(slopes)),
        "The slopes of twelve heads are not those with which models were trained: a "
        "half, a quarter, and so on to one in 256, then four of those of sixteen.",
    )


# ---- A vector for each position: encode(positions, width) ----


def _rotates(made: Mapping[str, Any]) -> Seen:
    rows = made["encode"](torch.arange(32), 16).double()
    products = rows @ rows.mT
    steps = [products.diagonal(k) for k in range(32)]
    spread = max(float(s.max() - s.min()) for s in steps)
    return Seen(
        spread,
        "The product of two positions must depend on their distance only.",
    )


def _has_one_length(made: Mapping[str, Any]) -> Seen:
    rows = made["encode"](torch.arange(32), 16).double()
    return Seen(
        far(rows.square().sum(-1), torch.full((32,), 8.0)),
        "A sine and a cosine of the same speed have squares that add up to one, so "
        "each of 8 pairs adds one. Here they do not.",
    )


# ---- Speeds: frequencies(width, base, factor, original_length) ----


def _plain(width: int, base: float) -> Tensor:
    return base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)


def _fastest_stays(made: Mapping[str, Any]) -> Seen:
    own = made["frequencies"](64, 10_000.0, 10.0, 4096).double()
    ratio = float(own[0] / _plain(64, 10_000.0)[0])
    return Seen(
        abs(ratio - 1),
        f"The fastest pair keeps {ratio:.3g} of its speed. It has turned many times "
        "within the trained length, and must keep all of it.",
    )


def _slowest_is_divided(made: Mapping[str, Any]) -> Seen:
    own = made["frequencies"](64, 10_000.0, 10.0, 4096).double()
    ratio = float(own[-1] / _plain(64, 10_000.0)[-1])
    return Seen(
        abs(ratio * 10 - 1),
        f"The slowest pair keeps {ratio:.3g} of its speed. It has never completed a "
        "turn, and must be divided by the factor, 10.",
    )


KINDS: dict[str, list[Property]] = {
    "rotate": [
        Property("distance", "only the distance counts", ROTARY, _keeps_scores),
        Property("told-apart", "positions are told apart", ROTARY, _tells_apart),
    ],
    "bias": [
        Property("bias-distance", "only the distance biases", BIAS, _of_distance),
        Property("slopes", "the slopes are those of models", BIAS, _of_models),
    ],
    "encode": [
        Property("step", "a step is a rotation", SINUSOIDAL, _rotates),
        Property(
            "one-length", "all positions have one length", SINUSOIDAL, _has_one_length
        ),
    ],
    "frequencies": [
        Property(
            "fastest-pair", "the fastest pair keeps its speed", SCALING, _fastest_stays
        ),
        Property(
            "slowest-pair", "the slowest pair is divided", SCALING, _slowest_is_divided
        ),
    ],
}
