"""Several heads, stacked and split."""

from typing import cast

import torch
from torch import Tensor

from generators.pictures.charts import axes, cells, heat_map, row_labels
from generators.pictures.svg import (
    ACCENT,
    ACCENT_2,
    INK,
    MUTED,
    TIMES,
    Panel,
    figure,
    shade,
    tag,
)
from headway import (
    CausalAttention,
    MultiHeadAttention,
    MultiHeadAttentionWrapper,
    attention_weights,
    causal_mask,
    six_tokens,
    split_heads,
)
from workshop.generator_support import fixed

COLOURS = (ACCENT, ACCENT_2)


def two_questions() -> str:
    """Show what *he* finds by two questions, each alone and both in one score."""
    words = ["Boy", "is", "crying", "because", "he", "wants", "an", "ice", "cream"]
    x = torch.zeros(9, 4).double()  # noun, pronoun, living, to eat
    x[0, [0, 2]] = x[4, 1] = x[7:, [0, 3]] = 1.0
    key = x[:, [0, 2, 3]]
    who, what = torch.tensor([[[4.0, 4, 0]], [[4, 0, 4]]]).double()
    found = {
        "who?": attention_weights(who, key),
        "what?": attention_weights(what, key),
        "both in one": attention_weights(
            torch.cat([who, what], dim=1), torch.cat([key, key], dim=1)
        ),
    }
    width, height, left, top = 74, 24, 76, 30
    columns = [weights[0] for weights in found.values()]
    shown = [[fixed(weight, 2) for weight in column.tolist()] for column in columns]
    collects = [
        [fixed(float(column @ x[:, feature]), 2) for column in columns]
        for feature in (2, 3)
    ]
    low = top + 9 * height + 14
    panel = Panel(
        308,
        low + 2 * height + 4,
        "Weights of he. "
        + " ".join(
            f"{name[0].upper()}{name[1:]} "
            + ", ".join(f"{w} {one}" for w, one in zip(words, column, strict=True))
            + "."
            for name, column in zip(found, shown, strict=True)
        )
        + f" He collects of living {', '.join(collects[0])}; of to eat "
        f"{', '.join(collects[1])}.",
        drawn=400,
    )
    row_labels(panel, (left - 7, top), words, height, strong=4)
    row_labels(panel, (left - 7, low), ("living", "to eat"), height)
    for number, (name, fill) in enumerate(zip(found, (*COLOURS, MUTED), strict=True)):
        x0 = left + number * width
        panel.text(x0 + width / 2, 14, name, font_weight="700")
        for row, weight in enumerate(columns[number].tolist()):
            at = (x0, top + row * height)
            label = [[shown[number][row]]]
            cells(panel, at, label, (width, height), fill=fill, opacity=shade(weight))
    panel.line(left, low - 7, left + 3 * width, low - 7)
    for row, line in enumerate(collects):
        for number, text in enumerate(line):
            middle = left + (number + 0.5) * width
            panel.text(middle, low + (row + 0.5) * height, text, font_weight="700")
    return figure(
        [[panel]],
        "“He” asks. Below the line stands what it collects. Apart, its two questions "
        f"collect {collects[0][0]} of “living” and {collects[1][1]} of "
        "“to eat”. Asked in one, the three nouns get a third each, and the "
        "mixture does not tell which weight answered what.",
    )


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


def one_product() -> str:
    """Show two narrow products above one wide product whose result is cut."""
    x = torch.tensor([[1.0, 2], [0, 1], [2, 0]])
    narrow = torch.tensor([[[1.0, 0], [1, 1]], [[3, 1], [1, 3]]])
    wide = torch.cat([*narrow], dim=1)
    size, across, beyond = 25, 80, 156

    above = Panel(
        308,
        246,
        "Two products. "
        + " ".join(
            f"x, {_said(x)}, times W{number}, {_said(weight)}, gives head {number}, "
            f"{_said(x @ weight)}."
            for number, weight in enumerate(narrow, start=1)
        ),
    )
    above.text(130, 12, "two products", font_weight="700", font_size=13)
    for number, (weight, fill) in enumerate(zip(narrow, COLOURS, strict=True)):
        y = 52 + 104 * number
        _factors(above, (28, y), x, size)
        _block(above, (28 + across, y), weight, fill, f"W{number + 1}, 2{TIMES}2", size)
        title = f"head {number + 1}, 3{TIMES}2"
        _block(above, (28 + beyond, y), x @ weight, fill, title, size)
        above.text(28 + beyond - 13, y + 1.5 * size, "=")

    below = Panel(
        308,
        272,
        f"One product. x, {_said(x)}, times both matrices side by side, "
        f"{_said(wide)}, gives {_said(x @ wide)}. Cut after the second column, it "
        "is head 1 and head 2 again.",
    )
    below.text(154, 12, "one product, then a cut", font_weight="700", font_size=13)
    _factors(below, (4, 52), x, size)
    below.text(80 + 2 * size, 36, f"W1 and W2, 2{TIMES}4", font_size=11, fill=MUTED)
    below.text(206 + 2 * size, 36, f"3{TIMES}4", font_size=11, fill=MUTED)
    below.text(193, 52 + 1.5 * size, "=")
    for number, (weight, fill) in enumerate(zip(narrow, COLOURS, strict=True)):
        shift = 2 * size * number
        _block(below, (80 + shift, 52), weight, fill, "", size)
        _block(below, (206 + shift, 52), x @ weight, fill, "", size)
        at = (128 + 102 * number, 192)
        _block(below, at, x @ weight, fill, f"head {number + 1}, 3{TIMES}2", size)
        start, end = 206 + shift + size, at[0] + size
        below.path(f"M{start} 130C{start} 156 {end} 140 {end} 158")
        below.head(end, 166, 0, 1, MUTED)
    return figure(
        [[above, below]],
        "The same three tokens, the same two matrices, the same numbers. Each column "
        "of a product depends on one column of the matrix on the right, so matrices "
        "may stand side by side, and be told apart afterwards.",
    )


