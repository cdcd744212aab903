"""Each chapter ends alike, and the key to its question follows from a program."""

import ast
import itertools
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from headway._edits import Edit
from headway.practice.task.library import book
from pytest_proofread.page.markdown import fences, outside, programs, skipped
from tests.support.book_nav import chapters, next_chapter
from workshop.changed_modules.kept import Kept
from workshop.generator_support import run_program

DOCS = Path(__file__).parents[2] / "docs"
CHAPTERS = chapters()
PREDICT, BEHIND = "**Predict.** ", "The program behind the choices"
WRITE, SOLUTION = "Write: ", "A solution"
FOLD = re.compile(r'( *)\?\?\?\+? ([\w-]+) "(.*)"')
COMMENT = re.compile(r"<!--.*?-->")


class Fold(NamedTuple):
    """A box that is folded: the line of its title, and what stands in it."""

    line: int
    kind: str
    title: str
    text: str


def folds(text: str) -> list[Fold]:
    """Return the folds of a text that stand in no other, in their order."""
    lines = text.split("\n")
    bare = outside(text, fences(text))
    found = []
    for number, line in bare.items():
        if not (title := FOLD.fullmatch(line)) or title[1]:
            continue
        rest = itertools.takewhile(lambda one: one[:4].strip() == "", lines[number:])
        inside = "\n".join(one[4:] for one in rest)
        found.append(Fold(number, title[2], title[3], inside))
    return found


def section(text: str, title: str) -> str:
    """Return what stands under a heading of the second level."""
    bare = outside(text, fences(text))
    heads = [number for number, line in bare.items() if line.startswith("## ")]
    for start, end in itertools.pairwise([*heads, len(text.split("\n")) + 1]):
        if bare[start] == f"## {title}":
            return "\n".join(text.split("\n")[start : end - 1])
    return ""


# ---- A question to predict ---------------------------------------------------------


def constants(node: ast.AST) -> list[str]:
    """Return the strings that a piece of a program is written with."""
    found = [one.value for one in ast.walk(node) if isinstance(one, ast.Constant)]
    return [value for value in found if isinstance(value, str)]


def is_typed(code: str) -> bool:
    """Say whether a program is written with its answer instead of finding it."""
    tree = ast.parse(code)
    if any(re.search(r"right: *[A-D]\b", text) for text in constants(tree)):
        return True
    letters = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Constant)
        and re.fullmatch("[A-D]", str(node.value.value))
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and any("right" in s for s in constants(call)):
            parts = [*call.args, *(keyword.value for keyword in call.keywords)]
            names = {
                n.id for p in parts for n in ast.walk(p) if isinstance(n, ast.Name)
            }
            if not names - letters:
                return True
    return False


def wrong_choice(fold: Fold, letter: str, printed: list[str]) -> Iterator[str]:
    """Find what is wrong with one of the choices."""
    values = re.findall(r"`([^`]+)`", fold.title)
    if fold.kind != "question" or not fold.title.startswith(f"{letter}. "):
        yield f'must be a fold ??? question "{letter}. ..."'
    elif len(values) != 1:
        yield f"{letter} must have one value, a code span in its title"
    elif not any(
        re.search(rf"(?<!\S){re.escape(values[0])}(?!\S)", line[len(letter) :])
        for line in printed
        if line.split()[:1] == [letter]
    ):
        yield f"the program must print a line {letter} with {values[0]}"
    if not re.match(r"(Right\.|No:)\s+\S", fold.text.strip()):
        yield f"{letter} must begin with Right. or No: and go on with a reason"


def wrong_program(fold: Fold, right: list[str]) -> Iterator[str]:
    """Find what is wrong with the program behind the choices."""
    found = programs(fold.text)
    if len(found) != 1 or found[0].output is None or skipped(found[0]):
        yield "a fold must hold the one program behind the choices, and its output"
        return
    last = found[0].recorded[0].rstrip().rpartition("\n")[2]
    if last != f"right: {''.join(right)}":
        yield f"the last line of the output must be right: {''.join(right)}; got {last}"
    if "headway" not in found[0].code:
        yield "the program must ask the package what is right"
    if is_typed(found[0].code):
        yield "the program must find the right letter, not be written with it"


