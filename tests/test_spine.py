"""Chapter, module, test and reference page share a name, and the order is one order."""

import ast
import doctest
import importlib
import inspect
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import griffe
import pytest
import yaml
from pytest_codeblocks import extract_from_file

import headway
from proofread.pages import programs

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "headway"
MODULES = [
    node.module.removeprefix("headway.")
    for node in ast.parse((SOURCE / "__init__.py").read_text()).body
    if isinstance(node, ast.ImportFrom) and node.module
]
# What one tells of stands in `attention`, the other tells of a package.
CHAPTER_WITHOUT_MODULE = ["dropout", "checks"]
# Below all others, and in no chapter.
PRIVATE = ["_require", "_triangle", "_dropout", "_checkpoints"]
PACKAGES = ["checks"]  # tools for readers: not imported with `headway`
# All chapters work on the first; the second is told of where `attention` is.
MODULE_WITHOUT_CHAPTER = ["examples", "fused"]
# Two types, and the part of `attention_weights` that has no chapter of its own.
ONLY_IN_THE_REFERENCE = {"Example", "AttentionFunction", "masked_softmax"}
WITHOUT_EXAMPLE = {"Example", "AttentionFunction"}  # types


class AnyTag(yaml.SafeLoader):
    """Reads what MkDocs reads, without looking behind its tags."""


AnyTag.add_multi_constructor("", lambda loader, tag, node: None)


def titled(folder: str) -> dict[str, str]:
    """Give the pages of a folder, and their titles, in the order of the nav."""
    nav = yaml.load((ROOT / "mkdocs.yml").read_text(), AnyTag)["nav"]  # noqa: S506

    def leaves(entry: object, title: str = "") -> Iterator[tuple[str, str]]:
        if isinstance(entry, str):
            yield entry, title
        elif isinstance(entry, dict):
            for name, part in entry.items():
                yield from leaves(part, name)
        elif isinstance(entry, list):
            for part in entry:
                yield from leaves(part)

    return {
        Path(page).stem: title
        for page, title in leaves(nav)
        if page.startswith(f"{folder}/")
    }


def pages(folder: str) -> list[str]:
    return [*titled(folder)]


CHAPTERS = pages("walk")


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
    files = {path.stem for path in SOURCE.glob("[!_]*.py")}
    assert set(MODULES) == files
    assert len(MODULES) == len(files)


def test_chapters_and_modules_have_one_order() -> None:
    with_chapter = [m for m in MODULES if m not in MODULE_WITHOUT_CHAPTER]
    with_module = [c for c in CHAPTERS if c not in CHAPTER_WITHOUT_MODULE]
    assert with_module == with_chapter
    assert set(CHAPTER_WITHOUT_MODULE) <= set(CHAPTERS)


def test_reference_and_modules_have_one_order() -> None:
    assert pages("reference") == MODULES + PACKAGES


def test_chapters_are_numbered_in_order() -> None:
    numbers = [title.split(".")[0] for title in titled("walk").values()]
    assert numbers == [str(number) for number in range(1, len(CHAPTERS) + 1)]


@pytest.mark.parametrize(("chapter", "following"), [*itertools.pairwise(CHAPTERS)])
def test_a_chapter_ends_with_a_link_to_the_next(chapter: str, following: str) -> None:
    page = (ROOT / "docs" / "walk" / f"{chapter}.md").read_text()
    last = page.rstrip().splitlines()[-1]
    assert re.fullmatch(rf"\[Next: .+\]\({following}\.md\)", last), last


@pytest.mark.parametrize("folder", ["walk", "reference"])
def test_every_page_is_in_the_nav(folder: str) -> None:
    files = {path.stem for path in (ROOT / "docs" / folder).glob("*.md")}
    assert files == set(pages(folder))


def test_every_module_has_its_test_file() -> None:
    tests = {path.stem for path in (ROOT / "tests").glob("test_*.py")}
    assert {f"test_{module}" for module in MODULES} <= tests


@pytest.mark.parametrize("module", MODULES)
def test_the_reference_page_shows_the_whole_module(module: str) -> None:
    page = (ROOT / "docs" / "reference" / f"{module}.md").read_text()
    assert re.findall(r"^::: (\S+)$", page, re.MULTILINE) == [f"headway.{module}"]
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


@pytest.mark.parametrize("module", MODULES)
def test_no_module_imports_a_later_one(module: str) -> None:
    earlier = MODULES[: MODULES.index(module)]
    for origin, name in imports(ast.parse((SOURCE / f"{module}.py").read_text())):
        if not (origin == "headway" and name in PRIVATE):
            assert origin in {f"headway.{one}" for one in earlier}, (origin, name)


def test_every_private_module_is_known() -> None:
    files = {path.stem for path in SOURCE.glob("_*.py")} - {"__init__"}
    assert files == set(PRIVATE)


