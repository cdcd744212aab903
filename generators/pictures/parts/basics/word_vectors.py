"""Words become vectors, and mix by similarity."""

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import nn

from generators.pictures.charts import Rows, bars, cells, heat_map, row_labels
from generators.pictures.svg import ACCENT, INK, MUTED, Panel, count, figure, shade
from headway import (
    Vocabulary,
    embed,
    he_finds_boy,
    nine_words,
    quick_brown_fox,
    similarity_scores,
    stable_softmax,
)
from workshop.generator_support import fixed


def embedding_lookup() -> str:
    """Follow the words of a sentence to their rows in the table."""
    sentence = quick_brown_fox()
    vocabulary = Vocabulary(sentence)
    torch.manual_seed(123)
    table = nn.Embedding(9, 3)
    words, indices = sentence.split(), vocabulary.encode(sentence).tolist()
    chosen = words.index("fox")
    rows = [[fixed(number, 2) for number in row] for row in table.weight.tolist()]
    vector = ", ".join(
        fixed(number, 2)
        for number in embed(vocabulary.encode("fox"), table)[0].tolist()
    )

    pitch, top = 28, 44
    panel = Panel(
        340,
        top + 9 * pitch + 4,
        f"The sentence {sentence!r}, one word a line, with the indices "
        f"{', '.join(map(str, indices))}. A line leads from each index to a row of a "
        f"table of nine rows and three columns. The arrow from fox, index "
        f"{indices[chosen]}, ends at the row {vector}.",
        drawn=400,
    )
    panel.text(52, 24, "word", text_anchor="end", fill=MUTED)
    panel.text(74, 24, "index", fill=MUTED)
    panel.text(257, 24, "a row for each index", fill=MUTED)
    row_labels(panel, (52, top), words, pitch, strong=chosen)
    for position, index in enumerate(indices):
        start, end = top + (position + 0.5) * pitch, top + (index + 0.5) * pitch
        strong = position == chosen
        panel.path(
            f"M88 {start:.0f}C122 {start:.0f} 118 {end:.0f} {148 if strong else 154} "
            f"{end:.0f}",
            stroke=ACCENT if strong else MUTED,
            stroke_width=2 if strong else 1,
            stroke_opacity="1" if strong else "0.5",
        )
        if strong:
            panel.head(154, end, 1, 0, ACCENT)
        panel.rect(
            62,
            start - 10,
            24,
            20,
            rx=10,
            fill=ACCENT,
            fill_opacity=shade(1) if strong else "0.08",
        )
        panel.text(74, start, str(index), font_weight="700" if strong else "400")
    for index, row in enumerate(rows):
        strong = index == indices[chosen]
        weight = "700" if strong else "400"
        y = top + index * pitch
        panel.text(165, y + pitch / 2, str(index), fill=MUTED)
        opacity = shade(1) if strong else "0.08"
        cells(panel, (176, y), [row], (54, pitch), opacity=opacity, font_weight=weight)
    return figure(
        [[panel]],
        "Each word has an index, and each index a row of three numbers. "
        f"“fox” has the index {indices[chosen]}, so its vector is ({vector}).",
    )


def _similarities() -> tuple[Sequence[str], Rows, Rows]:
    """Give the nine words, their scores with each other, and the weights."""
    (words, vectors), *_ = he_finds_boy()
    scores = similarity_scores(vectors.double(), vectors.double())
    return words, scores.tolist(), stable_softmax(scores).tolist()


