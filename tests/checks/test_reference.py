"""What readers are told of `headway.checks` is complete, and true."""

import doctest
import inspect
import re
from pathlib import Path

import griffe
import pytest

from headway import checks
from headway.checks import checking
from headway.checks.report import CHAPTERS

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "headway" / "checks"
PACKAGE = griffe.load("headway.checks", search_paths=[ROOT / "src"])


def sections(name: str) -> dict[str, object]:
    docstring = PACKAGE[name].docstring
    assert docstring is not None
    return {section.kind.value: section.value for section in docstring.parse("google")}


def test_all_arguments_are_explained_in_order() -> None:
    written = [one.name for one in sections("check")["parameters"]]
    assert written == [*inspect.signature(checks.check).parameters]
    assert {"returns", "raises", "examples"} <= sections("check").keys()


@pytest.mark.parametrize("name", ["Report", "Row"])
def test_all_attributes_are_explained_in_order(name: str) -> None:
    written = [one.name for one in sections(name)["attributes"]]
    assert written == [*inspect.signature(getattr(checks, name)).parameters]


@pytest.mark.parametrize("name", checks.__all__)
def test_every_public_name_has_its_docstrings(name: str) -> None:
    one = PACKAGE[name]
    members = [] if one.is_function else one.members.values()
    public = [m for m in members if m.is_function and not m.name.startswith("_")]
    for described in [one, *public]:
        first = described.docstring.value.splitlines()[0]
        assert re.fullmatch(r"[A-Z][^\n]*\.", first), first


def test_the_example_prints_what_it_says() -> None:
    text = inspect.getdoc(checks.check) or ""
    names = dict(vars(checking))
    test = doctest.DocTestParser().get_doctest(text, names, "check", None, 0)
    report: list[str] = []
    result = doctest.DocTestRunner().run(test, out=report.append)
    assert result.failed == 0, "".join(report)
    assert result.attempted == 2


def test_the_chapters_are_those_of_the_book() -> None:
    nav = (ROOT / "mkdocs.yml").read_text("utf-8")
    titles = dict(
        re.findall(r"^ +- (?=\d+\. )(.+): basics/(\w+)\.md$", nav, re.MULTILINE)
    )
    titles = {stem: title for title, stem in titles.items()}
    assert {stem: titles[stem] for stem in CHAPTERS} == CHAPTERS
    assert {stem for _, _, stem in checking.PROPERTIES} <= CHAPTERS.keys()


def test_the_order_of_reading_names_every_module() -> None:
    comment = re.search(
        r"^# In the order.*?\n\n", Path(checks.__file__).read_text(), re.M | re.S
    )
    assert comment is not None
    named = re.findall(r"`(\w+)`", comment[0])
    assert sorted(named) == sorted(path.stem for path in SOURCE.glob("[!_]*.py"))


def test_a_module_imports_only_what_is_read_before_it() -> None:
    named = re.findall(
        r"`(\w+)`", Path(checks.__file__).read_text().partition("from ")[0]
    )
    for place, module in enumerate(named):
        text = (SOURCE / f"{module}.py").read_text("utf-8")
        used = set(re.findall(r"^from headway\.checks\.(\w+) import", text, re.M))
        for line in re.findall(r"^from headway\.checks import (.+)$", text, re.M):
            used |= set(line.split(", "))
        assert used <= set(named[:place]), (module, used - set(named[:place]))
