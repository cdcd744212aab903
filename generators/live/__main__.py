"""Write the tables of the live figures: `python -m generators.live [--check]`.

A page includes each by a line such as `--8<-- "live/leak.html"`, and a script in
docs/assets/live reads its numbers from there. With `--check` nothing is written; the
command fails if a table of the book is not the one that would be written.
"""

import sys
from collections.abc import Sequence
from html import escape

from generators import GENERATED, HASHES
from generators.live.figures import FIGURES, Figure
from workshop.generator_support import generate

COMMAND = "python -m generators.live"
FOLDER = GENERATED / "live"


def html(name: str, figure: Figure) -> str:
    """Make the HTML of a figure: its tables and its caption."""
    tables = "\n".join(map(str, figure.tables()))
    return (
        f'<figure class="hw-live" data-live="{name}">\n{tables}\n'
        f"<figcaption>{escape(figure.caption)}</figcaption>\n</figure>\n"
    )


def make() -> dict[str, str]:
    """Make all figures, by the names of their files."""
    return {f"{name}.html": html(name, figure) for name, figure in FIGURES.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write all tables, or compare them with those that are there."""
    return generate(COMMAND, make, FOLDER, arguments, hashes=HASHES)


if __name__ == "__main__":
    sys.exit(main())
