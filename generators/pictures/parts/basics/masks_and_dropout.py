"""What a query may not see."""

import torch
from torch import Tensor, nn

from generators.pictures.charts import axes, bars, row_labels
from generators.pictures.svg import ACCENT, ACCENT_2, Panel, figure
from headway import (
    attention,
    causal_mask,
    he_finds_boy,
)
from workshop.generator_support import fixed


def _movement(mask: Tensor | None) -> list[float]:
    """Put “Girl” in the place of “ice” and measure how far each row moves."""
    (words, x), W_query, W_key = he_finds_boy()
    x, W_query, W_key = x.double(), W_query.double(), W_key.double()
    changed = x.clone()
    changed[words.index("ice")] = x[words.index("Boy")]  # a noun, and living
    before, after = (
        attention(text @ W_query, text @ W_key, text, mask=mask)
        for text in (x, changed)
    )
    return (after - before).abs().amax(dim=-1).tolist()


def leak() -> str:
    """Show which rows notice that a word is another one."""
    words = he_finds_boy()[0].words
    place = words.index("ice")
    free, causal = _movement(None), _movement(causal_mask(len(words)))
    pitch, top = 28, 40
    panel = Panel(
        340,
        top + len(words) * pitch + 4,
        "Two columns of nine bars: how far each context vector moves when “ice” "
        "becomes “Girl”. With all words visible every row moves, by "
        f"{', '.join(fixed(far, 3) for far in free)}. With the causal mask the seven "
        "rows before it move by exactly 0, and the last two by "
        f"{' and '.join(fixed(far, 3) for far in causal[place:])}.",
        drawn=400,
    )
    row_labels(panel, (58, top), words, pitch, strong=place)
    longest = max(free + causal)
    for x, title, values in (
        (68, "all visible", free),
        (208, "causal mask", causal),
    ):
        panel.text(x, 18, title, text_anchor="start", font_weight="700")
        # What moves before the change has seen the future, and is a leak.
        for start, rows, fill in (
            (0, values[:place], ACCENT_2),
            (place, values[place:], ACCENT),
        ):
            at, size = (x, top + start * pitch), (78, pitch)
            bars(panel, at, rows, size, digits=3, fill=fill, longest=longest)
    return figure(
        [[panel]],
        "“ice” becomes “Girl”. With all words visible the seven rows before it move, "
        "which is a leak. With the causal mask these move by exactly "
        f"{max(causal[:place]):g}, and only the word itself and “{words[-1]}” after it "
        "see the change.",
    )


@torch.no_grad()
def _seen(hide_with_torch_module: bool) -> tuple[Tensor, Tensor]:
    """Measure with torch itself which keys a boolean mask lets through."""
    T, E = 5, 4
    torch.manual_seed(123)
    x = torch.randn(T, E)
    if hide_with_torch_module:
        mask = ~causal_mask(T)
        weights = nn.MultiheadAttention(E, 1)(x, x, x, attn_mask=mask)[1]
    else:
        mask = causal_mask(T)
        weights = nn.functional.scaled_dot_product_attention(
            x, x, torch.eye(T), attn_mask=mask
        )
    return mask, weights > 0


def mask_polarity() -> str:
    """Set the two meanings of True side by side."""
    size, left, top, T = 42, 49, 104, 5
    panels = []
    for titles, meaning, other in (
        (("headway", "scaled_dot_product_attention"), "may look", False),
        (("nn.MultiheadAttention",), "may not look", True),
    ):
        mask, seen = _seen(other)
        letters = ["".join("FT"[flag] for flag in row) for row in mask.int().tolist()]
        panel = Panel(
            308,
            top + T * size + 4,
            f"{' and '.join(titles)}, True = {meaning}: a boolean mask of 5 by 5 "
            f"whose rows are {', '.join(letters)}. The query sees the keys up to its "
            "own position; the cells behind it are hatched.",
        )
        middle = left + T * size / 2
        for line, title in enumerate(titles):
            panel.text(
                middle,
                32 + 18 * (line - len(titles) + 1),
                title,
                font_weight="700",
                font_family="monospace",
            )
        panel.text(middle, 53, f"T = True = {meaning}")
        axes(panel, (left, top), [str(t + 1) for t in range(T)], size)
        hidden = []
        for t in range(T):
            for s in range(T):
                x, y = left + s * size + 1, top + t * size + 1
                if seen[t, s]:
                    panel.rect(
                        x, y, size - 2, size - 2, fill=ACCENT, fill_opacity="0.3"
                    )
                else:
                    hidden.append((x, y))
        panel.hatch(hidden, size - 2, lettered=True)
        for t in range(T):
            for s in range(T):
                panel.text(
                    left + (s + 0.5) * size,
                    top + (t + 0.5) * size,
                    letters[t][s],
                    font_size=14,
                    font_weight="700",
                )
        panels.append(panel)
    return figure(
        [panels],
        "One rule, two masks: filled cells are looked at, hatched ones are not. "
        "Headway and <code>scaled_dot_product_attention</code> write True where a "
        "query may look, <code>nn.MultiheadAttention</code> where it may not.",
    )


PICTURES = {
    "leak": leak,
    "mask-polarity": mask_polarity,
}
