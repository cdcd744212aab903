"""Several heads, stacked and split."""

from typing import cast

import torch
from charts import axes, cells, heat_map, row_labels
from svg import ACCENT, ACCENT_2, INK, MUTED, TIMES, Panel, figure
from torch import Tensor

from headway import (
    CausalAttention,
    MultiHeadAttentionWrapper,
    attention_weights,
    causal_mask,
    six_tokens,
    split_heads,
)
from proofread.generated import fixed

COLOURS = (ACCENT, ACCENT_2)


@torch.no_grad()
def two_heads() -> str:
    """Show where two heads look, and how their results stand side by side."""
    words, x = six_tokens()
    torch.manual_seed(123)
    wrapper = MultiHeadAttentionWrapper(3, 2, 6, 0.0, 2).double()
    x = x.double()
    result, mask = wrapper(x).tolist(), causal_mask(6)
    size, left, top = 41, 58, 74
    maps = []
    for number, (module, fill) in enumerate(zip(wrapper.heads, COLOURS, strict=True)):
        head = cast(CausalAttention, module)
        weights = attention_weights(head.W_query(x), head.W_key(x), mask=mask).tolist()
        panel = Panel(
            308,
            top + 6 * size + 2,
            f"Heat map of the causal weights of head {number + 1}. The row of step is "
            f"{', '.join(fixed(weight, 2) for weight in weights[-1])}, that of journey "
            f"{', '.join(fixed(weight, 2) for weight in weights[1][:2])}. The future "
            "is hatched.",
        )
        middle = left + 3 * size
        panel.text(middle, 14, f"head {number + 1}", font_weight="700", font_size=13)
        axes(panel, (left, top), words, size, font_size=11)
        heat_map(panel, (left, top), weights, size, visible=mask.tolist(), fill=fill)
        maps.append(panel)

    pitch, top, wide = 28, 44, 62
    rows = [[fixed(number, 4) for number in row] for row in result]
    joined = Panel(
        308,
        top + 6 * pitch + 34,
        "Table of six rows and four columns, the result. The first two columns come "
        "from head 1, the last two from head 2. Rows: "
        f"{'; '.join(', '.join(row) for row in rows)}.",
    )
    row_labels(joined, (51, top), words, pitch)
    for number, fill in enumerate(COLOURS):
        at, middle = 58 + 2 * number * wide, 58 + (2 * number + 1) * wide
        title = f"head {number + 1}, 6{TIMES}2"
        joined.text(middle, 14, title, font_weight="700", font_size=13)
        joined.arrow(middle, 24, middle, 40)
        part = [row[2 * number : 2 * number + 2] for row in rows]
        cells(joined, (at, top), part, (wide, pitch), fill=fill, opacity="0.16")
    low = top + 6 * pitch + 5
    joined.path(f"M61 {low}v6h{4 * wide - 6}v-6", stroke_width=1.5)
    joined.text(58 + 2 * wide, low + 18, f"result, 6{TIMES}4", fill=MUTED)
    return figure(
        [maps, [joined]],
        "Two heads, one text. Untrained, both look at everything almost alike, but "
        "their values differ. Each gives two numbers for each word, and side by side "
        f"they are four: “{words[0]}” becomes ({', '.join(rows[0])}).",
    )


def _numbers(tensor: Tensor) -> list[list[str]]:
    return [[f"{number:.0f}" for number in row] for row in tensor.tolist()]


def _heads_panel(heads: Tensor, title: str, verdict: str, right: bool) -> Panel:
    """Draw two heads of three rows; colours tell from which half of a token."""
    size, top = 36, 88
    rows = [_numbers(head) for head in heads]
    description = "; ".join(
        f"head {number + 1}: {', '.join('[' + ', '.join(row) + ']' for row in part)}"
        for number, part in enumerate(rows)
    )
    panel = Panel(308, top + 3 * size + 8, f"{title}, {verdict}: {description}.")
    panel.text(154, 14, title, font_weight="700", font_size=13, font_family="monospace")
    panel.text(154, 37, f"{'✓' if right else '✗'} {verdict}")
    for number, part in enumerate(heads):
        at = 62 + number * 154
        panel.text(at + size, 70, f"head {number + 1}")
        for row, line in enumerate(part.int().tolist()):
            y = top + row * size
            tokens = sorted({value // 4 for value in line})
            panel.text(
                at - 7,
                y + size / 2,
                f"token {tokens[0] + 1}",
                text_anchor="end",
                fill=MUTED,
            )
            for column, value in enumerate(line):
                half = value % 4 // 2
                cells(
                    panel,
                    (at + column * size, y),
                    [[str(value)]],
                    (size, size),
                    fill=COLOURS[half],
                    opacity="0.35",
                )
                if half != number:
                    panel.rect(
                        at + column * size + 2,
                        y + 2,
                        size - 4,
                        size - 4,
                        fill="none",
                        stroke=INK,
                        stroke_width=1.5,
                        stroke_dasharray="4 3",
                    )
    return panel


def split_heads_memory() -> str:
    """Show twelve numbers in memory, cut into heads rightly and wrongly."""
    x = torch.arange(12.0).reshape(3, 4)
    good, bad = split_heads(x, 2), x.reshape(2, 3, 2)
    size, top = 25, 30
    strip = Panel(
        308,
        100,
        "Twelve numbers, 0 to 11, in one row, as they lie in memory: four for each of "
        "three tokens, of which the first two belong to head 1 and the last two to "
        "head 2.",
        drawn=360,
    )
    strip.text(154, 12, "x in memory", font_weight="700", font_size=13)
    for value in range(12):
        at = (4 + value * size, top)
        fill = COLOURS[value % 4 // 2]
        cells(strip, at, [[str(value)]], (size, size), fill=fill, opacity="0.35")
    for token in range(3):
        start = 4 + token * 4 * size
        low = top + size + 6
        strip.path(f"M{start + 3} {low}v6h{4 * size - 6}v-6", stroke_width=1.5)
        strip.text(start + 2 * size, low + 18, f"token {token + 1}", fill=MUTED)
    return figure(
        [
            [strip],
            [
                _heads_panel(
                    good, "split_heads(x, 2)", "each head has all tokens", True
                ),
                _heads_panel(bad, "x.reshape(2, 3, 2)", "wrong: tokens mixed", False),
            ],
        ],
        "Four numbers for each token, two for each head. "
        "<code>split_heads</code> gives head 2 its part of every token, "
        f"{_listed(good[1])}. A plain <code>reshape</code> has the same shape and "
        f"gives head 2 {_listed(bad[1])}; dashed cells belong to the other head.",
    )


def _listed(head: Tensor) -> str:
    return ", ".join(f"({', '.join(row)})" for row in _numbers(head))


PICTURES = {"two-heads": two_heads, "split-heads": split_heads_memory}
