"""Write tables of a built site as files of data, next to their pages.

A page names the file on the element around a table:

    <div data-csv="speeds.csv" markdown>
    | Way | Seconds |
    ...
    </div>

A row with text in its first cell alone is the heading of a group. It becomes the value
of the column `Group` in the rows below it. The column `Page` has the address to which
the first cell links.
"""

import csv
from pathlib import Path
from urllib.parse import urljoin

from bs4 import BeautifulSoup, Tag

from workshop.website.paths import CANONICAL


def text_of(cell: Tag) -> str:
    """Return the text of a cell on one line."""
    return " ".join(cell.get_text().split())


def table_rows(table: Tag, page: str) -> list[list[str]]:
    """Return the rows of a table, the names of its columns first.

    Args:
        table: The element `table`.
        page: The address of its page, or nothing if the site has none.
    """
    names, *body = [row.find_all(["th", "td"]) for row in table.find_all("tr")]
    rows = [["Group", *map(text_of, names), "Page"]]
    group = ""
    for cells in body:
        first, *others = map(text_of, cells)
        if others and not any(others):
            group = first
            continue
        link = cells[0].find("a")
        address = urljoin(page, str(link["href"])) if link else ""
        rows.append([group, first, *others, address])
    return rows


def write_tables(site: Path) -> list[Path]:
    """Write each table that names a file, and return these files.

    Args:
        site: The folder that the site was built into.

    Raises:
        ValueError: If an element names a file and holds no table.
    """
    written: list[Path] = []
    for html in sorted(site.rglob("*.html")):
        text = html.read_text(encoding="utf-8")
        if "data-csv=" not in text:
            continue
        canonical = CANONICAL.search(text)
        for box in BeautifulSoup(text, "html.parser").select("[data-csv]"):
            name = str(box["data-csv"])
            table = box.find("table")
            if not isinstance(table, Tag):
                raise ValueError(f"data-csv must stand around a table; got {name!r}.")
            rows = table_rows(table, canonical[1] if canonical else "")
            written.append(html.parent / name)
            with written[-1].open("w", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows(rows)
    return written
