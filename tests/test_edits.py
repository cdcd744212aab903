"""A change is made where its text stands once, and refused elsewhere."""

import re
from dataclasses import dataclass

import pytest

from headway._edits import Edit


@dataclass(frozen=True)
class Change(Edit):
    """A change with a reason, and perhaps a name."""

    why: str
    name: str = ""


def test_the_text_that_stands_there_once_is_replaced() -> None:
    assert Edit("x * 2", "x * 3").apply("y = x * 2\n", "the solution") == "y = x * 3\n"
    assert Edit("y = ", "").apply("y = x * 2\n", "the solution") == "x * 2\n"


@pytest.mark.parametrize(("old", "times"), [("x * 7", 0), ("x", 2)])
def test_a_text_that_does_not_stand_there_once_is_refused(old: str, times: int) -> None:
    refusal = f"^old must stand once in the solution; got {times} of '{re.escape(old)}'"
    with pytest.raises(ValueError, match=refusal):
        Edit(old, "y").apply("y = x * x\n", "the solution")


def test_a_table_has_the_fields_of_its_change() -> None:
    table = {"old": "a", "new": "b", "why": "c is meant"}
    assert Change.read(table) == Change("a", "b", "c is meant")
    assert Change.read({**table, "name": "d"}).name == "d"


@pytest.mark.parametrize(
    "table",
    [{"old": "a", "new": "b"}, {"old": "a", "new": "b", "why": "c", "where": "d"}],
    ids=["a field too few", "a field too many"],
)
def test_a_table_with_other_fields_is_refused(table: dict[str, str]) -> None:
    refusal = f"a change must have old, new, why; got {table}."
    with pytest.raises(ValueError, match=re.escape(refusal)):
        Change.read(table)
