"""The book is cited as CITATION.cff says, and that stands in one place."""

from pathlib import Path

import pytest

from proofread.cite import main
from proofread.pages import fences

ROOT = Path(__file__).parents[2]


def test_the_page_shows_what_the_file_says(capsys: pytest.CaptureFixture[str]) -> None:
    main([str(ROOT / "CITATION.cff")])
    said = capsys.readouterr().out
    page = (ROOT / "docs/made.md").read_text(encoding="utf-8")
    assert [f.code for f in fences(page) if f.info == "bibtex"] == [said]


def test_a_release_has_a_year_and_an_address(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "CITATION.cff").write_text(
        "title: 'A Book: of words'\nversion: 1.2.3\nauthors: [{name: A}, {name: B}]\n"
        "date-released: 2031-05-07\nurl: https://example.org\n"
    )
    monkeypatch.chdir(tmp_path)
    main([])
    assert capsys.readouterr().out == (
        "@software{a,\n  author = {{A} and {B}},\n  title = {{A Book: of words}},\n"
        "  version = {1.2.3},\n  year = {2031},\n  url = {https://example.org},\n}\n"
    )
