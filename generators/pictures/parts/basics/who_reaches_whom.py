"""Which rows move when a token is changed, in attention that is wrong and repaired."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from generators.pictures.svg import ACCENT, ACCENT_2, MUTED, Panel, count, figure, shade

T = 7


class Colleagues(nn.Module):
    """Attention of several heads that merges them without the transpose."""

    def __init__(self, d_in: int, d_out: int, num_heads: int, *, fixed: bool) -> None:
        super().__init__()
        self.num_heads, self.fixed = num_heads, fixed
        self.qkv = nn.Linear(d_in, 3 * d_out)
        self.proj = nn.Linear(d_out, d_out)

    def forward(self, x: Tensor) -> Tensor:
        """Answer each token; wrongly, unless it was fixed."""
        qkv = self.qkv(x).view(1, T, 3, self.num_heads, -1)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        context = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        if self.fixed:
            context = context.transpose(1, 2)
        return self.proj(context.reshape(1, T, -1))


@torch.no_grad()
def _moved(fixed: bool) -> list[list[bool]]:
    """Say which token, of the columns, moves which row."""
    torch.manual_seed(7)
    attend = Colleagues(12, 20, 4, fixed=fixed).double()
    x = torch.randn(1, T, 12, dtype=torch.float64)
    before = attend(x)
    columns = []
    for token in range(T):
        changed = x.clone()
        changed[0, token] += 1.0
        columns.append((attend(changed) - before).abs().amax(dim=-1)[0] > 1e-9)
    return torch.stack(columns, dim=1).tolist()


def _leaks(moved: list[list[bool]]) -> int:
    return sum(moved[row][token] for row in range(T) for token in range(row + 1, T))


def _table(title: str, moved: list[list[bool]]) -> Panel:
    size, left, top = 36, 48, 76
    listed = "; ".join(
        f"row {row + 1}: {', '.join(str(t + 1) for t in range(T) if line[t])}"
        for row, line in enumerate(moved)
    )
    panel = Panel(
        left + T * size + 4,
        top + T * size + 4,
        f"{title}: a table of seven by seven, a row for each row of the result and a "
        f"column for each token that is changed. Moved by which tokens: {listed}. "
        f"{_leaks(moved)} of the ones lie above the diagonal, in the future.",
    )
    panel.text(left + T * size / 2, 14, title, font_weight="700")
    panel.text(left - 12, top - 34, "row", text_anchor="end", fill=MUTED)
    panel.text(left + T * size / 2, top - 34, "token that is changed", fill=MUTED)
    hidden = []
    for index in range(T):
        middle = (index + 0.5) * size
        panel.text(left - 12, top + middle, str(index + 1), text_anchor="end")
        panel.text(left + middle, top - 12, str(index + 1))
    for row, line in enumerate(moved):
        for token, moves in enumerate(line):
            x, y = left + token * size + 1, top + row * size + 1
            if not moves:
                hidden.append((x, y))
                continue
            past = token <= row
            look = {} if past else {"stroke": ACCENT_2, "stroke_dasharray": "4 3"}
            panel.rect(
                x,
                y,
                size - 2,
                size - 2,
                fill=ACCENT if past else ACCENT_2,
                fill_opacity=shade(0.8 if past else 0.3),
                **look,
            )
    panel.hatch(hidden, size - 2, lettered=True)
    for row, line in enumerate(moved):
        for token, moves in enumerate(line):
            panel.text(
                left + (token + 0.5) * size,
                top + (row + 0.5) * size,
                str(int(moves)),
                font_weight="700" if moves and token > row else "400",
            )
    return panel


def who_reaches_whom() -> str:
    """Set the table of the wrong module beside that of the repaired one."""
    wrong, right = _moved(fixed=False), _moved(fixed=True)
    return figure(
        [[_table("the colleague’s", wrong), _table("repaired", right)]],
        "A one is a row that moves when the token is changed. On the left, "
        f"{count(_leaks(wrong))} ones, in dashed cells, lie in the future of their "
        "row. On the right, one call later, the future reaches nothing.",
    )


PICTURES: dict[str, Callable[[], str]] = {"who-reaches-whom": who_reaches_whom}
