"""The residual stream, with the norms beside it or in it."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from generators.pictures.svg import ACCENT, ACCENT_2, INK, MUTED, Panel, figure, tag
from headway import FeedForward, MultiHeadAttention, RMSNorm

WIDTH, TOKENS, HEADS = 32, 20, 4
STACKS = (1, 4, 16)
STREAM, BRANCH, TOP, HIGH = 54, 164, 46, 126
Step = Callable[[Tensor, nn.Module], Tensor]


def _untrained(blocks: int) -> list[nn.Module]:
    halves: list[nn.Module] = []
    for _ in range(blocks):
        attention = MultiHeadAttention(WIDTH, WIDTH, TOKENS, 0.0, HEADS)
        halves += [attention.double(), FeedForward(WIDTH).double()]
    for weight in (weight for half in halves for weight in half.parameters()):
        if weight.ndim == 2:
            nn.init.xavier_normal_(weight)
        else:
            nn.init.zeros_(weight)
    return halves


def _sizes(step: Step) -> list[float]:
    """Measure the stream after stacks of blocks."""
    found = []
    for blocks in STACKS:
        torch.manual_seed(7)
        x = torch.randn(TOKENS, WIDTH).double()
        with torch.no_grad():
            for half in _untrained(blocks):
                x = step(x, half)
        found.append(x.square().mean().sqrt().item())
    return found


def _plus(panel: Panel, y: float) -> None:
    panel.add(tag("circle", cx=STREAM, cy=y, r=11, fill="none", stroke=INK))
    panel.text(STREAM, y, "+", font_size=14)


def _norm(panel: Panel, x: float, y: float) -> None:
    panel.box(x, y, 84, "norm", fill=MUTED, stroke=MUTED)


def _into_branch(panel: Panel, y: float, below: float) -> None:
    panel.line(STREAM, y, BRANCH, y)
    panel.arrow(BRANCH, y, BRANCH, below)


def _back(panel: Panel, start: float, y: float) -> None:
    panel.line(BRANCH, start, BRANCH, y)
    panel.arrow(BRANCH, y, STREAM + 13, y)


def _pre(panel: Panel, top: float, name: str, fill: str) -> None:
    _into_branch(panel, top, top + 10)
    _norm(panel, BRANCH, top + 10)
    panel.arrow(BRANCH, top + 40, BRANCH, top + 54)
    panel.box(BRANCH, top + 54, 106, name, fill=fill, stroke=fill)
    _back(panel, top + 84, top + 100)
    panel.line(STREAM, top, STREAM, top + 89, stroke=INK, stroke_width=3)
    _plus(panel, top + 100)
    panel.line(STREAM, top + 111, STREAM, top + HIGH, stroke=INK, stroke_width=3)


def _post(panel: Panel, top: float, name: str, fill: str) -> None:
    _into_branch(panel, top, top + 10)
    panel.box(BRANCH, top + 10, 106, name, fill=fill, stroke=fill)
    _back(panel, top + 40, top + 58)
    panel.line(STREAM, top, STREAM, top + 47, stroke=INK, stroke_width=3)
    _plus(panel, top + 58)
    panel.arrow(STREAM, top + 69, STREAM, top + 84, stroke=INK)
    _norm(panel, STREAM, top + 84)
    panel.line(STREAM, top + 114, STREAM, top + HIGH, stroke=INK, stroke_width=3)


def _panel(
    title: str, step: Step, draw: Callable[[Panel, float, str, str], None], way: str
) -> Panel:
    sizes = [f"{size:.2f}" for size in _sizes(step)]
    stacks = ", ".join(
        f"{size} after {blocks}" for size, blocks in zip(sizes, STACKS, strict=True)
    )
    panel = Panel(
        228,
        374,
        f"{title}, from top to bottom. {way} Size of the stream: {stacks} blocks.",
    )
    panel.text(114, 12, title, font_weight="700", font_size=13)
    panel.text(STREAM, 32, "x")
    for index, (name, fill) in enumerate(
        (("attention", ACCENT), ("feed-forward", ACCENT_2))
    ):
        draw(panel, TOP + index * HIGH, name, fill)
    end = TOP + 2 * HIGH
    panel.arrow(STREAM, end, STREAM, end + 14, stroke=INK)
    panel.text(12, end + 34, "blocks", text_anchor="start", fill=MUTED)
    panel.text(12, end + 56, "size", text_anchor="start", fill=MUTED)
    for place, (blocks, size) in enumerate(zip(STACKS, sizes, strict=True)):
        panel.text(86 + 52 * place, end + 34, str(blocks), fill=MUTED)
        panel.text(86 + 52 * place, end + 56, size)
    return panel


def two_streams() -> str:
    """Draw a block with the norms before its halves, and one with them after."""
    norm = RMSNorm(WIDTH).double()
    pre = _panel(
        "pre-norm",
        lambda x, half: x + half(norm(x)),
        _pre,
        "The stream runs on the left through two plus signs and nothing else. Beside "
        "it, a branch goes through a norm and attention to the first plus sign, "
        "another through a norm and the feed-forward part to the second.",
    )
    post = _panel(
        "post-norm",
        lambda x, half: norm(x + half(x)),
        _post,
        "A branch goes through attention, another through the feed-forward part, each "
        "to a plus sign in the stream. After each plus sign a norm stands in the "
        "stream itself.",
    )
    without = _sizes(lambda x, half: x + half(x))[-1]
    return figure(
        [[pre, post]],
        "One block, with its norms beside the stream or in it, and the size of the "
        "stream after stacks of such blocks, before training; without norms it is "
        f"{without:,.0f} after {STACKS[-1]}. On the left a way leads from top to "
        "bottom on which nothing changes a token but what is added.",
    )


PICTURES: dict[str, Callable[[], str]] = {"two-streams": two_streams}
