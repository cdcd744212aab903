"""A table of a page is a file of data too."""

import csv
from pathlib import Path

import pytest

from workshop.website.table_data import write_tables

PAGE = """<link rel="canonical" href="https://example.org/speeds/">
<table><tr><th>Not asked for</th></tr></table>
<div data-csv="speeds.csv"><table>
<thead><tr><th>Way</th><th>Seconds</th></tr></thead>
<tbody>
<tr><td><strong>On foot</strong></td><td></td></tr>
<tr><td><a href="../walk/#slow">Walk</a></td><td>1,234.5</td></tr>
<tr><td>Run, "fast"</td><td>7</td></tr>
<tr><td><strong>On wheels</strong></td><td></td></tr>
<tr><td>Cycle
  uphill</td><td>3</td></tr>
</tbody></table></div>
"""


def test_a_row_has_its_group_and_its_address(tmp_path: Path) -> None:
    (tmp_path / "speeds").mkdir()
    (tmp_path / "speeds" / "index.html").write_text(PAGE, encoding="utf-8")
    written = write_tables(tmp_path)
    assert written == [tmp_path / "speeds" / "speeds.csv"]
    with written[0].open(encoding="utf-8", newline="") as file:
        assert [*csv.reader(file)] == [
            ["Group", "Way", "Seconds", "Page"],
            ["On foot", "Walk", "1,234.5", "https://example.org/walk/#slow"],
            ["On foot", 'Run, "fast"', "7", ""],
            ["On wheels", "Cycle uphill", "3", ""],
        ]


def test_a_site_without_an_address_has_links_as_they_are(tmp_path: Path) -> None:
    page = PAGE.replace('rel="canonical"', 'rel="next"')
    (tmp_path / "index.html").write_text(page, encoding="utf-8")
    [file] = write_tables(tmp_path)
    assert "../walk/#slow" in file.read_text(encoding="utf-8")


def test_what_holds_no_table_is_refused(tmp_path: Path) -> None:
    page = '<div data-csv="none.csv"><p>No table</p></div>'
    (tmp_path / "index.html").write_text(page, encoding="utf-8")
    with pytest.raises(ValueError, match=r"around a table; got 'none\.csv'"):
        write_tables(tmp_path)
    assert not (tmp_path / "none.csv").exists()
