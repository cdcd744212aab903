"""Attention in plain loops, one number at a time: slow, obvious, and not ours.

Nothing here comes from the package, and nothing multiplies matrices. Tensors come in
and go out; in between there are only lists of Python's 64-bit floats.
"""

import itertools
import math
from collections.abc import Callable

import torch
from torch import Tensor

Row = list[float]
Table = list[Row]
Allowed = list[list[bool]]


def dot(a: Row, b: Row) -> float:
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += x * y
    return total


def share(scores: Row, allowed: list[bool]) -> Row:
    """Share one among the allowed keys; hand out nothing if there are none."""
    visible = [score for score, yes in zip(scores, allowed, strict=True) if yes]
    if not visible:
        return [0.0 for _ in scores]
    largest = max(visible)
    total = 0.0
    for score in visible:
        total += math.exp(score - largest)
    return [
        math.exp(score - largest) / total if yes else 0.0
        for score, yes in zip(scores, allowed, strict=True)
    ]


def mix(weights: Row, values: Table) -> Row:
    mixed = [0.0 for _ in values[0]]
    for weight, value in zip(weights, values, strict=True):
        for column, number in enumerate(value):
            mixed[column] += weight * number
    return mixed


def everything(T: int, S: int) -> Allowed:
    return [[True for _ in range(S)] for _ in range(T)]


def past(T: int, S: int) -> Allowed:
    """Count both from the end: a key may not be nearer to the end than the query."""
    return [[S - s >= T - t for s in range(S)] for t in range(T)]


def weights_of(
    query: Table, key: Table, allowed: Allowed, scale: float, bias: Table | None = None
) -> Table:
    rows = []
    for t, (q, visible) in enumerate(zip(query, allowed, strict=True)):
        scores = [dot(q, k) * scale for k in key]
        if bias is not None:
            scores = [a + b for a, b in zip(scores, bias[t], strict=True)]
        rows.append(share(scores, visible))
    return rows


def attend(
    query: Table,
    key: Table,
    value: Table,
    allowed: Allowed,
    scale: float,
    bias: Table | None = None,
) -> Table:
    return [mix(row, value) for row in weights_of(query, key, allowed, scale, bias)]


def linear(x: Table, weight: Table, bias: Row | None = None) -> Table:
    """Each row of `weight` makes one number of the result, as in `nn.Linear`."""
    bias = [0.0 for _ in weight] if bias is None else bias
    return [
        [dot(token, row) + b for row, b in zip(weight, bias, strict=True)]
        for token in x
    ]


def one_head(x: Table, h: int, num_heads: int) -> Table:
    width = len(x[0]) // num_heads
    return [row[h * width : (h + 1) * width] for row in x]


def side_by_side(tables: list[Table]) -> Table:
    return [[*itertools.chain(*rows)] for rows in zip(*tables, strict=True)]


def heads_side_by_side(
    query: Table, key: Table, value: Table, num_heads: int, allowed: Allowed
) -> Table:
    """Cut the columns into heads, let each attend alone, join the results."""
    results = []
    for h in range(num_heads):
        q, k, v = (one_head(x, h, num_heads) for x in (query, key, value))
        results.append(attend(q, k, v, allowed, 1 / math.sqrt(len(q[0]))))
    return side_by_side(results)


# Tensors in, tensors out.


def attention_weights(
    query: Tensor,
    key: Tensor,
    mask: Tensor | None = None,
    scale: float | None = None,
    *,
    bias: Tensor | None = None,
    causal: bool = False,
) -> Tensor:
    if scale is None:
        scale = 1 / math.sqrt(query.shape[-1])
    T, S = query.shape[-2], key.shape[-2]
    return _for_each(
        lambda q, k, m, b: weights_of(q, k, m, scale, b),
        query,
        key,
        _allowed(mask, T, S, causal),
        _added(bias, T, S),
    )


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    scale: float | None = None,
    *,
    bias: Tensor | None = None,
    causal: bool = False,
) -> Tensor:
    if scale is None:
        scale = 1 / math.sqrt(query.shape[-1])
    T, S = query.shape[-2], key.shape[-2]
    return _for_each(
        lambda q, k, v, m, b: attend(q, k, v, m, scale, b),
        query,
        key,
        value,
        _allowed(mask, T, S, causal),
        _added(bias, T, S),
    )


def softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    mask = torch.tensor(True) if mask is None else mask
    return _for_each(
        lambda rows, m: [share(row, yes) for row, yes in zip(rows, m, strict=True)],
        scores,
        mask.expand(scores.shape),
    )


def self_attention(
    x: Tensor,
    weights: dict[str, Tensor],
    *,
    causal: bool,
    num_heads: int = 1,
    mask: Tensor | None = None,
) -> Tensor:
    """Run a whole module from its state dict: `W_query.weight`, `W_query.bias`, ...

    Biases may be missing, and so may `out_proj`.
    """
    T = x.shape[-2]
    mask = torch.tensor(True) if mask is None else mask
    visible = past(T, T) if causal else everything(T, T)
    state = {name: weight.tolist() for name, weight in weights.items()}

    def project(tokens: Table, layer: str) -> Table:
        return linear(tokens, state[f"{layer}.weight"], state.get(f"{layer}.bias"))

    def one_text(tokens: Table, further: Allowed) -> Table:
        allowed = [
            [a and b for a, b in zip(*rows, strict=True)]
            for rows in zip(visible, further, strict=True)
        ]
        query, key, value = (
            project(tokens, layer) for layer in ("W_query", "W_key", "W_value")
        )
        context = heads_side_by_side(query, key, value, num_heads, allowed)
        return project(context, "out_proj") if "out_proj.weight" in state else context

    return _for_each(one_text, x, mask.expand(*x.shape[:-1], T))


def _allowed(mask: Tensor | None, T: int, S: int, causal: bool) -> Tensor:
    visible = torch.tensor(past(T, S) if causal else everything(T, S))
    return visible if mask is None else torch.logical_and(mask, visible)


def _added(bias: Tensor | None, T: int, S: int) -> Tensor:
    nothing = torch.zeros(T, S)
    return nothing if bias is None else bias.expand(*bias.shape[:-2], T, S)


def _for_each(function: Callable[..., Table], *tensors: Tensor) -> Tensor:
    """Apply a function of tables to each place of the leading axes, which broadcast."""
    leading = torch.broadcast_shapes(*(tensor.shape[:-2] for tensor in tensors))
    tensors = [tensor.expand(*leading, *tensor.shape[-2:]) for tensor in tensors]
    results = [
        function(*(tensor[place].tolist() for tensor in tensors))
        for place in itertools.product(*map(range, leading))
    ]
    return torch.tensor(results, dtype=torch.float64).reshape(
        *leading, *torch.tensor(results[0]).shape
    )


def in_groups(
    x: Tensor,
    weights: dict[str, Tensor],
    num_heads: int,
    num_kv_heads: int,
    *,
    allowed: Allowed,
    positions: list[int],
    turn: Callable[[Row, int], Row] | None = None,
    added: Callable[[int, int, int], float] | None = None,
) -> Tensor:
    """Run a module on one text; its heads share those of keys and values in groups.

    `turn` is given a query or a key, and where it stands; `added` a head and where a
    query and a key stand.
    """
    state = {name: weight.tolist() for name, weight in weights.items()}

    def project(layer: str) -> Table:
        return linear(x.tolist(), state[f"{layer}.weight"], state.get(f"{layer}.bias"))

    results = []
    for h in range(num_heads):
        shared = 0
        while (shared + 1) * num_heads <= h * num_kv_heads:
            shared += 1
        q = one_head(project("W_query"), h, num_heads)
        k = one_head(project("W_key"), shared, num_kv_heads)
        v = one_head(project("W_value"), shared, num_kv_heads)
        if turn is not None:
            q = [turn(row, p) for row, p in zip(q, positions, strict=True)]
            k = [turn(row, p) for row, p in zip(k, positions, strict=True)]
        extra = None
        if added is not None:
            extra = [
                [added(h, there, here) for here in positions] for there in positions
            ]
        results.append(attend(q, k, v, allowed, 1 / math.sqrt(len(q[0])), extra))
    context = side_by_side(results)
    out = linear(context, state["out_proj.weight"], state["out_proj.bias"])
    return torch.tensor(out, dtype=torch.float64)
