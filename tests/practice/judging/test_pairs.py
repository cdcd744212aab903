"""Two mistakes make a pair if neither sentence may deny the other."""

from collections.abc import Iterator

import pytest

from headway.practice.judging import pairs as judged
from headway.practice.judging.pairs import EndlessError, Turns, bounded, pairs
from headway.practice.task.definition import Wrong

PROGRAM = """
def f(x):
    part = make(x)
    for y in x:
        part = part + y * 2
    return part(x) / 3
"""
MADE = Wrong("make(x)", "make(-x)", "made of the opposite")
LOOP = Wrong("in x:", "in x[1:]:", "the first is left out")
SUM = Wrong("y * 2", "y * 4", "it is four times")
ADDED = Wrong("part + y", "part - y", "it is taken off")
CALL = Wrong("part(x) / 3", "part(2 * x) / 3", "it is called with twice as much")
THIRD = Wrong("/ 3", "/ 4", "it is a fourth")


def together(*mistakes: Wrong, in_one: bool = False) -> Iterator[set[str]]:
    for both, _ in pairs(PROGRAM, mistakes, in_one_statement=in_one):
        yield {one.sentence for one in both}


def test_edits_of_two_statements_are_made_together() -> None:
    [(both, program)] = pairs(PROGRAM, [SUM, LOOP])
    assert both == (SUM, LOOP)
    assert "in x[1:]:\n        part = part + y * 4\n" in program


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (SUM, ADDED),  # one statement
        (CALL, THIRD),
        (MADE, CALL),  # what is called, and the call
        (SUM, Wrong("z", "y", "it does not apply")),
        (Wrong("    for y in x:\n        part", "    part", "no loop"), LOOP),
        (SUM, Wrong("in x", "in z", "it tells of the whole", alone=True)),
    ],
)
def test_what_may_contradict_is_no_pair(one: Wrong, other: Wrong) -> None:
    assert [*together(one, other)] == [*together(other, one)] == []


@pytest.mark.parametrize(
    ("one", "other", "given"),
    [
        (SUM, ADDED, True),
        (CALL, THIRD, True),
        (SUM, LOOP, False),  # two statements
        (SUM, MADE, False),
        (Wrong("* 2", "* 4", "more"), Wrong("+ y", "+ x", "all"), False),
        (SUM, Wrong("= part", "= -part", "the opposite"), True),
        (Wrong("= part", "= (part)", "as it is"), ADDED, False),
        (Wrong("part = part", "whole = part", "another name"), SUM, False),
        (Wrong("    for y in x:\n        part", "    part", "no loop"), SUM, False),
    ],
)
def test_edits_of_two_expressions_in_one_statement_are_made_together(
    one: Wrong, other: Wrong, given: bool
) -> None:
    both = [{one.sentence, other.sentence}] if given else []
    assert [*together(one, other, in_one=True)] == both
    assert not (given and [*together(one, other)])


def test_a_statement_that_assigns_does_not_contradict_another_use() -> None:
    assert [*together(MADE, THIRD)] == [{MADE.sentence, THIRD.sentence}]


def test_an_edit_may_take_away_what_another_looks_for() -> None:
    longer = Wrong("y * 2\n    return part", "y\n    return part", "no factor")
    name = Wrong("def f(x", "def f(y, x", "one more")
    gone = Wrong("make(x)\n    for y in x", "make(x)\n    for y in y", "itself")
    assert [*together(longer, SUM)] == []
    assert {"one more", "itself"} in [*together(name, gone)]
    doubled = Wrong("make(x)", "make(x) - y * 2", "twice the text")
    assert [*together(doubled, SUM)] == []


def test_early_mistakes_come_first() -> None:
    found = [*together(MADE, LOOP, SUM, THIRD)]
    assert found[0] == {MADE.sentence, LOOP.sentence}
    assert found[-1] == {SUM.sentence, THIRD.sentence}


def test_a_loop_ends_after_many_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judged, "TURNS", 5)
    program = bounded("n = 0\nwhile n < end:\n    n += 1\n")
    for end in (3, 5):
        exec(program, {"end": end, "_turn": Turns()})  # noqa: S102
    with pytest.raises(EndlessError):
        exec(program, {"end": 6, "_turn": Turns()})  # noqa: S102


def test_a_program_without_while_stays_as_it_is() -> None:
    assert bounded("x = 1  # one\n") == "x = 1  # one\n"
