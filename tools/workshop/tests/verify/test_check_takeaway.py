import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from workshop.folds import LEFT_OUT
from workshop.verify import check_takeaway
from workshop.verify.check_takeaway import is_exact, main
from workshop.verify.takeaway_environment import CannotInstallError
from workshop.website.takeaway.downloads import make

TEXT = """# A page

```python
print(0.5)
```

<!--pytest-codeblocks:expected-output-->

```text
0.5
```
"""
BLOCK = '<div class="language-{} highlight"><pre><code>{}</code></pre></div>'
HTML = (
    "<article>"
    '<a href="a.ipynb" download>Notebook</a> <a href="a.py" download>Program</a>'
    f"{BLOCK.format('python', 'print(0.5)')}{BLOCK.format('text', '0.5')}</article>"
)
REFERENCE = """
[tool.pytest.ini_options]
proofread_reference = ["{}"]
"""


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A book of one page, with its site and what that offers."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "site/a").mkdir(parents=True)
    (tmp_path / "docs/index.md").write_text("# Home\n")
    (tmp_path / "docs/a.md").write_text(TEXT)
    (tmp_path / "site/index.html").write_text("<article></article>")
    (tmp_path / "site/a/index.html").write_text(HTML)
    (tmp_path / "pyproject.toml").write_text("")
    make(tmp_path / "docs", tmp_path / "site", ["a.md"])
    monkeypatch.chdir(tmp_path)
    return tmp_path


Installed = list[tuple[Path, Path, Path | None, Sequence[str]]]


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Installed:
    """What was to be installed; the interpreter is the one of the tests."""
    seen: Installed = []

    def build_wheel(project: Path, folder: Path) -> Path:
        assert folder.is_dir()
        return project / "a.whl"

    def install(
        wheel: Path, folder: Path, constraints: Path | None, options: Sequence[str]
    ) -> Path:
        seen.append((wheel, folder, constraints, options))
        return Path(sys.executable)

    monkeypatch.setattr(check_takeaway, "build_wheel", build_wheel)
    monkeypatch.setattr(check_takeaway, "install", install)
    return seen


def test_all_that_can_be_taken_away_is_run(
    book: Path, installed: Installed, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["docs", "site"]) == 0
    assert capsys.readouterr().out == (
        "1 blocks, 1 notebooks and 1 programs print what their pages show, compared "
        "exactly.\n"
    )
    assert installed == [(Path("a.whl"), Path(".cache/reader"), None, [])]
    options = [
        *("--project", "p", "--environment", "e", "--constraints", "c.txt"),
        *("--pip-options=--pre --quiet", "--compare", "tokens", "--ignore", "x"),
    ]
    assert main([*options, "docs", "site"]) == 0
    assert capsys.readouterr().out.endswith(", compared token by token.\n")
    assert installed[1] == (
        Path("p/a.whl"),
        Path("e"),
        Path("c.txt"),
        ["--pre", "--quiet"],
    )


def test_the_wheel_that_the_site_offers_is_installed_and_no_other(
    book: Path, installed: Installed, capsys: pytest.CaptureFixture[str]
) -> None:
    link = '<link rel="canonical" href="https://example.org/a/">'
    (book / "site/a/index.html").write_text(link + HTML)
    (book / "site/dist").mkdir()
    wheel = book / "site/dist/a-1.whl"
    wheel.write_text("")
    make(book / "docs", book / "site", ["a.md"], wheel="dist/a-1.whl")
    assert main(["docs", "site"]) == 0
    assert installed[0][0] == Path("site/dist/a-1.whl")
    capsys.readouterr()
    wheel.rename(wheel.with_name("a-2.whl"))
    assert main(["docs", "site"]) == 1
    assert (
        capsys.readouterr().out
        == "\n\n".join(
            f"site/a/{name}: it must install dist/a-2.whl; got "
            "https://example.org/dist/a-1.whl"
            for name in ("a.ipynb", "a.py")
        )
        + "\n"
    )
    wheel.write_text("")
    with pytest.raises(SystemExit, match="must offer one wheel"):
        main(["docs", "site"])


