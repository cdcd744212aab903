import json
import subprocess
import sys
from pathlib import Path, PurePosixPath

import pytest

from workshop.verify.notebook_cells import code_cells
from workshop.website.paths import addresses, built_page
from workshop.website.takeaway.downloads import (
    main,
    make,
    make_from_notebooks,
    make_from_programs,
)

URL = "https://example.org/book/"
CANONICAL = '<head><link rel="canonical" href="{}"></head>'


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A book of two chapters, and the site that was built of it, at an address."""
    docs, site = tmp_path / "docs", tmp_path / "site"
    for folder in (docs / "walk", docs / "labs", site / "walk"):
        folder.mkdir(parents=True)
    (docs / "index.md").write_text("# Home\n")
    (docs / "labs/look.py").write_text("")
    (docs / "walk/a.md").write_text("# A\n\n[B](b.md#x)\n\n```python\nprint(1)\n```\n")
    (docs / "walk/b.md").write_text("# B\n\n[home](../index.md)\n")
    for page in ("", "walk/a/", "walk/b/", "labs/look/"):
        (site / page).mkdir(exist_ok=True, parents=True)
        (site / page / "index.html").write_text(CANONICAL.format(URL + page))
    return tmp_path


def sources(path: Path) -> str:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "\n---\n".join("".join(cell["source"]) for cell in cells)


# ---- Where things are ----


def test_the_page_of_a_source_is_found_in_either_layout(tmp_path: Path) -> None:
    made = ("index.html", "a/index.html", "walk/index.html", "walk/b.html")
    for name in made:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    names = ("index.md", "a.md", "walk/README.md", "walk/b.md")
    for source, html in zip(names, made, strict=True):
        assert built_page(PurePosixPath(source), tmp_path) == tmp_path / html
    assert built_page(PurePosixPath("walk/absent.md"), tmp_path) is None
    assert built_page(PurePosixPath("walk/c/index.md"), tmp_path) is None


@pytest.mark.parametrize(
    ("target", "address"),
    [
        ("https://elsewhere.org/x", "https://elsewhere.org/x"),
        ("mailto:a@b.c", "mailto:a@b.c"),
        ("//elsewhere.org/x", "//elsewhere.org/x"),
        ("", f"{URL}walk/a/"),
        ("#here", f"{URL}walk/a/#here"),
        ("b.md", f"{URL}walk/b/"),
        ("b.md#x", f"{URL}walk/b/#x"),
        ("../index.md#x", f"{URL}#x"),
        ("../labs/look.py", f"{URL}labs/look/"),
        ("../assets/a.png", f"{URL}assets/a.png"),
        ("/root", "https://example.org/root"),
    ],
)
def test_a_link_gets_the_address_of_the_site(
    book: Path, target: str, address: str
) -> None:
    find = addresses(PurePosixPath("walk/a.md"), book / "site")
    assert find(target) == address


def test_a_link_of_a_site_of_plain_files(tmp_path: Path) -> None:
    (tmp_path / "walk").mkdir()
    for name in ("index", "walk/a", "walk/b"):
        page = tmp_path / f"{name}.html"
        page.write_text(CANONICAL.format(f"{URL}{name}.html?a&amp;b"))
    find = addresses(PurePosixPath("walk/a.md"), tmp_path)
    assert find("b.md#x") == f"{URL}walk/b.html#x"
    assert find("../index.md") == URL
    assert find("") == f"{URL}walk/a.html?a&b"


def test_without_an_address_only_links_to_elsewhere_have_one(book: Path) -> None:
    (book / "site/walk/a/index.html").write_text("<head></head>")
    for source in ("walk/a.md", "walk/absent.md"):
        find = addresses(PurePosixPath(source), book / "site")
        assert [find("b.md"), find("#x"), find("")] == [None] * 3
        assert find("https://elsewhere.org") == "https://elsewhere.org"


# ---- What is made ----


def test_both_files_stand_next_to_the_page(book: Path) -> None:
    made = make(book / "docs", book / "site", ["walk/*.md"], note="Install `it`.")
    names = ["a/a.ipynb", "a/a.py", "b/b.ipynb", "b/b.py"]
    assert made == [book / "site/walk" / name for name in names]
    assert sources(made[0]) == (
        f"This was made from the page <{URL}walk/a/>.\nInstall `it`.\n---\n"
        f"# A\n\n[B]({URL}walk/b/#x)\n---\nprint(1)"
    )
    assert made[3].read_text() == (
        "# %% [markdown]\n"
        f"# This was made from the page <{URL}walk/b/>.\n# Install `it`.\n\n"
        f"# %% [markdown]\n# # B\n#\n# [home]({URL})\n"
    )


def test_without_address_and_note_the_page_comes_first(book: Path) -> None:
    (book / "site/walk/a/index.html").write_text("")
    made = make(book / "docs", book / "site", ["walk/a.md"])
    assert sources(made[0]) == "# A\n\nB\n---\nprint(1)"


def test_where_the_site_has_a_wheel_the_first_code_installs_it(book: Path) -> None:
    wheel = "dist/a-1-py3-none-any.whl"
    arguments = (book / "docs", book / "site", ["walk/a.md"])
    (made, program) = make(*arguments, note="A note.", wheel=wheel)
    origin = f"This was made from the page <{URL}walk/a/>."
    install = f"%pip install --quiet {URL}{wheel}"
    assert sources(made).startswith(f"{origin}\n---\n{install}\n---\n# A\n")
    (first, *_) = code_cells(made)
    assert "".join(first["source"]) == "print(1)"
    assert f"# %%\n# {install}\n\n# %% [markdown]\n# # A\n" in program.read_text()
    compile(program.read_text(), "a.py", "exec")
    (made, _) = make(book / "docs", book / "site", ["index.md"], wheel=wheel)
    assert f"\n---\n{install}\n---\n" in sources(made)


def test_a_wheel_without_an_address_cannot_be_installed(book: Path) -> None:
    (book / "site/walk/a/index.html").write_text("")
    arguments = (book / "docs", book / "site", ["walk/a.md"])
    (made, _) = make(*arguments, note="A note.", wheel="dist/a.whl")
    assert sources(made).startswith("A note.\n---\n# A\n")


LAB = """# %% [markdown]
# # A lab, with [a page](../../walk/a/)