def attention_reach() -> str:
    """Set a network that reads word by word beside one that looks at all words."""
    words = nine_words().words
    old, new = words.index("Boy"), words.index("he")
    steps = count(new - old)
    pitch, top, x = 30, 38, 92
    height = top + len(words) * pitch
    middles = [top + (row + 0.5) * pitch for row in range(len(words))]

    def start(title: str, label: str) -> Panel:
        panel = Panel(300, height, label)
        panel.text(150, 16, title, font_weight="700")
        for row, (word, y) in enumerate(zip(words, middles, strict=True)):
            weight = "700" if row in (old, new) else "400"
            panel.text(x - 22, y, word, text_anchor="end", font_weight=weight)
            fill = ACCENT if row in (old, new) else INK
            panel.rect(x - 12, y - 9, 34, 18, fill=fill, fill_opacity=shade(0.3))
        return panel

    left = start(
        "one vector, changed by each word",
        f"The words {', '.join(words)} in a column, each with a box. An arrow leads "
        f"from each box to the next; {new - old} arrows lie between Boy and he.",
    )
    for row, (above, below) in enumerate(pairwise(middles)):
        strong = old <= row < new
        left.arrow(
            x + 5,
            above + 9,
            x + 5,
            below - 9,
            stroke=ACCENT if strong else MUTED,
            stroke_width=2 if strong else 1,
        )
    at = (middles[old] + middles[new]) / 2
    left.path(
        f"M{x + 30} {middles[old]:.0f}h8V{middles[new]:.0f}h-8",
        stroke=ACCENT,
    )
    left.text(x + 48, at, f"{steps} changes", text_anchor="start")

    right = start(
        "a vector for each word",
        "The same words and boxes. From he an arc leads directly to each of the "
        f"{len(words) - 1} other words; the one to Boy is strong.",
    )
    for row, y in enumerate(middles):
        if row == new:
            continue
        strong = row == old
        reach = x + 40 + 22 * abs(row - new)
        right.path(
            f"M{x + 22} {middles[new]:.0f}C{reach} {middles[new]:.0f} {reach} {y:.0f} "
            f"{x + (29 if strong else 24)} {y:.0f}",
            stroke=ACCENT if strong else MUTED,
            stroke_width=2 if strong else 1,
        )
        if strong:
            right.head(x + 24, y, -1, 0, ACCENT)
    right.text(x + 116, at, "one look", text_anchor="start")
    return figure(
        [[left, right]],
        f"Left: what “{words[old]}” put into the vector must survive {steps} changes "
        f"before “{words[new]}” can use it, and more in a longer text. Right, with "
        "attention: every word is one look away, however long the text.",
    )


def simple_attention_bars() -> str:
    """Set the scores of one query beside the weights that softmax makes of them."""
    words, all_scores, all_weights = _similarities()
    asks = words.index("Boy")
    scores, weights = all_scores[asks], all_weights[asks]
    pitch, top = 26, 40
    bottom = top + len(words) * pitch
    listed = "; ".join(
        f"{word} {score:.0f} and {fixed(weight, 2)}"
        for word, score, weight in zip(words, scores, weights, strict=True)
    )
    panel = Panel(
        340,
        bottom + 34,
        "Two columns of nine bars for the query Boy, scores on the left and weights "
        f"on the right: {listed}. The scores sum to {sum(scores):.0f}, the weights to "
        f"{sum(weights):.0f}.",
        drawn=400,
    )
    row_labels(panel, (64, top), words, pitch, strong=asks)
    columns = ((74, "score", scores, 0), (208, "weight", weights, 2))
    for x, title, values, digits in columns:
        panel.text(x, 20, title, text_anchor="start", font_weight="700")
        bars(panel, (x, top), values, (78, pitch), digits=digits)
        panel.text(x, bottom + 18, "sum", text_anchor="start", fill=MUTED)
        panel.text(x + 84, bottom + 18, f"{sum(values):.0f}", text_anchor="start")
    panel.arrow(148, 20, 196, 20)
    panel.text(172, 8, "softmax", fill=MUTED)
    return figure(
        [[panel]],
        "What “Boy” scores with each word, and the weights that softmax makes of it. "
        "A word with a score of zero gets a weight as well.",
    )


def simple_attention_weights() -> str:
    """Show who listens to whom when nothing is trained."""
    words, _, weights = _similarities()
    size, left, top = 30, 62, 66
    listed = "; ".join(
        f"{words[row]}: {', '.join(fixed(weight, 2) for weight in weights[row])}"
        for row in (words.index("Boy"), words.index("he"))
    )
    count_of = len(words)
    panel = Panel(
        left + count_of * size + 6,
        top + count_of * size + 2,
        "Heat map of nine by nine attention weights, a row for each query and a column "
        f"for each key. Rows of {listed}. Words without a feature look at all words "
        "alike.",
        drawn=400,
    )
    for index, word in enumerate(words):
        middle = (index + 0.5) * size
        panel.text(left - 7, top + middle, word, text_anchor="end")
        # Words are wider than their columns, so every second one stands higher.
        panel.text(left + middle, top - 11 - 15 * (index % 2), word)
    panel.text(left - 7, top - 48, "query", text_anchor="end", fill=MUTED)
    panel.text(left + count_of * size / 2, top - 48, "key", fill=MUTED)
    heat_map(panel, (left, top), weights, size)
    return figure(
        [[panel]],
        "All nine queries at once: each row sums to one. Nouns find nouns, “he” finds "
        "“he”, and a word without a feature gives each word a ninth.",
    )


PICTURES = {
    "embedding-lookup": embedding_lookup,
    "attention-reach": attention_reach,
    "simple-attention-bars": simple_attention_bars,
    "simple-attention-weights": simple_attention_weights,
}
