"""The live figures: their tables are made by a program, their scripts are small."""

import gzip
import re
import runpy
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
SCRIPTS = {path.stem: path for path in (DOCS / "assets/live").glob("*.js")}
PARTS = {
    name: (path, part)
    for path in sorted(DOCS.rglob("*.md"))
    for name, part in re.findall(
        r"<!-- live: (\w+) -->(.*?)<!-- end of live -->",
        path.read_text("utf-8"),
        re.DOTALL,
    )
}
LIMIT = 3 * 1024

every_figure = pytest.mark.parametrize("name", PARTS)
every_script = pytest.mark.parametrize("name", SCRIPTS)


def make(*arguments: str) -> int:
    """Run `python docs/live` in this process, which has loaded torch already."""
    program = str(ROOT / "docs" / "live")
    status: int = runpy.run_path(program)["main"](arguments)
    return status


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for path, _ in PARTS.values():
        page = tmp_path / path.relative_to(DOCS)
        page.parent.mkdir(exist_ok=True)
        shutil.copy(path, page)
    return tmp_path


def texts(folder: Path) -> dict[str, bytes]:
    pages = {path.relative_to(DOCS) for path, _ in PARTS.values()}
    return {str(page): (folder / page).read_bytes() for page in pages}


def test_the_book_has_the_tables_that_are_made_now(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert make("--check") == 0
    for name, (path, part) in PARTS.items():
        page = copy / path.relative_to(DOCS)
        lost = page.read_text("utf-8").replace(part, f"\nno {name}\n")
        page.write_text(lost, "utf-8")
    assert texts(copy) != texts(DOCS)
    assert make("--to", str(copy)) == 0
    assert texts(copy) == texts(DOCS)
    assert capsys.readouterr().out == ""


@every_figure
def test_check_names_each_table_that_is_not_as_made(
    name: str, copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, part = PARTS[name]
    page = copy / path.relative_to(DOCS)
    # One digit more that only the script sees, or a digit that everybody does.
    changes = [('value="', 'value="1'), ("</td>", "1</td>")]
    for old, new in [change for change in changes if change[0] in part]:
        page.write_text(
            path.read_text("utf-8").replace(part, part.replace(old, new, 1)), "utf-8"
        )
        before = texts(copy)
        assert make("--check", "--to", str(copy)) == 1
        assert capsys.readouterr().out == (
            f"{page}: {name} must be as made now; run python docs/live.\n"
        )
        assert texts(copy) == before


def test_a_page_without_its_marks_is_refused(copy: Path) -> None:
    page = copy / "walk" / "masks.md"
    mark = "<!-- live: leak -->"
    page.write_text(page.read_text("utf-8").replace(mark, ""), "utf-8")
    with pytest.raises(ValueError, match=f"the page must have a part {mark}"):
        make("--to", str(copy))


def test_each_figure_has_a_script_and_stands_on_one_page() -> None:
    assert PARTS.keys() == SCRIPTS.keys() - {"kit"}
    pages = [path.read_text("utf-8") for path in DOCS.rglob("*.md")]
    for name in PARTS:
        assert sum(page.count(f'data-live="{name}"') for page in pages) == 1
        assert f'hwLive.start("{name}"' in SCRIPTS[name].read_text("utf-8")


@every_figure
def test_its_data_are_small(name: str) -> None:
    html = PARTS[name][1].partition("<!--given")[0]
    assert len(gzip.compress(html.encode(), 9)) <= LIMIT


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
    html = PARTS[name][1]
    assert html.count("<table") == html.count("<caption>") > 1
    assert not re.findall(r"<script|\sstyle=|\son\w+=", html)


@every_figure
def test_what_a_script_reads_is_what_is_shown(name: str) -> None:
    found = re.findall(r'<data value="([^"]+)">([^<]+)</data>', PARTS[name][1])
    exact = re.findall(r"<td>\d\.\d\d</td>", PARTS[name][1])
    assert len(found) + len(exact) >= 18
    for value, shown in found:
        decimals = len(shown.partition(".")[2])
        assert f"{float(value):.{decimals}f}" == shown
