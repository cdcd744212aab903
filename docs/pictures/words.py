"""Words become vectors, and mix by likeness."""

import torch
from charts import axes, bars, cells, heat_map, row_labels
from svg import ACCENT, MUTED, Panel, figure, shade
from torch import nn

from headway import (
    Vocabulary,
    embed,
    quick_brown_fox,
    similarity_scores,
    six_tokens,
    stable_softmax,
)
from proofread.generated import fixed


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


def _journey() -> tuple[list[float], list[float]]:
    words, vectors = six_tokens()
    inputs = vectors.double()
    scores = similarity_scores(inputs[words.index("journey")], inputs)
    return scores.tolist(), stable_softmax(scores).tolist()


def simple_attention_bars() -> str:
    """Set the scores of one query beside the shares that softmax makes of them."""
    words = six_tokens().words
    scores, weights = _journey()
    pitch, top = 32, 40
    bottom = top + 6 * pitch
    listed = "; ".join(
        f"{word} {fixed(score, 4)} and {fixed(weight, 4)}"
        for word, score, weight in zip(words, scores, weights, strict=True)
    )
    panel = Panel(
        340,
        bottom + 34,
        "Two columns of six bars for the query journey, scores on the left and weights "
        f"on the right: {listed}. The scores sum to {fixed(sum(scores), 4)}, the "
        f"weights to {fixed(sum(weights), 4)}.",
        drawn=400,
    )
    row_labels(panel, (54, top), words, pitch, strong=words.index("journey"))
    for x, title, values in ((64, "score", scores), (208, "weight", weights)):
        panel.text(x, 20, title, text_anchor="start", font_weight="700")
        bars(panel, (x, top), values, (78, pitch))
        panel.text(x, bottom + 18, "sum", text_anchor="start", fill=MUTED)
        panel.text(x + 84, bottom + 18, fixed(sum(values), 4), text_anchor="start")
    panel.arrow(148, 20, 196, 20)
    panel.text(172, 8, "softmax", fill=MUTED)
    return figure(
        [[panel]],
        "What “journey” scores with each word, and the shares that softmax makes of "
        f"it. The scores sum to {fixed(sum(scores), 4)}, the shares to one.",
    )


def simple_attention_weights() -> str:
    """Show who listens to whom when nothing is trained."""
    words, inputs = six_tokens()
    weights = stable_softmax(similarity_scores(inputs, inputs)).tolist()
    size, left, top = 46, 60, 48
    row = weights[words.index("journey")]
    listed = ", ".join(
        f"{word} {weight:.2f}" for word, weight in zip(words, row, strict=True)
    )
    flat = [(w, i, j) for i, line in enumerate(weights) for j, w in enumerate(line)]
    (low, _, _), (high, i, j) = min(flat), max(flat)
    panel = Panel(
        left + 6 * size + 2,
        top + 6 * size + 2,
        "Heat map of six by six attention weights, a row for each query and a column "
        f"for each key. All weights lie between {low:.2f} and {high:.2f}, the largest "
        f"from {words[i]} to {words[j]}. Row journey: {listed}.",
        drawn=400,
    )
    axes(panel, (left, top), words, size)
    heat_map(panel, (left, top), weights, size)
    return figure(
        [[panel]],
        "All six queries at once: each row sums to one. "
        f"The weights lie between {low:.2f} and {high:.2f}: the scores are close, so "
        "every word looks a little at all others.",
    )


PICTURES = {
    "embedding-lookup": embedding_lookup,
    "simple-attention-bars": simple_attention_bars,
    "simple-attention-weights": simple_attention_weights,
}