@pytest.mark.parametrize("module", PRIVATE)
def test_a_private_module_imports_the_checks_of_input_at_most(module: str) -> None:
    found = imports(ast.parse((SOURCE / f"{module}.py").read_text()))
    assert found <= ({("headway", "_require")} if module != "_require" else set())


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_imports_its_module_and_no_later_one(chapter: str) -> None:
    place = CHAPTERS.index(chapter)
    later = {
        name
        for one in CHAPTERS[place + 1 :]
        if one not in CHAPTER_WITHOUT_MODULE
        for name in public(one)
    }
    found = {
        name
        for block in extract_from_file(ROOT / "docs" / "walk" / f"{chapter}.md")
        if block.syntax == "python"
        for origin, name in imports(ast.parse(block.code))
        if origin == "headway"
    }
    assert found <= set(headway.__all__)
    assert not found & later
    if chapter not in CHAPTER_WITHOUT_MODULE:
        assert found & set(public(chapter))


def test_every_public_name_is_used_in_the_book() -> None:
    used = {
        name
        for page in [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
        for block in extract_from_file(page)
        if block.syntax == "python"
        for _, name in imports(ast.parse(block.code))
    }
    assert set(headway.__all__) - used <= ONLY_IN_THE_REFERENCE


def test_all_is_complete_and_in_reading_order() -> None:
    defined = [name for module in MODULES for name in public(module)]
    assert headway.__all__ == defined
    for module in MODULES:
        origin = importlib.import_module(f"headway.{module}")
        for name in public(module):
            assert getattr(headway, name) is getattr(origin, name)


# Docstrings: complete, and true.


def raising() -> set[str]:
    """List the functions and classes that raise, themselves or by what they call."""
    calls: dict[str, set[str]] = {}
    found = set()
    for path in SOURCE.glob("[!_]*.py"):
        tree = ast.parse(path.read_text())
        owner = {
            member: node.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ClassDef)
            for member in node.body
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                # A class raises if its constructor does.
                name = owner[node] if node.name == "__init__" else node.name
                parts = [*ast.walk(node)]
                called = {part.func for part in parts if isinstance(part, ast.Call)}
                calls[name] = {ast.unparse(part).split(".")[-1] for part in called}
                own = any(isinstance(part, ast.Raise) for part in parts)
                if own or "_require." in ast.unparse(node):
                    found.add(name)
    while more := {name for name, called in calls.items() if called & found} - found:
        found |= more
    return found


PACKAGE = griffe.load("headway", search_paths=[SOURCE.parent])
RAISING = raising()


def documented() -> Iterator[griffe.Function | griffe.Class]:
    """Go through the public functions, classes and methods, as the site does."""
    for module in MODULES:
        for member in PACKAGE[module].members.values():
            if member.is_alias or not member.is_public:
                continue
            if member.is_function or member.is_class:
                yield member
            if member.is_class:
                methods = member.functions.values()
                yield from (m for m in methods if not m.name.startswith("_"))


DOCUMENTED = {one.path.removeprefix("headway."): one for one in documented()}


def test_the_docstrings_of_all_public_names_are_looked_at() -> None:
    names = {name.split(".")[1] for name in DOCUMENTED}
    assert names == set(headway.__all__)


@pytest.mark.parametrize("name", DOCUMENTED)
def test_a_docstring_says_all_there_is_to_say(name: str) -> None:
    one = DOCUMENTED[name]
    assert one.docstring is not None
    sections = {s.kind.value: s.value for s in one.docstring.parse("google")}
    first = one.docstring.value.splitlines()[0]
    assert re.fullmatch(r"[A-Z][^\n]*\.", first), first
    called = one if one.is_function else one.members.get("__init__")
    parameters = [p.name for p in called.parameters] if called else []
    written = [p.name for p in sections.get("parameters", [])]
    assert written == [name for name in parameters if name not in ("self", "cls")]
    if one.is_function and str(one.returns) != "None":
        assert "returns" in sections
    if one.name in RAISING:
        assert "raises" in sections


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_of_a_module_print_what_they_say(module: str) -> None:
    """Read them from the source: the shape checks hide functions from `doctest`."""
    source = (SOURCE / f"{module}.py").read_text()
    origin = importlib.import_module(f"headway.{module}")
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


def test_there_are_programs_to_run() -> None:
    """Else a runner that finds none would be content."""
    counts = {
        page: len(programs((ROOT / page).read_text(encoding="utf-8")))
        for page in [
            "README.md",
            "docs/index.md",
            *(f"docs/walk/{stem}.md" for stem in titled("walk")),
        ]
    }
    assert len(counts) >= 12
    assert min(counts["README.md"], counts["docs/index.md"]) >= 1
    assert min(n for page, n in counts.items() if "/walk/" in page) >= 3
