"""What readers are told of `headway.checks` is complete, and true."""

import doctest
import inspect
import re
from pathlib import Path

import griffe
import pytest

from headway import checks
from headway.checks import run

ROOT = Path(__file__).parents[2]
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
    one = one.final_target if one.is_alias else one
    members = [] if one.is_function else one.members.values()
    public = [m for m in members if m.is_function and not m.name.startswith("_")]
    for described in [one, *public]:
        first = described.docstring.value.splitlines()[0]
        assert re.fullmatch(r"[A-Z][^\n]*\.", first), first


def test_the_example_prints_what_it_says() -> None:
    text = inspect.getdoc(checks.check) or ""
    names = dict(vars(run))
    test = doctest.DocTestParser().get_doctest(text, names, "check", None, 0)
    report: list[str] = []
    result = doctest.DocTestRunner().run(test, out=report.append)
    assert result.failed == 0, "".join(report)
    assert result.attempted == 2