def wrong_question(text: str) -> list[str]:
    """List what is wrong with the question of a page; a page without one has nothing.

    Args:
        text: The page.
    """
    bare = outside(text, fences(text))
    starts = [number for number, line in bare.items() if line.startswith(PREDICT)]
    if not starts:
        return []
    after = [fold for fold in folds(text) if fold.line > starts[0]]
    titles = [fold.title for fold in after]
    if len(starts) > 1 or BEHIND not in titles:
        return [f'a page must have one question, with a fold "{BEHIND}"']
    choices, behind = after[: titles.index(BEHIND)], after[titles.index(BEHIND)]
    found = [] if 3 <= len(choices) <= 4 else ["a question must have 3 or 4 choices"]
    outputs = [program.recorded[0] for program in programs(behind.text)]
    printed = [line for output in outputs for line in output.split("\n")]
    for fold, letter in zip(choices, "ABCDEFGH", strict=False):
        found += wrong_choice(fold, letter, printed)
    values = [fold.title.partition(". ")[2] for fold in choices]
    if len({*values}) < len(values):
        found.append("the choices must differ")
    right = [fold.title[:1] for fold in choices if fold.text.strip()[:6] == "Right."]
    if len(right) != 1:
        found.append(f"one choice must be right; got {len(right)}")
    found += wrong_program(behind, right)
    # A text between two choices would be read as a part of neither.
    between = [bare.get(number, "") for number in range(*span(after))]
    if any(
        line[:1].strip() and not COMMENT.fullmatch(line) and not FOLD.fullmatch(line)
        for line in between
    ):
        found.append("the choices must follow each other")
    return found


def span(after: list[Fold]) -> tuple[int, int]:
    """Return the lines from the first choice on, up to the program behind them."""
    ends = [fold.line for fold in after if fold.title == BEHIND]
    return after[0].line + 1, ends[0]


# ---- The point of a question -------------------------------------------------------

# Below the program behind the choices a comment can switch off what is asked about:
#
#     <!--off: nn.init.zeros_(attend.out_proj.weight) -> pass-->
#
# The program with this edit, or with several, must find another choice right. Else the
# question asks for something that does not matter, and any reason gives the answer.
OFF = re.compile(r"<!--off: (.+?) -> (.+)-->")


def point(text: str) -> tuple[str, str]:
    """Return the program behind the choices with the point switched off.

    Args:
        text: A page with a question.

    Returns:
        The program, and the letter that is right while the point is there.

    Raises:
        ValueError: If the comment is missing, or does not fit the program.
    """
    (behind,) = (fold for fold in folds(text) if fold.title == BEHIND)
    (program,) = programs(behind.text)
    code = program.code
    bare = outside(behind.text, fences(behind.text)).values()
    notes = [line.strip() for line in bare if re.match(r"\s*<!--.* -> ", line)]
    if not notes:
        raise ValueError("a question must have a comment <!--off: OLD -> NEW-->")
    for note in notes:
        if not (edit := OFF.fullmatch(note)):
            raise ValueError(f"a comment must be <!--off: OLD -> NEW-->; got {note}")
        code = Edit(edit[1], edit[2]).apply(code, "the program")
    if not asks_the_package(code):
        raise ValueError("with the point switched off, the package must still be asked")
    return code, program.recorded[0].rstrip()[-1]


def asks_the_package(code: str) -> bool:
    """Say whether a program uses what it imports from the package."""
    nodes = [*ast.walk(ast.parse(code))]
    froms = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    names = {
        alias.asname or alias.name
        for node in froms
        if (node.module or "").partition(".")[0] == "headway"
        for alias in node.names
    }
    return any(isinstance(node, ast.Name) and node.id in names for node in nodes)


