"""Mistakes stand in a file beside an exercise; a sentence says what is wrong there."""

from pathlib import Path

import pytest

from headway.practice.proof.prove import prove
from headway.practice.task.definition import Wrong
from headway.practice.task.library import Library
from headway.practice.task.mistakes import read_mistakes
from headway.practice.task.refused import RefusedError
from tests.practice.small import small_set

TEXT = """\
# it is three times as much
- x * 2
+ x * 3
@hint Count again.

# both lines change, and an empty one goes
- y = x * 2
-
-     return y
+ y = x
+     # of a comment
+     return y - 1
@exhibit pieces/#x
@same_as it is lost
# nothing is left
- x
@alone
# all of it is another
+     return x
"""
HOLE = "    y = x * 2\n    return y\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "double.mistakes"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_mistake_has_what_its_lines_say(tmp_path: Path) -> None:
    assert read_mistakes(written(tmp_path, TEXT), HOLE) == [
        Wrong("x * 2", "x * 3", "it is three times as much", hint="Count again."),
        Wrong(
            "y = x * 2\n\n    return y",
            "y = x\n    # of a comment\n    return y - 1",
            "both lines change, and an empty one goes",
            exhibit="pieces/#x",
            same_as="it is lost",
        ),
        Wrong("x", "", "nothing is left", alone=True),
        Wrong("    y = x * 2\n    return y", "    return x", "all of it is another"),
    ]
    assert read_mistakes(written(tmp_path, ""), HOLE) == []


@pytest.mark.refusal
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "\n- x\n+ y\n",
            "double.mistakes, line 2: the first line must be a sentence, behind #; got "
            "'- x'.",
        ),
        (
            "# it is lost\n- x\n  + y\n",
            "double.mistakes, line 3: a line must begin with one of #, -, +, @exhibit, "
            "@hint, @same_as, @alone; got '  + y'.",
        ),
        (
            "# it is lost\n- x\n@alone now\n",
            "double.mistakes, line 3: a line must begin with one of #, -, +, @exhibit, "
            "@hint, @same_as, @alone; got '@alone now'.",
        ),
        (
            "# it is lost\n- x\n# it is doubled\n",
            "double.mistakes: a mistake must have a line - or +; got it is doubled.",
        ),
    ],
)
def test_a_line_that_belongs_to_no_mistake_is_refused(
    tmp_path: Path, text: str, sentence: str
) -> None:
    with pytest.raises(RefusedError) as refusal:
        read_mistakes(written(tmp_path, text), HOLE)
    assert str(refusal.value) == sentence


def test_they_come_behind_those_of_the_exercise_and_are_proved(tmp_path: Path) -> None:
    task = small_set(tmp_path)["double"]
    before = [*task.exercise.wrong]
    assert task.files == [task.path]
    path = task.path.with_suffix(".mistakes")
    path.write_text("# it is four times as much\n- x * 2\n+ x * 4\n", encoding="utf-8")
    task = Library(tmp_path)["double"]
    assert task.files == [task.path, path]
    more = Wrong("x * 2", "x * 4", "it is four times as much")
    assert task.exercise.wrong == [*before, more]
    assert prove(task).ok