# %%
print(1)
"""


def test_a_page_that_is_a_notebook_is_taken_away_as_it_is(book: Path) -> None:
    (book / "docs/labs/look.py").write_text(LAB)
    folders, options = (book / "docs", book / "site"), {"note": "A note."}
    [made] = make_from_notebooks(*folders, ["labs/*.py"], **options)
    assert made == book / "site/labs/look/look.ipynb"
    assert sources(made) == (
        f"This was made from the page <{URL}labs/look/>.\nA note.\n---\n"
        f"# A lab, with [a page]({URL}walk/a/)\n---\nprint(1)"
    )
    options["wheel"] = "dist/a-1-py3-none-any.whl"
    [made] = make_from_notebooks(*folders, ["labs/*.py"], **options)
    assert f"\n---\n%pip install --quiet {URL}{options['wheel']}\n" in sources(made)
    (book / "site/labs/look/index.html").write_text("")
    [made] = make_from_notebooks(*folders, ["labs/*.py"], **options)
    assert sources(made) == "A note.\n---\n# A lab, with a page\n---\nprint(1)"


def test_a_notebook_without_a_page_is_said(book: Path) -> None:
    (book / "site/labs/look/index.html").unlink()
    with pytest.raises(ValueError, match=r"must have each page .* labs/look\.py"):
        make_from_notebooks(book / "docs", book / "site", ["labs/*.py"])


def test_a_program_about_a_section_becomes_a_notebook_beside_its_page(
    book: Path,
) -> None:
    programs = book / "programs"
    (programs / "walk/a").mkdir(parents=True)
    cells = "# %% [markdown]\n# See [B](b.md#x).\n\n# %%\nprint(1)\n"
    (programs / "walk/a/first.py").write_text(cells)
    site, options = book / "site", {"note": "A note."}
    [made] = make_from_programs(programs, site, **options)
    assert made == site / "walk/a/first.ipynb"
    origin = f"This was made from the page <{URL}walk/a/#first>."
    see = f"See [B]({URL}walk/b/#x).\n---\nprint(1)"
    assert sources(made) == f"{origin}\nA note.\n---\n{see}"
    options["wheel"] = "dist/a-1-py3-none-any.whl"
    [made] = make_from_programs(programs, site, **options)
    install = f"%pip install --quiet {URL}{options['wheel']}"
    assert sources(made) == f"{origin}\n---\n{install}\n---\n{see}"


def test_a_program_without_a_page_and_a_folder_without_programs(book: Path) -> None:
    programs = book / "programs"
    with pytest.raises(ValueError, match="must be a folder of programs; got"):
        make_from_programs(programs, book / "site")
    (programs / "walk/c").mkdir(parents=True)
    (programs / "walk/c/first.py").write_text("")
    with pytest.raises(ValueError, match=r"be about a page of .*; got no walk/c\.md\."):
        make_from_programs(programs, book / "site")


def test_pictures_come_from_the_folders_that_are_named(book: Path) -> None:
    (book / "docs/walk/a.md").write_text('--8<-- "a.svg"\n')
    for number in "12":
        (book / number).mkdir()
    (book / "2/a.svg").write_text('<svg aria-label="Ö"/>', encoding="utf-8")
    folders = [book / "1", book / "2"]
    made = make(book / "docs", book / "site", ["walk/a.md"], folders=folders)
    assert "![Ö](attachment:a.svg)" in sources(made[0])
    assert "# Picture: Ö\n" in made[1].read_text(encoding="utf-8")


def test_what_cannot_be_made(book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    docs, site = book / "docs", book / "site"
    (docs / "walk/a.md").write_text('--8<-- "a.svg"\n')
    assert main([str(docs), str(site), "--pages", "talk/*.md"]) == 1
    assert main([str(docs), str(site), "--pages", "walk/a.md"]) == 1
    (docs / "walk/new.md").write_text("")
    assert main([str(docs), str(site), "--pages", "walk/n*.md"]) == 1
    assert capsys.readouterr().err.splitlines() == [
        f"pages must name a page in {docs}; got pages=['talk/*.md'].",
        f"{docs / 'walk/a.md'}: an included file must exist; got a.svg.",
        f"{site} must have each page of {docs}; got no walk/new.md.",
    ]


def test_the_command(book: Path) -> None:
    (book / "docs/walk/a.md").write_text('--8<-- "a.svg"\n')
    (book / "a.svg").write_text("<svg/>")
    options = ["--pages", "walk/*.md", "--include", str(book), "--note", "A note."]
    command = [sys.executable, "-m", "workshop", "takeaway", *options]
    done = subprocess.run([*command, "docs", "site"], cwd=book, capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert "A note." in sources(book / "site/walk/a/a.ipynb")
    assert "attachment:a.svg" in sources(book / "site/walk/a/a.ipynb")
    assert (book / "site/walk/b/b.py").is_file()
    for file in (book / "site").glob("**/*.ipynb"):
        file.unlink()
    # Without a pattern it takes all pages.
    (book / "docs/walk/a.md").write_text("# A\n")
    assert main([str(book / "docs"), str(book / "site")]) == 0
    assert (book / "site/index.ipynb").is_file()
    assert sources(book / "site/walk/b/b.ipynb").startswith("This was made ")
    assert "A note." not in sources(book / "site/walk/b/b.ipynb")