@pytest.mark.usefixtures("installed")
def test_what_is_not_as_shown_is_listed(
    book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("docs/a.md", "site/a/index.html", "site/a/a.py", "site/a/a.ipynb"):
        text = (book / name).read_text()
        wrong = re.sub(r"print\(0.5\)", "import warnings; print(0.7 - 0.2)", text)
        (book / name).write_text(wrong)
    assert main(["docs", "site"]) == 1
    found = capsys.readouterr().out
    difference = "number 1: recorded 0.5, printed 0.49999999999999994"
    assert found.count(difference) == 3
    labels = re.findall(r"^(\S.*?): ", found, re.MULTILINE)
    names = ["docs/a.md, a-page", "site/a/a.ipynb", "site/a/a.py"]
    assert [label for label in labels if label in names] == names
    # The same to a reader elsewhere, whose last digit may be another.
    assert main(["docs", "site", "--compare", "tokens"]) == 0


@pytest.mark.usefixtures("installed")
def test_a_notebook_that_is_not_its_page_or_missing_is_listed(
    book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notebook = book / "site/a/a.ipynb"
    notebook.write_text(notebook.read_text().replace("print(0.5)", "print(0.6)"))
    assert main(["docs", "site"]) == 1
    said = capsys.readouterr().out
    assert said.startswith("site/a/a.ipynb: it must hold the programs and ")
    notebook.unlink()
    assert main(["docs", "site"]) == 1
    assert capsys.readouterr().out == (
        "docs/a.md: the file that it offers must exist; got site/a/a.ipynb\n"
    )


def test_a_site_that_shows_something_else_is_not_run(
    book: Path, installed: Installed, capsys: pytest.CaptureFixture[str]
) -> None:
    (book / "site/a/index.html").write_text(HTML.replace(">0.5", ">0.6"))
    assert main(["docs", "site"]) == 1
    assert capsys.readouterr().out == (
        "docs/a.md, line 3: the site shows another output: its line 1 is '0.6' there "
        "and '0.5' here\n"
    )
    assert installed == []


def test_what_is_missing_is_said_in_one_sentence(
    book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["docs", "no-site"])
    assert exit_.value.code == (
        "site must be a built site; got site=no-site. Run `make site` first."
    )

    def fail(project: Path, folder: Path) -> Path:
        raise CannotInstallError("`pip` must succeed; it says:\nno")

    monkeypatch.setattr(check_takeaway, "build_wheel", fail)
    with pytest.raises(SystemExit) as exit_:
        main(["docs", "site"])
    assert exit_.value.code == "`pip` must succeed; it says:\nno"


@pytest.mark.parametrize(
    ("how", "settings", "exact"),
    [
        ("exact", REFERENCE.format("pytest==0"), True),
        ("tokens", "", False),
        ("auto", "", True),
        ("auto", REFERENCE.format("pytest>1"), True),
        ("auto", REFERENCE.format("pytest==0"), False),
    ],
)
def test_where_each_character_counts(
    tmp_path: Path, how: str, settings: str, exact: bool
) -> None:
    (tmp_path / "pyproject.toml").write_text(settings)
    assert is_exact(how, tmp_path) is exact


UNSEEN = f"""
??? example "{LEFT_OUT}"
    ```python
    print(0.25)
    ```

    <!--pytest-codeblocks:expected-output-->

    ```text
    0.25
    ```
"""


@pytest.mark.usefixtures("installed")
def test_what_the_site_leaves_out_is_run_and_counted(
    book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (book / "docs/a.md").write_text(TEXT + UNSEEN)
    make(book / "docs", book / "site", ["a.md"])
    assert main(["docs", "site"]) == 0
    assert capsys.readouterr().out == (
        "1 blocks and 1 that only notebooks have, 1 notebooks and 1 programs print "
        "what their pages show, compared exactly.\n"
    )
    wrong = (TEXT + UNSEEN).replace("    0.25\n", "    0.5\n")
    (book / "docs/a.md").write_text(wrong)
    make(book / "docs", book / "site", ["a.md"])
    assert main(["docs", "site"]) == 1
    assert capsys.readouterr().out.count("number 1: recorded 0.5, printed 0.25") == 2


@pytest.mark.usefixtures("installed")
def test_a_page_that_leaves_programs_out_must_offer_its_notebook(
    book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (book / "docs/a.md").write_text(TEXT + UNSEEN)
    make(book / "docs", book / "site", ["a.md"])
    html = (book / "site/a/index.html").read_text()
    (book / "site/a/index.html").write_text(html.replace('"a.ipynb" download', '""'))
    assert main(["docs", "site"]) == 1
    assert capsys.readouterr().out == (
        "docs/a.md: the site leaves out programs of this page, so it must offer its "
        "notebook\n"
    )
