"""The table of all variants is a file of data too."""

import csv
from pathlib import Path

from bs4 import BeautifulSoup


def test_all_variants_are_data(site: Path, pages: dict[str, BeautifulSoup]) -> None:
    html = pages["all_variants/index.html"]
    [link] = html.select("article a[download]")
    file = site / "all_variants" / str(link["href"])
    with file.open(encoding="utf-8", newline="") as lines:
        rows = [*csv.DictReader(lines)]
    shown = [
        [" ".join(cell.get_text().split()) for cell in row.select("td")]
        for row in html.select(".hw-sorts tbody tr")
    ]
    variants = [cells for cells in shown if any(cells[1:])]
    names = [*rows[0]]
    assert [[row[name] for name in names[1:-1]] for row in rows] == variants
    groups = [cells[0] for cells in shown if not any(cells[1:])]
    assert [*dict.fromkeys(row["Group"] for row in rows)] == groups
    assert all(row["Page"] for row in rows)
