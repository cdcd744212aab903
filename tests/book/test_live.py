"""The live figures: their tables are made by a program, their scripts are small."""

import gzip
import re
from pathlib import Path

import pytest

from generators.live.__main__ import main
from tests.support.made_now import made_now

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SCRIPTS = {path.stem: path for path in (DOCS / "assets/live").glob("*.js")}
FOLDER = ROOT / "generated" / "live"
FIGURES = {path.stem: path.read_text("utf-8") for path in FOLDER.glob("*.html")}
LIMIT = 3 * 1024

every_figure = pytest.mark.parametrize("name", FIGURES)
every_script = pytest.mark.parametrize("name", SCRIPTS)


def make(*arguments: str) -> int:
    """Run the generator in this process, which has loaded torch already."""
    return main(arguments)


def test_the_book_has_the_tables_that_are_made_now(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert make("--check") == 0
    made = {Path(file).stem: html for file, html in made_now("live").items()}
    assert made == FIGURES
    assert capsys.readouterr().out == ""


def test_check_names_each_table_that_is_not_as_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = []
    for name, html in FIGURES.items():
        # One digit more that only the script sees, or a digit that everybody does.
        old, new = ('value="', 'value="1') if 'value="' in html else ("</td>", "1</td>")
        path = tmp_path / f"{name}.html"
        path.write_text(html.replace(old, new, 1), "utf-8")
        wrong.append(f"{path} must be as made now; run python -m generators.live.\n")
    assert make("--check", "--to", str(tmp_path)) == 1
    assert capsys.readouterr().out == "".join(sorted(wrong))


def test_each_figure_has_a_script_and_stands_on_one_page() -> None:
    assert FIGURES.keys() == SCRIPTS.keys() - {"kit"}
    pages = [path.read_text("utf-8") for path in DOCS.rglob("*.md")]
    for name in FIGURES:
        assert sum(page.count(f'\n--8<-- "live/{name}.html"\n') for page in pages) == 1
        assert f'hwLive.start("{name}"' in SCRIPTS[name].read_text("utf-8")


@every_figure
def test_its_data_are_small(name: str) -> None:
    assert len(gzip.compress(FIGURES[name].encode(), 9)) <= LIMIT


@every_script
def test_a_script_is_small_and_can_be_read(name: str) -> None:
    script = SCRIPTS[name].read_text("utf-8")
    assert len(gzip.compress(script.encode(), 9)) <= LIMIT
    assert script.startswith("// ")
    assert max(map(len, script.splitlines())) <= 110


@every_script
def test_a_script_needs_nothing_from_elsewhere(name: str) -> None:
    script = SCRIPTS[name].read_text("utf-8")
    # The name of a language, not an address.
    script = script.replace("http://www.w3.org/2000/svg", "")
    assert not re.findall(r"https?:|[\"'(]//", script)
    assert not re.findall(r"\b(fetch|import|eval|innerHTML|XMLHttpRequest)\b", script)


@every_figure
def test_a_table_has_names_and_no_code(name: str) -> None:
    html = FIGURES[name]
    assert html.count("<table") == html.count("<caption>") > 1
    assert not re.findall(r"<script|\sstyle=|\son\w+=", html)


@every_figure
def test_what_a_script_reads_is_what_is_shown(name: str) -> None:
    found = re.findall(r'<data value="([^"]+)">([^<]+)</data>', FIGURES[name])
    exact = re.findall(r"<td>\d(?:\.\d\d)?</td>", FIGURES[name])
    assert len(found) + len(exact) >= 18
    for value, shown in found:
        decimals = len(shown.partition(".")[2])
        assert f"{float(value):.{decimals}f}" == shown
