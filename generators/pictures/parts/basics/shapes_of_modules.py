"""What the modules of self-attention and causal attention do, in shapes."""

from torch import Tensor

from generators.pictures.charts import grid
from generators.pictures.svg import (
    ACCENT,
    ACCENT_2,
    INK,
    MUTED,
    TIMES,
    Panel,
    count,
    figure,
)
from headway import (
    SelfAttentionV1,
    attention,
    attention_weights,
    he_finds_boy,
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


PICTURES = {
    "self-attention-shapes": self_attention_shapes,
}
