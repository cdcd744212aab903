"""One query meets six keys, and why scores are divided."""

from collections.abc import Sequence
from functools import cache

import torch
from torch import Tensor

from generators.pictures.charts import cells, dot, row_labels
from generators.pictures.svg import (
    ACCENT,
    ACCENT_2,
    LINE,
    MUTED,
    TIMES,
    Panel,
    coordinate,
    figure,
    shade,
)
from headway import attention, attention_scores, attention_weights, six_tokens
from workshop.generator_support import fixed

WIDTHS = (1, 4, 16, 64, 256, 1024)


def _four(numbers: Tensor) -> list[str]:
    return [fixed(number, 4) for number in numbers.flatten().tolist()]


def _two(numbers: Tensor) -> list[str]:
    return [fixed(number, 2) for number in numbers.tolist()]


def qkv_flow() -> str:
    """Take one token through projection, scores, weights and sum."""
    words, vectors = six_tokens()
    x = vectors.double()
    me = words.index("journey")
    torch.manual_seed(42)
    W_query, W_key, W_value = (torch.rand(3, 2).double() for _ in range(3))
    query, key, value = x[me : me + 1] @ W_query, x @ W_key, x @ W_value
    scores = attention_scores(query, key)
    scaled = scores / key.shape[-1] ** 0.5
    weights = attention_weights(query, key)
    context = attention(query, key, value)

    left = _query_panel(words, me, x, query, key, scores, scaled)
    right = _context_panel(words, weights, value, context)
    return figure(
        [[left, right]],
        "The query of “journey” meets six keys. The six weights then mix six values "
        f"into one context vector, ({', '.join(_four(context))}).",
    )


PITCH, TOP, HEIGHT = 30, 138, 348


def _query_panel(
    words: Sequence[str],
    me: int,
    x: Tensor,
    query: Tensor,
    key: Tensor,
    scores: Tensor,
    scaled: Tensor,
) -> Panel:
    panel = Panel(
        308,
        HEIGHT,
        f"The word journey is x = ({', '.join(_two(x[me]))}). "
        f"W_query turns it into the query ({', '.join(_four(query))}). Below stand "
        "the keys of the six words. The dot products of the query with the keys are "
        f"the scores {', '.join(_four(scores))}; divided by the square root of two "
        f"they are {', '.join(_four(scaled))}.",
    )
    strong: dict[str, float | str] = {"text_anchor": "end", "font_weight": "700"}
    panel.text(54, 30, "journey", **strong)
    panel.text(54, 102, "query", **strong)
    cells(panel, (62, 16), [_two(x[me])], (50, 28))
    panel.arrow(112, 48, 112, 84)
    panel.text(122, 65, "@ W_query", text_anchor="start", fill=MUTED)
    cells(panel, (62, 88), [_four(query)], (50, 28), opacity=shade(1))
    for middle, title in ((112, "key"), (200, "score"), (276, "÷ √2")):
        panel.text(middle, TOP - 9, title, fill=MUTED)
    row_labels(panel, (54, TOP), words, PITCH)
    cells(panel, (62, TOP), [_four(row) for row in key], (50, PITCH))
    for row, (score, divided) in enumerate(
        zip(_four(scores), _four(scaled), strict=True)
    ):
        y = TOP + (row + 0.5) * PITCH
        panel.arrow(164, y, 173, y)
        panel.text(200, y, score)
        panel.arrow(229, y, 247, y)
        panel.text(276, y, divided)
    panel.text(112, HEIGHT - 14, "inputs @ W_key", fill=MUTED)
    return panel


def _context_panel(
    words: Sequence[str], weights: Tensor, value: Tensor, context: Tensor
) -> Panel:
    panel = Panel(
        308,
        HEIGHT,
        f"Softmax turns the six scores into the weights {', '.join(_four(weights))}. "
        "Each weight multiplies the value of its word, and the sum is the context "
        f"vector ({', '.join(_four(context))}).",
    )
    panel.text(200, 30, "context", text_anchor="end", font_weight="700")
    cells(panel, (208, 16), [_four(context)], (50, 28), fill=ACCENT_2, opacity=shade(1))
    panel.arrow(258, 116, 258, 48)
    panel.text(248, 82, f"sum of weight {TIMES} value", text_anchor="end", fill=MUTED)
    panel.text(118, TOP - 9, "weight", fill=MUTED)
    panel.text(258, TOP - 9, "value", fill=MUTED)
    row_labels(panel, (54, TOP), words, PITCH)
    panel.line(112, TOP, 112, TOP + 6 * PITCH)
    cells(panel, (208, TOP), [_four(row) for row in value], (50, PITCH), fill=ACCENT_2)
    largest = float(weights.max())
    for row, weight in enumerate(weights.flatten().tolist()):
        y = TOP + (row + 0.5) * PITCH
        panel.text(104, y, fixed(weight, 4), text_anchor="end")
        length = 64 * weight / largest
        panel.rect(112, y - 9, length, 18, fill=ACCENT, fill_opacity="0.7", rx=2)
        panel.text(193, y, TIMES, fill=MUTED)
    panel.text(118, HEIGHT - 14, "softmax of all six", fill=MUTED)
    panel.text(252, HEIGHT - 14, "inputs @ W_value", fill=MUTED)
    return panel


