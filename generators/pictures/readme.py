"""Draw the picture of the README: `python -m generators.pictures.readme [--check]`.

Git keeps it, in the colours of either scheme, since the README is read there.
"""

import sys
from collections.abc import Sequence

from generators import ROOT
from generators.pictures.svg import ACCENT, INK, MUTED, Panel
from headway import attention_weights, he_finds_boy
from workshop.generator_support import generate

COMMAND = "python -m generators.pictures.readme"
FOLDER = ROOT / "docs" / "assets" / "figures" / "readme"
WORD, TALL = 64.0, 170.0  # of the picture of the README
SCHEMES = {
    "light": {"currentColor": "#22282b", ACCENT: "#0f6680", MUTED: "#5b656b"},
    "dark": {"currentColor": "#d6dbde", ACCENT: "#72c5d8", MUTED: "#9aa5ab"},
}


def looks_back(scheme: str) -> str:
    """Draw the shares that *he* takes, for a page that knows no colours of ours."""
    (words, x), *matrices = he_finds_boy()
    x, W_query, W_key = (tensor.double() for tensor in (x, *matrices))
    he = words.index("he")
    shares = attention_weights(x @ W_query, x @ W_key, causal=True)[he].tolist()
    panel = Panel(
        WORD * len(words),
        TALL,
        "The words of a sentence. “he” looks back and takes "
        f"{shares[words.index('Boy')]:.2f} of what it collects from “Boy”; the words "
        "after it are hidden.",
    )
    y = TALL - 46
    for s, (word, share) in enumerate(zip(words, shares, strict=True)):
        middle, seen = (s + 0.5) * WORD, s <= he
        if s < he:
            to = (he + 0.5) * WORD
            top = 14 + 22 * s
            curve = f"M{to:.0f} {y - 14:.0f}C{to:.0f} {top} {middle:.0f} {top} "
            width = max(0.8, 14 * share)
            panel.path(
                f"{curve}{middle:.0f} {y - 14:.0f}",
                stroke=ACCENT,
                stroke_width=width,
                stroke_opacity="0.85",
            )
        weight = "700" if word in ("he", "Boy") else "400"
        fill = INK if seen else MUTED
        panel.text(middle, y, word, font_size=17, font_weight=weight, fill=fill)
        label = f"{share:.2f}" if seen else "hidden"
        panel.text(middle, y + 26, label, font_size=13, fill=fill)
    drawn = str(panel).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    drawn = drawn.replace(
        'font-size="12"', 'font-size="12" font-family="sans-serif"', 1
    )
    for name, colour in SCHEMES[scheme].items():
        drawn = drawn.replace(name, colour)
    return f"{drawn}\n"


def make() -> dict[str, str]:
    """Draw it in each scheme, by the names of the files."""
    return {f"{scheme}.svg": looks_back(scheme) for scheme in SCHEMES}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the picture, or compare it with the one that is there."""
    return generate(COMMAND, make, FOLDER, arguments)


if __name__ == "__main__":
    sys.exit(main())
