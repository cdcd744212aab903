"""Chapter, module, test and reference page share a name, and the order is one order."""

import ast
import doctest
import importlib
import inspect
import os
import re
from pathlib import Path

import pytest
from pytest_codeblocks import extract_from_file

import headway
from pytest_proofread.page.markdown import programs
from tests.support.book_nav import chapters, next_chapter, numbered_chapters, titles

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "headway"
# Modules and chapters are named by their path: basics/masks is
# src/headway/basics/masks.py and docs/basics/masks.md.
MODULES = [
    node.module.removeprefix("headway.").replace(".", "/")
    for node in ast.parse((SOURCE / "_names.py").read_text()).body
    if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("headway.")
]
TOOLS = ["checks", "practice"]  # for readers: not imported with `headway`
COMMAND = "cli"  # what a terminal calls; it hands on to the tools
# About the tools, and no module.
TABLES = ["ids", "stability", "published_models"]
PARTS = [
    path.name
    for path in SOURCE.iterdir()
    if path.name not in TOOLS and [*path.glob("*.py")]
]
# They are about an argument of `attention`, and a tool.
CHAPTER_WITHOUT_MODULE = ["basics/scaling", "basics/checks"]
# All chapters work on the first; the others are explained in a neighbour's chapter.
MODULE_WITHOUT_CHAPTER = [
    "examples",
    "basics/fused",
    "basics/causal_attention",
    "basics/stacked_heads",
    "distributed/launch",
]
# Three types, and the part of `attention_weights` that has no chapter of its own.
ONLY_IN_THE_REFERENCE = {"Example", "AttentionFunction", "Cache", "masked_softmax"}
WITHOUT_EXAMPLE = {"Example", "AttentionFunction", "Cache"}  # types


TITLES = {page.removesuffix(".md"): title for page, title in titles().items()}
CHAPTERS = chapters()
NUMBERED = numbered_chapters()
REFERENCE = [
    page.removeprefix("reference/") for page in TITLES if page.startswith("reference/")
]


def public(module: str) -> list[str]:
    """List the functions and classes that a module defines for others, in order."""
    tree = ast.parse((SOURCE / f"{module}.py").read_text())
    return [
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and not node.name.startswith("_")
    ]


def test_every_module_is_in_the_book() -> None:
    paths = [
        *SOURCE.glob("[!_]*.py"),
        *(p for part in PARTS for p in (SOURCE / part).glob("[!_]*.py")),
    ]
    files = {path.relative_to(SOURCE).with_suffix("").as_posix() for path in paths}
    assert set(MODULES) == files - {COMMAND}
    assert len(MODULES) == len({*MODULES})


def test_chapters_and_modules_have_one_order() -> None:
    with_chapter = [m for m in MODULES if m not in MODULE_WITHOUT_CHAPTER]
    with_module = [c for c in CHAPTERS if c not in CHAPTER_WITHOUT_MODULE]
    in_order = [module for module in with_chapter if module in NUMBERED]
    assert [c for c in with_module if c in NUMBERED] == in_order
    assert {*with_module} == {*with_chapter}
    assert set(CHAPTER_WITHOUT_MODULE) <= set(CHAPTERS)


def test_reference_and_modules_have_one_order() -> None:
    assert REFERENCE == MODULES + TOOLS + TABLES


@pytest.mark.parametrize("part", PARTS)
def test_chapters_are_numbered_in_order(part: str) -> None:
    order = [*dict.fromkeys(chapter.partition("/")[0] for chapter in NUMBERED)]
    own = [TITLES[one] for one in NUMBERED if one.startswith(f"{part}/")]
    number = order.index(part) + 1
    expected = [f"{number}.{place}" for place in range(1, len(own) + 1)]
    assert [title.split()[0] for title in own] == expected


@pytest.mark.parametrize("chapter", [one for one in CHAPTERS if next_chapter(one)])
def test_a_chapter_ends_with_a_link_to_the_next(chapter: str) -> None:
    following = next_chapter(chapter)
    page = (ROOT / "docs" / f"{chapter}.md").read_text()
    last = page.rstrip().splitlines()[-1]
    address = os.path.relpath(f"{following}.md", Path(chapter).parent)
    assert re.fullmatch(rf"\[Next: .+\]\({re.escape(address)}\)", last), last


def test_every_module_has_its_test_file() -> None:
    for module in MODULES:
        path = Path(module)
        assert (ROOT / "tests" / path.parent / f"test_{path.name}.py").is_file()


