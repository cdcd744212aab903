"""What readers are told of `headway.checks` is complete, and true."""

import doctest
import inspect
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


def test_the_example_prints_what_it_says() -> None:
    text = inspect.getdoc(checks.check) or ""
    names = dict(vars(run))
    test = doctest.DocTestParser().get_doctest(text, names, "check", None, 0)
    report: list[str] = []
    result = doctest.DocTestRunner().run(test, out=report.append)
    assert result.failed == 0, "".join(report)
    assert result.attempted == 2
