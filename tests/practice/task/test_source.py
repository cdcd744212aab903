"""The file of an exercise is cut into what the reader gets and what is right."""

import pytest

from headway.practice.task.source import BEGIN, END, FILLED, HOLE, cut
from tests.practice.small import DOUBLE


def test_the_stub_is_the_solution_with_a_hole() -> None:
    source = cut(DOUBLE)
    assert "x * 2" in source.solution
    assert "x * 2" not in source.stub
    assert source.stub.count("raise NotImplementedError") == 1
    compile(source.stub, "stub", "exec")


def test_the_docstring_is_title_and_task() -> None:
    source = cut(DOUBLE)
    assert source.title == "Twice as much"
    assert source.text == "Write `double(x)`: each number twice as large."


def test_the_example_is_a_program_and_what_it_prints() -> None:
    assert cut(DOUBLE).example == (
        "print(double(torch.tensor([1.5])))",
        "tensor([3.])",
    )


def test_other_lines_are_indented_as_the_hole_is() -> None:
    program = cut(DOUBLE).filled_with("\n        if True:\n            return x + x\n")
    assert "\n    if True:\n        return x + x\n" in program
    compile(program, "filled", "exec")


@pytest.mark.parametrize("marker", [BEGIN, HOLE, FILLED, END])
def test_a_marker_that_is_missing_is_named(marker: str) -> None:
    with pytest.raises(ValueError, match=f"one line '{marker}'; got 0 of them"):
        cut(DOUBLE.replace(marker, ""))


def test_markers_stand_in_their_order() -> None:
    mixed = DOUBLE.replace(HOLE, "@").replace(FILLED, HOLE).replace("@", FILLED)
    with pytest.raises(ValueError, match="must stand in their order"):
        cut(mixed)


def test_an_exercise_begins_with_a_docstring() -> None:
    with pytest.raises(ValueError, match="must begin with a docstring"):
        cut(DOUBLE.replace('"""Twice as much', '_ = """Twice as much'))
