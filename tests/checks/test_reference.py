"""What readers are told of `headway.checks` is complete, and true."""

import doctest
import inspect
import subprocess
import sys
from pathlib import Path

import griffe
import pytest

import headway
from headway import checks
from headway.checks.attention import run

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


def test_it_is_imported_when_it_is_asked_for() -> None:
    """And not before: `import headway` alone must not take longer for it."""
    code = "import headway, sys; print('headway.checks' in sys.modules); " + (
        "print(headway.checks.check.__name__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\ncheck\n"
    assert headway.__getattr__("checks") is checks
    with pytest.raises(AttributeError, match="'headway' has no attribute 'cheks'"):
        headway.cheks  # noqa: B018


def test_the_example_prints_what_it_says() -> None:
    text = inspect.getdoc(checks.check) or ""
    names = dict(vars(run))
    test = doctest.DocTestParser().get_doctest(text, names, "check", None, 0)
    report: list[str] = []
    result = doctest.DocTestRunner().run(test, out=report.append)
    assert result.failed == 0, "".join(report)
    assert result.attempted == 2