# By far the slowest of all numbers; a second drawing in one process reuses it.
@cache
def largest_shares(d: int) -> tuple[float, float]:
    """Measure how much of its attention a query spends on its favourite key.

    The recipe, which the lab repeats: `torch.manual_seed(123)`, 512 queries
    `torch.randn(512, d)`, then for each its own 64 keys, `torch.randn(512, 64, d)`, all
    in float64. A query's scores are its dot products with its keys; take the softmax
    over the 64, its largest share, and the mean over the queries.

    Args:
        d: Width of queries and keys.

    Returns:
        The mean largest share of plain scores, and of scores divided by sqrt(d).
    """
    torch.manual_seed(123)
    query = torch.randn(512, d, dtype=torch.float64)
    key = torch.randn(512, 64, d, dtype=torch.float64)
    plain = attention_weights(query[:, None], key, scale=1.0)
    divided = attention_weights(query[:, None], key)
    return plain.amax(-1).mean().item(), divided.amax(-1).mean().item()


def sqrt_dk() -> str:
    """Show how softmax hardens with the width, and that the division prevents it."""
    shares = [largest_shares(d) for d in WIDTHS]
    plain, divided = zip(*shares, strict=True)
    left, bottom, step, height = 46, 226, 54, 190
    panel = Panel(
        352,
        274,
        "Line chart of the mean largest of 64 attention weights against the width d_k "
        f"of queries and keys, {', '.join(map(str, WIDTHS))}. Without division it "
        f"rises: {', '.join(fixed(share, 2) for share in plain)}. Divided by the "
        "square root of d_k it stays low: "
        f"{', '.join(fixed(share, 2) for share in divided)}.",
        drawn=420,
    )
    panel.text(
        8, 12, "largest of 64 weights, on average", text_anchor="start", fill=MUTED
    )
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = bottom - tick * height
        panel.line(left - 4, y, 344, y, stroke=LINE if tick else MUTED)
        panel.text(left - 10, y, f"{tick:g}", text_anchor="end", fill=MUTED)
    for index, d in enumerate(WIDTHS):
        panel.text(left + 12 + index * step, bottom + 16, str(d), fill=MUTED)
    panel.text(left + 12 + 2.5 * step, bottom + 36, "d_k, width of queries and keys")
    for name, values, colour, dash in (
        ("scores as they are", plain, ACCENT_2, "none"),
        ("scores ÷ √d_k", divided, ACCENT, "5 4"),
    ):
        points = [
            (left + 12 + index * step, bottom - value * height)
            for index, value in enumerate(values)
        ]
        panel.path(
            "M" + "L".join(f"{coordinate(x)} {coordinate(y)}" for x, y in points),
            stroke=colour,
            stroke_width=2,
            stroke_dasharray=dash,
        )
        for index, (x, y) in enumerate(points):
            dot(panel, x, y, r=4, fill=colour, stroke="none")
            # Both lines start in one point, which gets one number.
            if index or colour == ACCENT:
                # Beside the rising line, and the last one off the grid line.
                rising = colour == ACCENT_2
                last = index == len(points) - 1
                panel.text(
                    x - 9 if rising and not last else x,
                    y + 16 if rising and last else y - 14,
                    fixed(values[index], 2),
                )
        panel.text(
            points[5][0] + 14 if colour == ACCENT else points[3][0] - 34,
            points[5][1] - 36 if colour == ACCENT else points[3][1] - 14,
            name,
            text_anchor="end",
            fill=colour,
            font_weight="700",
        )
    return figure(
        [[panel]],
        "How much of its attention a random query spends on its favourite among 64 "
        f"keys. At d_k = {WIDTHS[-1]} it is {100 * plain[-1]:.0f} % without the "
        f"division and {100 * divided[-1]:.0f} % with it.",
    )


PICTURES = {"qkv-flow": qkv_flow, "sqrt-dk": sqrt_dk}