@pytest.mark.parametrize("module", MODULES)
def test_the_reference_page_shows_the_whole_module(module: str) -> None:
    page = (ROOT / "docs" / "reference" / f"{module}.md").read_text()
    assert re.findall(r"^::: (\S+)$", page, re.MULTILINE) == [
        f"headway.{module.replace('/', '.')}"
    ]
    assert "members:" not in page
    assert "filters:" not in page


def imports(tree: ast.AST) -> set[tuple[str, str]]:
    """List what is imported from the package, as (module, name)."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = {alias.name for alias in node.names}
            found |= {(n, "") for n in names if n.split(".")[0] == "headway"}
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            if module.split(".")[0] in ("headway", ""):
                found |= {(module, alias.name) for alias in node.names}
    return found


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_imports_its_module_and_no_later_one(chapter: str) -> None:
    # What has no number can be read at any time.
    place = NUMBERED.index(chapter) if chapter in NUMBERED else len(NUMBERED)
    later = {
        name
        for one in NUMBERED[place + 1 :]
        if one not in CHAPTER_WITHOUT_MODULE
        for name in public(one)
    }
    found = {
        name
        for block in extract_from_file(ROOT / "docs" / f"{chapter}.md")
        if block.syntax == "python"
        for origin, name in imports(ast.parse(block.code))
        if origin == "headway"
    }
    assert found <= set(headway.__all__)
    assert not found & later
    if chapter not in CHAPTER_WITHOUT_MODULE:
        assert found & set(public(chapter))


def programs_in(code: str) -> list[str]:
    """Find the programs that a program starts in other processes."""
    return [
        node.value
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.value.startswith("\nimport ")
    ]


def test_every_public_name_is_used_in_the_book() -> None:
    used = {
        name
        for page in [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
        for block in extract_from_file(page)
        if block.syntax == "python"
        for program in [block.code, *programs_in(block.code)]
        for _, name in imports(ast.parse(program))
    }
    assert set(headway.__all__) - used <= ONLY_IN_THE_REFERENCE


def test_all_is_complete_and_in_reading_order() -> None:
    defined = [name for module in MODULES for name in public(module)]
    assert headway.__all__ == defined
    for module in MODULES:
        origin = importlib.import_module(f"headway.{module.replace('/', '.')}")
        for name in set(public(module)):
            assert getattr(headway, name) is getattr(origin, name)


# Examples in docstrings: true, and there.


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_of_a_module_print_what_they_say(module: str) -> None:
    """Read them from the source: the shape checks hide functions from `doctest`."""
    source = (SOURCE / f"{module}.py").read_text()
    origin = importlib.import_module(f"headway.{module.replace('/', '.')}")
    found = 0
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
            continue
        text = ast.get_docstring(node) or ""
        name = getattr(node, "name", module)
        test = doctest.DocTestParser().get_doctest(
            text, dict(vars(origin)), name, module, 0
        )
        report: list[str] = []
        result = doctest.DocTestRunner().run(test, out=report.append)
        assert result.failed == 0, "".join(report)
        found += result.attempted
    assert found == len(re.findall(r"^\s*>>> ", source, re.MULTILINE))


def test_public_names_have_an_example() -> None:
    without = {
        name
        for name in headway.__all__
        if ">>>" not in (inspect.getdoc(getattr(headway, name)) or "")
    }
    assert without <= WITHOUT_EXAMPLE


def test_no_program_writes_where_it_is_run() -> None:
    # A reader pastes it into a folder of their own, which has a pyproject.toml.
    for page in sorted((ROOT / "docs").rglob("*.md")):
        for one in extract_from_file(page):
            if re.search(r"write_text\(|write_bytes\(|open\([^)]*[\"']w", one.code):
                assert "tempfile" in one.code, f"{page.name}: {one.code[:80]}"


def test_there_are_programs_to_run() -> None:
    """Else a runner that finds none would be content."""
    counts = {
        page: len(programs((ROOT / page).read_text(encoding="utf-8")))
        for page in [
            "README.md",
            "docs/index.md",
            *(f"docs/{chapter}.md" for chapter in CHAPTERS),
        ]
    }
    assert len(counts) >= 12
    assert min(counts["README.md"], counts["docs/index.md"]) >= 1
    assert min(counts[f"docs/{chapter}.md"] for chapter in CHAPTERS) >= 3