def last_line(code: str) -> str:
    """Run a program, and return the last line that it prints."""
    return run_program(code)[1].rstrip().rpartition("\n")[2]


def wrong_point(right: str, without: str) -> list[str]:
    """Say what is wrong if the answer does not depend on the point.

    Args:
        right: The letter that is right.
        without: The last line of the program without the point.
    """
    if re.fullmatch("right: [A-D]", without) and without[-1] != right:
        return []
    return [
        "with the point switched off, one other choice must be right, and not "
        f"{right}; got {without}"
    ]


# ---- The end of a chapter ----------------------------------------------------------


def wrong_exercises(text: str, practised: bool) -> Iterator[str]:
    """Find what the exercises of a chapter lack.

    Args:
        text: The chapter.
        practised: Whether `headway practice` has exercises for it.
    """
    exercises = section(text, "Exercises")
    if sum(line.startswith(PREDICT) for line in exercises.split("\n")) != 1:
        yield "the exercises must have one question to predict"
    if text.count(f"\n{PREDICT}") != exercises.count(f"\n{PREDICT}"):
        yield "a question to predict must stand among the exercises"
    tasks = [one for one in folds(exercises) if one.title.startswith(WRITE)]
    solutions = [
        inner
        for task in tasks
        for inner in folds(task.text)
        if (inner.kind, inner.title) == ("success", SOLUTION)
    ]
    if not practised and not tasks:
        yield f'a chapter must have an exercise of practice, or a task "{WRITE}..."'
    if len(solutions) != len(tasks):
        yield f'a task "{WRITE}..." must have a fold "{SOLUTION}"'
    for solution in solutions:
        found = programs(solution.text)
        if not found or any(one.output is None or skipped(one) for one in found):
            yield "a solution must be a program that runs and shows what it prints"


def wrong_end(text: str, following: str | None, practised: bool = False) -> list[str]:
    """List what is wrong with the end of a chapter.

    Args:
        text: The chapter.
        following: The address of the next one, if there is one.
        practised: Whether `headway practice` has exercises for it.
    """
    bare = outside(text, fences(text))
    heads = [line[3:].strip() for line in bare.values() if line.startswith("## ")]
    found = []
    if heads[-2:] != ["What to keep", "Exercises"]:
        found.append("a chapter must end with ## What to keep and ## Exercises")
    kept = re.findall(r"^[-*] ", section(text, "What to keep"), re.MULTILINE)
    if not 3 <= len(kept) <= 5:
        found.append(f"what to keep must be 3 to 5 points; got {len(kept)}")
    found += wrong_exercises(text, practised)
    if following:
        last = text.rstrip().rpartition("\n")[2]
        if not re.fullmatch(rf"\[Next: .+\]\({re.escape(following)}\)", last):
            found.append(f"the last line must be a link to {following}")
    return found


# ---- The chapters ------------------------------------------------------------------


