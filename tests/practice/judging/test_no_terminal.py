"""What a terminal is needed for is said in one sentence."""

import builtins
import pdb
import sys

import pytest

from headway.practice.judging.no_terminal import judge_without_terminal
from headway.practice.terminal.folder import Folder
from tests.practice.terminal.test_folder import write


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("breakpoint()", "breakpoint()"),
        ("import pdb; pdb.set_trace()", "pdb.set_trace()"),
        ("input('x? ')", "input()"),
    ],
)
def test_what_needs_a_terminal_is_told(folder: Folder, line: str, name: str) -> None:
    double = folder.library["double"]
    path = write(folder, "double", f"{line}; return x + x")
    verdict = judge_without_terminal(double, path, seed=3)
    assert (verdict.state, verdict.seed) == ("failed", 3)
    assert verdict.read == double.exercise.read
    assert verdict.sentence == (
        f"{name} needs a terminal of its own: run python 01_double.py, which calls "
        "what you wrote, and take that line out to be judged."
    )
    lines = [one.strip() for one in verdict.traceback.splitlines()]
    assert [lines[0][-9:], lines[1:]] == ["in double", [f"{line}; return x + x"]]


def test_a_file_without_such_lines_is_judged_and_all_is_as_it_was(
    folder: Folder,
) -> None:
    before = sys.breakpointhook, pdb.set_trace, builtins.input
    path = write(folder, "double", "return x + x")
    assert judge_without_terminal(folder.library["double"], path).ok
    assert (sys.breakpointhook, pdb.set_trace, builtins.input) == before


def test_code_that_catches_errors_does_not_catch_it(folder: Folder) -> None:
    lines = "try: input()\n    except Exception: pass\n    return x + x"
    path = write(folder, "double", lines)
    verdict = judge_without_terminal(folder.library["double"], path)
    assert verdict.sentence.startswith("input() needs a terminal of its own")