def _factors(panel: Panel, at: tuple[float, float], x: Tensor, size: float) -> None:
    """Draw the tokens, which stand on the left of each product."""
    _block(panel, at, x, INK, f"x, 3{TIMES}2", size)
    panel.text(at[0] + 2 * size + 13, at[1] + 1.5 * size, "@")


def _block(
    panel: Panel,
    at: tuple[float, float],
    matrix: Tensor,
    fill: str,
    title: str,
    size: float,
) -> None:
    """Draw a matrix of whole numbers with its name above it."""
    x, y = at
    if title:
        middle = x + matrix.shape[1] * size / 2
        panel.text(middle, y - 14, title, font_size=11, fill=MUTED)
    cells(panel, at, _numbers(matrix), (size, size), fill=fill, opacity="0.25")


def _said(matrix: Tensor) -> str:
    return "; ".join(" ".join(row) for row in _numbers(matrix))


def block_of_a_model() -> str:
    """Show where attention sits in a layer of GPT-2, and what is added to what."""
    width, heads, layers = 768, 12, 12
    with torch.device("meta"):
        x = torch.empty(5, width)
        attend = MultiHeadAttention(width, width, 1024, 0.0, heads)
        inner = torch.nn.Linear(width, 4 * width)
        shape, wide = (
            f"(T, {tensor.shape[-1]})" for tensor in (x + attend(x), inner(x))
        )
    panel = Panel(
        308,
        452,
        "Flow from top to bottom. Vectors come in and branch. One branch goes through "
        "a normalisation and multi-head attention, and is added to the other, which "
        "goes past. Then again: one branch through a normalisation and feed-forward "
        f"layers, the other past, and both are added. Everywhere outside the boxes "
        f"the shape is {shape}; within the feed-forward layers it is {wide}.",
        drawn=340,
    )
    middle, past = 124, 244
    panel.text(middle, 12, f"x {shape}")
    parts = (
        (28, "multi-head attention", "tokens look at each other", ACCENT),
        (216, "feed-forward", f"each alone, {wide} within", ACCENT_2),
    )
    for top, name, what, fill in parts:
        panel.path(f"M{middle} {top + 6}H{past}V{top + 158}H{middle + 16}")
        panel.head(middle + 14, top + 158, -1, 0, MUTED)
        panel.line(middle, top - 6, middle, top + 6)
        panel.arrow(middle, top + 6, middle, top + 24)
        panel.box(middle, top + 24, 150, "normalisation", fill=MUTED, stroke=MUTED)
        panel.arrow(middle, top + 54, middle, top + 78)
        look = {"fill_opacity": "0.18", "fill": fill, "stroke": fill, "rx": 6}
        panel.rect(middle - 105, top + 78, 210, 46, **look)
        panel.text(middle, top + 94, name, font_weight="700")
        panel.text(middle, top + 111, what)
        panel.arrow(middle, top + 124, middle, top + 144)
        panel.add(tag("circle", cx=middle, cy=top + 158, r=12, fill="none", stroke=INK))
        panel.text(middle, top + 158, "+", font_size=14)
        panel.text(past + 6, top + 82, "residual", text_anchor="start", fill=MUTED)
    panel.line(middle, 198, middle, 212)
    panel.arrow(middle, 386, middle, 416)
    panel.text(middle, 432, f"to the next of {layers} blocks {shape}")
    return figure(
        [[panel]],
        "One block of GPT-2. What attention gives is added to what came in, and so "
        f"both must be equally wide, {width} in the smallest model. The line that goes "
        "past is the residual connection.",
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


PICTURES = {
    "two-questions": two_questions,
    "two-heads": two_heads,
    "one-product": one_product,
    "split-heads": split_heads_memory,
    "block": block_of_a_model,
}
