"""Drawings that take their colours and their font from the page."""

import io
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from IPython.display import HTML, display
from matplotlib import rc_context
from matplotlib.figure import Figure

Curve = Sequence[float]
BLUE, BROWN, GREY, LINE = "#0f6680", "#b04a15", "#5b656b", "#c8ced1"
OF_THE_PAGE = {
    "#000000": "currentColor",
    BLUE: f"var(--hw-accent, {BLUE})",
    BROWN: f"var(--hw-accent-2, {BROWN})",
    GREY: f"var(--hw-muted, {GREY})",
    LINE: f"var(--hw-line, {LINE})",
}
STYLES: tuple[dict[str, Any], ...] = (
    {"color": BROWN, "marker": "s"},
    {"color": BLUE, "marker": "o"},
    {"color": GREY, "marker": "^", "linestyle": "--"},
    {"color": "#000000", "marker": "v", "linestyle": ":"},
)


def show(svg: str, caption: str) -> None:
    """Show a drawing with a sentence below it."""
    caption = f"<figcaption>{caption}</figcaption>"
    display(HTML(f'<figure class="hw-figure">{svg}{caption}</figure>'))


# ---- Lines ---------------------------------------------------------------------------


def page_svg(figure: Figure, name: str, label: str) -> str:
    """Return a figure as SVG that is at home in a page.

    Args:
        figure: The figure.
        name: What the anchors in it begin with, as a page may have several figures.
        label: What it shows, in words.
    """
    file = io.StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure.savefig(file, format="svg", transparent=True)
    svg = file.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", svg, flags=re.S)
    svg = re.sub(r"font: (\S+px) [^;\"]*", r"font-size: \1", svg)
    svg = re.sub(r"font-family: [^;\"]*; ", "", svg)
    svg = re.sub(r"\d+\.\d{3,}", lambda number: f"{float(number[0]):.1f}", svg)
    svg = re.sub(r"\s*\n\s*", " ", svg)
    svg = re.sub(r' id="\w+_\d+"', "", svg)
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\1{name}-", svg)
    for colour, variable in OF_THE_PAGE.items():
        svg = svg.replace(colour, variable)
    (view,) = re.findall(r'viewBox="[^"]*"', svg)[:1]
    opening = (
        f'<svg {view} width="440" role="img" aria-label="{escape(label)}" '
        'fill="currentColor" style="max-width:100%;height:auto" '
        'xmlns:xlink="http://www.w3.org/1999/xlink">'
    )
    return re.sub(r"<svg[^>]*>", lambda _: opening, svg, count=1)


def line_chart(
    name: str,
    title: str,
    widths: Sequence[int],
    curves: Mapping[str, Curve],
    caption: str,
    *,
    log: bool = True,
    bands: Mapping[str, tuple[Curve, Curve]] | None = None,
) -> None:
    """Show up to four curves against d_k; the label has all their numbers.

    Args:
        name: A word for the figure.
        title: What the curves show.
        widths: The values of d_k.
        curves: The values of each curve.
        caption: The sentence below the figure.
        log: Whether the values are drawn on a logarithmic axis.
        bands: The lower and the upper end of the band around a curve.
    """
    figure = Figure(figsize=(4.5, 4), layout="constrained")
    axes = figure.add_subplot(xscale="log", yscale="log" if log else "linear")
    styles = dict(zip(curves, STYLES, strict=False))
    for curve, values in curves.items():
        axes.plot(widths, values, label=curve, **styles[curve])
    for curve, (low, high) in (bands or {}).items():
        colour = styles[curve]["color"]
        axes.fill_between(widths, low, high, color=colour, alpha=0.18, linewidth=0)
    axes.set_xticks(widths, [str(d_k) for d_k in widths])
    axes.minorticks_off()
    axes.set_xlabel("d_k, width of queries and keys")
    axes.set_title(title, loc="left", fontsize=10, color=GREY)
    axes.grid(color=LINE, linewidth=0.6)
    axes.tick_params(color=GREY, labelcolor=GREY)
    axes.spines[:].set_color(LINE)
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    label = f"Line chart of {title} against d_k, {', '.join(map(str, widths))}."
    for curve, values in curves.items():
        label += f" {curve.capitalize()}: {', '.join(f'{v:.2g}' for v in values)}."
    show(page_svg(figure, name, label), caption)


# ---- Bars ----------------------------------------------------------------------------


def bars(title: str, efforts: Mapping[str, Sequence[float]], longest: float) -> str:
    """Return a bar for each run, the time of the program and behind it the system's.

    Args:
        title: What is above them.
        efforts: Of each run the milliseconds of program and system, and the pages.
        longest: The milliseconds of the longest bar.
    """
    words = f"Bar chart, {title}. Milliseconds of program and system, and pages."
    body = f'<text y="12" font-weight="700">{title}</text>'
    for row, (name, (program, system, pages)) in enumerate(efforts.items()):
        y, own, its = 28 + 38 * row, 350 * program / longest, 350 * system / longest
        numbers = f"{program:.0f} + {system:.0f} ms, {pages:,.0f} pages"
        words += f" {name}: {numbers}."
        body += (
            f'<text y="{y + 11}">{name}</text>'
            f'<text x="350" y="{y + 11}" text-anchor="end" '
            f'fill="var(--hw-muted, {GREY})">{numbers}</text>'
            f'<rect y="{y + 16}" width="{own:.1f}" height="10" '
            f'fill="var(--hw-accent, {BLUE})"/>'
            f'<rect x="{own:.1f}" y="{y + 16}" width="{its:.1f}" height="10" '
            f'fill="var(--hw-accent-2, {BROWN})"/>'
        )
    return (
        f'<svg viewBox="0 0 350 {36 + 38 * len(efforts)}" width="420" role="img" '
        f'aria-label="{escape(words)}" font-size="12" fill="currentColor" '
        f'style="max-width:100%;height:auto">{body}</svg>'
    )


def bar_panels(
    panels: Mapping[str, Mapping[str, Sequence[float]]], caption: str
) -> None:
    """Show several drawings of bars to one scale.

    Args:
        panels: What `bars` draws, by its title.
        caption: The sentence below them.
    """
    efforts = [effort for panel in panels.values() for effort in panel.values()]
    longest = max(sum(effort[:2]) for effort in efforts)
    drawn = [bars(title, panel, longest) for title, panel in panels.items()]
    show("".join(drawn), caption)
