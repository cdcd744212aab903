"""Tables in HTML: what a reader without scripts sees, and what the scripts read.

A number that a script computes with stands in a `<data>` element, which holds more
digits than it shows.
"""

from collections.abc import Callable, Sequence
from html import escape

from torch import Tensor

from workshop.generator_support import fixed, significant

# As many digits as keep the scripts within a millionth of PyTorch.
DIGITS = 8


def text(value: float, decimals: int = 4) -> str:
    """Write a number with some decimals; an exact zero is not one that was rounded."""
    return fixed(value, decimals) if value else "0"


def result(value: float, decimals: int = 4) -> str:
    """Write the cell of a number that a script can compute itself."""
    return f"<td>{text(value, decimals)}</td>"


def exact(value: float, decimals: int = 2) -> str:
    """Write the cell of a number that has so many decimals and no more."""
    return f"<td>{value:.{decimals}f}</td>"


def precise(value: float, decimals: int = 4) -> str:
    """Write the cell of a number that a script computes with."""
    if not value:
        return result(value)
    held, shown = significant(value, DIGITS), text(value, decimals)
    return f'<td><data value="{held}">{shown}</data></td>'


def rough(value: float) -> str:
    """Write such a cell with two decimals, where the numbers are large."""
    return precise(value, 2)


class Table:
    """One table.

    Args:
        name: How the script calls it.
        caption: What it shows.
        heads: The names of the columns, each with how many columns it spans; the first
            belongs to the names of the rows.
    """

    def __init__(self, name: str, caption: str, heads: Sequence[str | tuple[str, int]]):
        self._opening = (
            f'<table class="hw-live__numbers" data-name="{name}" data-search-exclude>'
        )
        self._caption = f"<caption>{escape(caption)}</caption>"
        self._head = "".join(map(_head, heads))
        self._rows: list[str] = []

    def row(self, name: str, *cells: str) -> None:
        """Append a row."""
        self._rows.append(
            f'<tr><th scope="row">{escape(name)}</th>{"".join(cells)}</tr>'
        )

    def __str__(self) -> str:
        """Write the table, one row a line."""
        head = f"<thead><tr>{self._head}</tr></thead>"
        lines = [self._opening, self._caption, head, "<tbody>", *self._rows]
        return "\n".join([*lines, "</tbody>", "</table>"])


def _head(column: str | tuple[str, int]) -> str:
    name, span = (column, 1) if isinstance(column, str) else column
    if not name:  # a corner is no heading
        return "<td></td>"
    wide = f'colgroup" colspan="{span}' if span > 1 else "col"
    return f'<th scope="{wide}">{escape(name)}</th>'


def square(
    name: str,
    caption: str,
    words: Sequence[str],
    values: Tensor,
    cell: Callable[[float], str] = result,
) -> Table:
    """Make a table with the same words for its rows and its columns."""
    table = Table(name, caption, ["", *words])
    for word, row in zip(words, values.tolist(), strict=True):
        table.row(word, *map(cell, row))
    return table
