"""What the modules of self-attention and causal attention do, in shapes."""

import torch
from charts import grid
from svg import ACCENT, ACCENT_2, INK, MUTED, TIMES, Panel, count, figure
from torch import Tensor

from headway import (
    CausalAttention,
    SelfAttentionV1,
    attention,
    attention_weights,
    he_finds_boy,
    six_tokens,
)


def _shape(tensor: Tensor) -> tuple[int, int]:
    rows, columns = tensor.shape
    return rows, columns


def _times(tensor: Tensor) -> str:
    return TIMES.join(map(str, tensor.shape))


def _matrix(
    panel: Panel,
    at: tuple[float, float],
    name: str,
    tensor: Tensor,
    fill: str,
    strong: int | None = None,
) -> None:
    """Draw a matrix with its name and its shape above it."""
    x, y = at
    middle = x + tensor.shape[1] * UNIT / 2
    panel.text(middle, y - 26, name, font_weight="700")
    panel.text(middle, y - 11, _times(tensor), font_size=11, fill=MUTED)
    grid(panel, at, _shape(tensor), UNIT, fill=fill, strong=strong)


UNIT = 14.0


def self_attention_shapes() -> str:
    """Draw the matrices of self-attention to scale."""
    (words, x), W_query, W_key = he_finds_boy()
    me = words.index("he")
    module = SelfAttentionV1(3, 2)
    module.load_state_dict({"W_query": W_query, "W_key": W_key, "W_value": W_key})
    query, key, value = x @ module.W_query, x @ module.W_key, x @ module.W_value
    scores, context = attention_weights(query, key), attention(query, key, value)

    height, low = 360, 204
    left = Panel(
        308,
        height,
        f"Matrices drawn to scale. X, {_times(x)}, stands on the left. Above three "
        f"columns stand W_query, W_key and W_value, each {_times(module.W_query)}. "
        f"Where the rows of X meet them stand Q, K and V, each {_times(query)}.",
    )
    _matrix(left, (12, low), "X", x, INK, me)
    columns = (
        ("W_query", module.W_query, "Q", query, ACCENT),
        ("W_key", module.W_key, "K", key, ACCENT),
        ("W_value", module.W_value, "V", value, ACCENT_2),
    )
    for index, (name, weight, result, product, fill) in enumerate(columns):
        at = 100 + index * 80
        _matrix(left, (at, 86), name, weight, MUTED)
        strong = me if result == "Q" else None
        _matrix(left, (at, low), result, product, fill, strong)
        left.arrow(at + UNIT, 134, at + UNIT, 164)
    left.arrow(62, low + 4.5 * UNIT, 92, low + 4.5 * UNIT)

    right = Panel(
        308,
        height,
        f"Q, {_times(query)}, meets K transposed, {_times(key.T)}, in the scores, "
        f"{_times(scores)}. Softmax makes weights of them, which meet V, "
        f"{_times(value)}, in the context vectors, {_times(context)}. The row of "
        "he is marked in Q, in the scores and in the context vectors.",
    )
    side = 9 * UNIT
    _matrix(right, (12, low), "Q", query, ACCENT, me)
    _matrix(right, (72, 132), "Kᵀ", key.T, ACCENT)
    _matrix(right, (72, low), "weights", scores, ACCENT, me)
    _matrix(right, (250, 38), "V", value, ACCENT_2)
    _matrix(right, (250, low), "context", context, ACCENT_2, me)
    right.arrow(46, low + side / 2, 66, low + side / 2)
    right.arrow(80 + side, low + side / 2, 244, low + side / 2)
    right.text(72 + side / 2, low + side + 14, "softmax(Q Kᵀ ÷ √2)", fill=MUTED)
    return figure(
        [[left, right]],
        "Every square is a number, and each result stands to the right of its first "
        f"factor and below its second. The strong row is “{words[me]}”: "
        f"one row of X, one row of Q, {count(scores.shape[1])} weights, "
        "one context vector.",
    )


def causal_attention_flow() -> str:
    """Follow a batch of two texts through the module."""
    x = torch.stack((six_tokens().vectors, six_tokens().vectors))
    module = CausalAttention(3, 2, context_length=6, dropout=0.5)
    projected = module.W_query(x)
    scores = projected @ projected.transpose(-2, -1)
    shape, narrow, square, out = (
        str(tuple(t.shape)) for t in (x, projected, scores, module(x))
    )
    steps = ("queries @ keysᵀ ÷ √2", "hide the future", "softmax", "dropout")
    panel = Panel(
        340,
        474,
        f"Data flow from top to bottom. x, of shape {shape}, goes into W_query, W_key "
        f"and W_value; each gives {narrow}. Queries and keys go through "
        f"{', '.join(steps)}, all of shape {square}. The weights meet the values in "
        f"the last step, which gives context vectors of shape {out}.",
        drawn=400,
    )
    columns = (58, 170, 282)
    panel.box(170, 8, 130, f"x {shape}", fill=INK, stroke=INK)
    panel.path("M58 58H282M170 38V58")
    for centre, name in zip(columns, ("W_query", "W_key", "W_value"), strict=True):
        value = name == "W_value"
        panel.arrow(centre, 58, centre, 78)
        panel.box(
            centre,
            78,
            96,
            name,
            fill=ACCENT_2 if value else ACCENT,
            stroke=ACCENT_2 if value else ACCENT,
        )
        panel.text(centre + 8, 126, narrow, text_anchor="start", fill=MUTED)
        if not value:
            panel.arrow(centre, 108, centre, 146)
    top = 146
    for number, step in enumerate(steps):
        y = top + number * 66
        panel.box(114, y, 208, step)
        panel.arrow(114, y + 30, 114, y + 66)
        panel.text(122, y + 47, square, text_anchor="start", fill=MUTED)
    _small_triangle(panel, 188, top + 66 + 5)
    end = top + 4 * 66
    panel.arrow(282, 108, 282, end)
    panel.box(170, end, 320, "weights @ values")
    panel.arrow(170, end + 30, 170, end + 58)
    panel.text(178, end + 44, f"{out} context vectors", text_anchor="start")
    return figure(
        [[panel]],
        f"Two texts of six tokens, {shape}, pass through the module. The mask acts "
        f"on the scores, dropout on the weights, both {square}; dropout only in "
        f"training. The result is {out}.",
    )


def _small_triangle(panel: Panel, x: float, y: float) -> None:
    """Draw the causal mask in the size of a word."""
    for row in range(4):
        for column in range(4):
            seen = column <= row
            panel.rect(
                x + 5 * column,
                y + 5 * row,
                4,
                4,
                rx=1,
                fill=ACCENT,
                fill_opacity="0.8" if seen else "0.15",
            )


PICTURES = {
    "self-attention-shapes": self_attention_shapes,
    "causal-attention-flow": causal_attention_flow,
}
