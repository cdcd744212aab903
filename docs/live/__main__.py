"""Write the tables of the live figures into the pages: `python docs/live [--check]`.

Each stands between the lines `<!-- live: NAME -->` and `<!-- end of live -->`. A script
in docs/assets/live reads its numbers from there. With `--check` nothing is written; the
command fails if a table of the book is not the one that would be written.
"""

import argparse
import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path

from figures import FIGURES, Figure

from proofread.page.prose_numbers import Prose

DOCS = Path(__file__).parent.parent


def part(name: str, figure: Figure) -> str:
    """Make what stands between the marks, with the numbers in it declared."""
    tables = "\n".join(map(str, figure.tables()))
    html = (
        f'<figure class="hw-live" data-live="{name}">\n{tables}\n'
        f"<figcaption>{escape(figure.caption)}</figcaption>\n</figure>"
    )
    typed = {number for _, number in Prose(html).typed()}
    numbers = sorted(typed, key=lambda number: (float(number), number))
    return f"{html}\n\n<!--given: {' '.join(numbers)}: computed by docs/live-->"


def written(page: str, name: str, made: str) -> str:
    """Put a part between its marks.

    Raises:
        ValueError: If the page has no such marks.
    """
    begin, end = f"<!-- live: {name} -->", "<!-- end of live -->"
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"the page must have a part {begin}.")
    return f"{before}{begin}\n\n{made}\n\n{end}{after}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write all tables, or compare them with those that are there."""
    parser = argparse.ArgumentParser(description="Write the tables of live figures.")
    parser.add_argument("--check", action="store_true", help="compare, do not write")
    parser.add_argument("--to", type=Path, default=DOCS, help="folder of pages")
    options = parser.parse_args(arguments)
    wrong = []
    for name, figure in FIGURES.items():
        path = options.to / f"{figure.page}.md"
        page = path.read_text("utf-8")
        new = written(page, name, part(name, figure))
        if options.check and new != page:
            wrong.append(f"{path}: {name} must be as made now; run python docs/live.")
        elif not options.check:
            path.write_text(new, encoding="utf-8", newline="\n")
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