def read(chapter: str) -> str:
    return (DOCS / f"{chapter}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_key_to_a_question_follows_from_a_program(chapter: str) -> None:
    assert wrong_question(read(chapter)) == []


# The chapters whose question does not name its point yet. Each new one does.
WITHOUT_A_POINT = [
    "basics/training",
    "kernels/flash_backward",
    "basics/pytorch",
    "basics/packing",
]
WITH_A_POINT = [one for one in CHAPTERS if one not in WITHOUT_A_POINT]


@pytest.mark.refusal  # a reader has no shape checks
@pytest.mark.parametrize("chapter", WITH_A_POINT)
def test_the_answer_to_a_question_depends_on_its_point(
    chapter: str, kept: Kept
) -> None:
    text = read(chapter)
    code, right = point(text)
    name = f"point-{chapter.replace('/', '-')}"
    without = kept(name, lambda: last_line(code), programs=[code])
    assert wrong_point(right, without) == []


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_ends_as_the_others_do(chapter: str) -> None:
    following = next_chapter(chapter)
    address = following and os.path.relpath(f"{following}.md", Path(chapter).parent)
    practised = chapter in book().chapters()
    assert wrong_end(read(chapter), address, practised) == []


def test_the_right_letter_is_not_always_the_same() -> None:
    right = [
        re.findall("^right: ([A-D])$", read(one), re.MULTILINE) for one in CHAPTERS
    ]
    found = [*itertools.chain(*right)]
    assert len({*found}) > 1 or len(found) < 4


# ---- A page that is wrong is found -------------------------------------------------

GOOD = """# Title

Text.

## What to keep

- One.
- Two,
  and more.
- Three.

## Exercises

**Predict.** What comes out?
Think of 2 numbers.

??? question "A. `0.25 0.75`"
    No: that is what comes out of a wrong one.

??? question "B. `0.33 0.67`"
    Right. It is.

    And more.

<!--given: 2: a number-->

??? question "C. `0.5`"
    No: not that.

??? example "The program behind the choices"
    ```python
    from headway import attention

    choices = {"A": "0.25 0.75", "B": attention(), "C": "0.5"}
    for letter, value in choices.items():
        print(letter, "", value)
    (letter,) = (one for one in choices if choices[one] == attention())
    print(f"right: {letter}")
    ```

    <!--pytest-codeblocks:expected-output-->

    ```text
    A  0.25 0.75
    B  0.33 0.67
    C  0.5
    right: B
    ```

??? question "Write: ten lines"
    The task.

    ??? success "A solution"
        ```python
        print(1)
        ```

        <!--pytest-codeblocks:expected-output-->

        ```text
        1
        ```

??? abstract "Figures of the sources on this page"
    Codes.

[Next: more](next.md)
"""


def changed(old: str, new: str, times: int = 1) -> str:
    assert GOOD.count(old) >= times
    return GOOD.replace(old, new, times)


QUESTIONS = {
    "two choices": (
        changed(GOOD[GOOD.index('??? question "C') : GOOD.index("??? example")], ""),
        "a question must have 3 or 4 choices",
    ),
    "letters out of order": (
        changed('"C. `', '"D. `'),
        'must be a fold ??? question "C. ..."',
    ),
    "another fold": (
        changed('??? question "C.', '??? note "C.'),
        'must be a fold ??? question "C. ..."',
    ),
    "no value": (
        changed('"C. `0.5`"', '"C. 0.5"'),
        "C must have one value, a code span in its title",
    ),
    "two values": (
        changed('"C. `0.5`"', '"C. `0.5` `0.6`"'),
        "C must have one value, a code span in its title",
    ),
    "another value": (
        changed('"C. `0.5`"', '"C. `0.50`"'),
        "the program must print a line C with 0.50",
    ),
    "a part of a value": (
        changed('"B. `0.33 0.67`"', '"B. `0.3`"'),
        "the program must print a line B with 0.3",
    ),
    "the value of another letter": (
        changed('"C. `0.5`"', '"C. `0.25 0.75`"'),
        "the program must print a line C with 0.25 0.75",
    ),
    "two of one value": (
        changed("`0.25 0.75`", "`0.5`").replace("    A  0.25 0.75", "    A  0.5"),
        "the choices must differ",
    ),
    "no reason": (
        changed("No: not that.", "Not that."),
        "C must begin with Right. or No: and go on with a reason",
    ),
    "two that are right": (
        changed("No: not that.", "Right. Also."),
        "one choice must be right; got 2",
    ),
    "none that is right": (
        changed("Right. It is.", "No: it is not."),
        "one choice must be right; got 0",
    ),
    "another key": (
        changed("    right: B", "    right: C"),
        "the last line of the output must be right: B; got right: C",
    ),
    "no key": (
        changed("    right: B\n", ""),
        "the last line of the output must be right: B; got C  0.5",
    ),
    "a key that is typed": (
        changed('f"right: {letter}"', '"right: B"'),
        "the program must find the right letter, not be written with it",
    ),
    "a key that is typed in two pieces": (
        changed('f"right: {letter}"', '"right:", "B"'),
        "the program must find the right letter, not be written with it",
    ),
    "a key that is typed in braces": (
        changed("{letter}", "{'B'}"),
        "the program must find the right letter, not be written with it",
    ),
    "a key that is typed elsewhere": (
        changed(
            "(letter,) = (one for one in choices if choices[one] == attention())",
            'letter = "B"',
        ),
        "the program must find the right letter, not be written with it",
    ),
    "a program without the package": (
        changed("from headway import attention", "from math import exp"),
        "the program must ask the package what is right",
    ),
    "no program": (
        changed("The program behind the choices", "A program"),
        'a page must have one question, with a fold "The program behind the choices"',
    ),
    "no output": (
        changed("    <!--pytest-codeblocks:expected-output-->\n", "    So:\n"),
        "a fold must hold the one program behind the choices, and its output",
    ),
    "a program that does not run": (
        changed(
            "    ```python\n    from",
            '    <!--pytest.mark.skip(reason="slow; until 2031-05-07")-->\n\n'
            "    ```python\n    from",
        ),
        "a fold must hold the one program behind the choices, and its output",
    ),
    "two questions": (
        changed("## Exercises\n", f"## Exercises\n\n{PREDICT}What?\n"),
        'a page must have one question, with a fold "The program behind the choices"',
    ),
    "a text between": (
        changed("<!--given: 2: a number-->", "Some words."),
        "the choices must follow each other",
    ),
}
ENDS: dict[str, tuple[str, str]] = {
    "two points": (
        changed("- Three.\n", ""),
        "what to keep must be 3 to 5 points; got 2",
    ),
    "six points": (
        changed("- One.\n", "- One.\n" * 4),
        "what to keep must be 3 to 5 points; got 6",
    ),
    "no points": (
        changed("## What to keep", "## What else"),
        "a chapter must end with ## What to keep and ## Exercises",
    ),
    "a section between": (
        changed("## Exercises", "## More\n\n## Exercises"),
        "a chapter must end with ## What to keep and ## Exercises",
    ),
    "a section after": (
        changed("??? abstract", "## More\n\n??? abstract"),
        "a chapter must end with ## What to keep and ## Exercises",
    ),
    "no question": (
        changed(PREDICT, "**Guess.** "),
        "the exercises must have one question to predict",
    ),
    "a question elsewhere": (
        changed("\nText.\n", f"\n{PREDICT}What?\n"),
        "a question to predict must stand among the exercises",
    ),
    "no task": (
        changed('"Write: ', '"Read: '),
        'a chapter must have an exercise of practice, or a task "Write: ..."',
    ),
    "no solution": (
        changed('success "A solution"', 'success "A hint"'),
        'a task "Write: ..." must have a fold "A solution"',
    ),
    "a solution that prints nothing": (
        changed("        <!--pytest-codeblocks:expected-output-->\n", "        So:\n"),
        "a solution must be a program that runs and shows what it prints",
    ),
    "something behind the link": (
        f"{GOOD}\nText.\n",
        "the last line must be a link to next.md",
    ),
    "another link": (
        changed("(next.md)", "(other.md)"),
        "the last line must be a link to next.md",
    ),
}


def test_a_good_page_is_good() -> None:
    assert wrong_question(GOOD) == []
    assert wrong_end(GOOD, "next.md") == []
    assert wrong_end(GOOD.replace("[Next: more](next.md)\n", ""), None) == []
    without_codes = GOOD.partition("??? abstract")[0] + "[Next: more](next.md)\n"
    assert wrong_end(without_codes, "next.md") == []


def test_exercises_of_practice_may_stand_for_a_task_to_write() -> None:
    assert wrong_end(GOOD, "next.md", practised=True) == []
    task = GOOD[GOOD.index('??? question "Write') : GOOD.index("??? abstract")]
    assert wrong_end(GOOD.replace(task, ""), "next.md", practised=True) == []


@pytest.mark.parametrize("what", QUESTIONS)
def test_a_wrong_question_is_found(what: str) -> None:
    text, said = QUESTIONS[what]
    assert text != GOOD
    assert said in wrong_question(text)


@pytest.mark.parametrize("what", ENDS)
def test_a_wrong_end_is_found(what: str) -> None:
    text, said = ENDS[what]
    assert text != GOOD
    assert said in wrong_end(text, "next.md")


# The question that a reader of the chapter on blocks once got: its answer was right for
# a reason that it did not ask for, since nobody looks at the last token anyway.
LAST_CHANGED = """
**Predict.** A projection is zero, and the last of seven tokens changes.

??? example "The program behind the choices"
    ```python
    import torch
    from torch import nn

    from headway import MultiHeadAttention

    torch.manual_seed(7)
    attend = MultiHeadAttention(12, 12, 7, 0.0, num_heads=3)
    nn.init.zeros_(attend.out_proj.weight)
    x = torch.randn(7, 12)
    changed = x.clone()
    changed[6] += 1.0
    moved = (x + attend(x) != changed + attend(changed)).any(dim=-1)
    choices = {"A": 7, "B": 0, "C": 1}
    for letter, rows in choices.items():
        print(letter, "", rows)
    print("right:", *(a for a in choices if choices[a] == moved.sum()))
    ```

    <!--pytest-codeblocks:expected-output-->

    ```text
    A  7
    B  0
    C  1
    right: C
    ```

    <!--off: nn.init.zeros_(attend.out_proj.weight) -> pass-->
"""
FIRST_CHANGED = LAST_CHANGED.replace("[6]", "[0]")
ZEROED = "nn.init.zeros_(attend.out_proj.weight) -> pass"
POINTS = {
    "no point": (
        LAST_CHANGED.replace(f"<!--off: {ZEROED}-->", ""),
        "a question must have a comment",
    ),
    "a misspelled point": (
        LAST_CHANGED.replace("off:", "of:"),
        "a comment must be <!--off: OLD -> NEW-->; got <!--of: ",
    ),
    "a point that is not in the program": (
        LAST_CHANGED.replace(ZEROED, "nn.init.ones_ -> pass"),
        "must stand once in the program; got 0 of 'nn.init.ones_'",
    ),
    "a point that is there twice": (
        LAST_CHANGED.replace(ZEROED, "attend( -> ("),
        "must stand once in the program; got 2 of 'attend('",
    ),
    "a program that does not ask": (
        LAST_CHANGED.replace(ZEROED, "MultiHeadAttention(12, 12, 7, 0.0, n -> dict(n"),
        "the package must still be asked",
    ),
}


@pytest.mark.refusal
def test_an_answer_that_stays_without_the_point_is_found() -> None:
    code, right = point(LAST_CHANGED)
    assert last_line(code) == "right: C"
    assert wrong_point(right, "right: C") == [
        "with the point switched off, one other choice must be right, and not C; "
        "got right: C"
    ]
    code, right = point(FIRST_CHANGED)
    assert last_line(code) == "right: A"
    assert wrong_point(right, "right: A") == []


@pytest.mark.parametrize("line", ["right:", "right: A B", "right: Z", "done"])
def test_without_the_point_one_other_choice_is_right(line: str) -> None:
    assert wrong_point("C", line)


@pytest.mark.parametrize("what", POINTS)
def test_a_wrong_point_is_found(what: str) -> None:
    text, said = POINTS[what]
    assert text != LAST_CHANGED
    with pytest.raises(ValueError, match=re.escape(said)):
        point(text)


def test_several_edits_switch_off_one_point() -> None:
    more = "    <!--off: += 1.0 -> += 2.0-->\n"
    code, _ = point(LAST_CHANGED + more)
    assert "zeros_" not in code
    assert "changed[6] += 2.0" in code
