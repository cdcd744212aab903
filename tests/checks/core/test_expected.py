"""A failure that is expected is no failure, and one that does not come is."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from torch import Tensor

from headway.checks import Row, check
from headway.checks.attention.properties import PROPERTIES
from headway.checks.core.book_sections import Section
from headway.checks.core.expected import expect, refuse
from tests.checks.support.asking import refused, row
from tests.support.mistakes.mistake import EQUATION, FULLY_MASKED, LEAK, OBEYED

HERE = Section("A chapter", "A section", "part/page/#a-section")
REASON = "our kernel does so; it is known."


def of(verdict: str) -> Row:
    return Row(LEAK, "no leak from the future", verdict, "It was seen.", HERE, 3)


def test_a_failure_that_is_expected_is_set_apart_with_its_reason() -> None:
    [found] = expect([of("failed")], {LEAK: REASON})
    assert found.verdict == "expected"
    assert (found.sentence, found.figure) == ("It was seen.", 3)
    assert found.reason == REASON
    assert found.advice == f"It was seen. Expected: {REASON}"


@pytest.mark.parametrize(
    ("verdict", "came"),
    [
        ("passed", "it passes"),
        ("note", "it is a note now"),
        ("not applicable", "it could not be checked"),
    ],
)
def test_what_was_to_fail_and_does_not_fails(verdict: str, came: str) -> None:
    [found] = expect([of(verdict)], {LEAK: REASON})
    assert found.verdict == "failed"
    assert found.sentence == (
        "It was expected to fail (our kernel does so; it is known), but "
        f"{came}: remove it from expected. It was seen."
    )
    assert found.reason == REASON


@pytest.mark.parametrize("verdict", ["passed", "failed", "note", "not applicable"])
@pytest.mark.parametrize("expected", [None, {}, {EQUATION: REASON}])
def test_other_rows_stay(verdict: str, expected: dict[str, str] | None) -> None:
    assert expect([of(verdict)], expected) == [of(verdict)]


def test_what_is_a_property_may_be_expected() -> None:
    refuse(None, PROPERTIES)
    refuse({}, PROPERTIES)
    refuse({LEAK: "why", FULLY_MASKED: "why not"}, PROPERTIES)
    refuse({f"{EQUATION}:no-scale": "why"}, PROPERTIES)


@pytest.mark.parametrize(
    ("expected", "sentence"),
    [
        (
            {"leaks": "why"},
            "expected must name a property by its id, such as 'leak' or 'masks'; got "
            "expected='leaks'.",
        ),
        ({LEAK: " "}, "expected must give a reason; got expected={'leak': ' '}."),
        ({LEAK: True}, "expected must give a reason; got expected={'leak': True}."),
        (
            {"leaks:no-mask": "why"},
            "expected must name a property by its id, such as 'leak' or 'masks'; got "
            "expected='leaks'.",
        ),
        (
            {LEAK: "why", f"{LEAK}:no-mask": "why"},
            "expected must name a property once; got 'leak' twice.",
        ),
    ],
)
@pytest.mark.refusal
def test_an_expectation_that_nothing_can_meet_is_refused(
    expected: dict[str, str], sentence: str
) -> None:
    with refused(sentence):
        refuse(expected, PROPERTIES)


CAUSE = Row(
    EQUATION,
    "equals the equation",
    "failed",
    "Nothing is hidden.",
    HERE,
    4.2,
    explains=(LEAK, OBEYED),
    mistakes=("no-mask",),
)
OTHER = Row("sizes", "any sizes", "failed", "It raised.", HERE)
BY_MISTAKE = f"{EQUATION}:no-mask"


def test_an_expected_mistake_covers_what_it_explains_and_nothing_else() -> None:
    given = [of("failed"), CAUSE, OTHER]
    leak, cause, other = expect(given, {BY_MISTAKE: REASON})
    assert (cause.verdict, cause.reason) == ("expected", REASON)
    assert cause.advice == f"Nothing is hidden. Expected: {REASON}"
    assert (leak.verdict, leak.reason) == ("expected", REASON)
    assert leak.advice == ("It was seen. Explained by [equation], which is expected.")
    assert other == OTHER


def test_an_expected_property_covers_nothing() -> None:
    leak, cause = expect([of("failed"), CAUSE], {EQUATION: REASON})
    assert [leak.verdict, cause.verdict] == ["failed", "expected"]
    assert leak.explained_by == EQUATION


def test_what_is_expected_itself_keeps_its_own_reason() -> None:
    given = {BY_MISTAKE: "one", LEAK: "two"}
    leak, cause = expect([of("failed"), CAUSE], given)
    assert (leak.verdict, leak.reason, leak.explained_by) == ("expected", "two", None)
    assert (cause.verdict, cause.reason) == ("expected", "one")
    stale, _ = expect([of("passed"), CAUSE], given)
    assert (stale.verdict, stale.explained_by) == ("failed", None)


def test_another_mistake_than_the_expected_one_is_a_failure() -> None:
    given = {f"{EQUATION}:no-scale": REASON}
    leak, cause = expect([of("failed"), CAUSE], given)
    assert [leak.verdict, cause.verdict] == ["failed", "failed"]
    assert cause.advice == (
        "It was expected to fail by no-scale (our kernel does so; it is known), and "
        f"fails otherwise. Nothing is hidden. Read {HERE}."
    )
    two = replace(CAUSE, mistakes=("no-mask", "no-scale"))
    assert expect([two], {BY_MISTAKE: REASON})[0].verdict == "failed"
    both = f"{EQUATION}:no-scale,no-mask"
    assert expect([two], {both: REASON})[0].verdict == "expected"
    assert expect([CAUSE], {both: REASON})[0].sentence.startswith(
        "It was expected to fail by no-mask, no-scale ("
    )
    [stale] = expect([of("passed")], {f"{LEAK}:no-mask": REASON})
    assert stale.verdict == "failed"
    assert stale.sentence.startswith(
        "It was expected to fail by no-mask (our kernel does so; it is known), but it "
        "passes: remove it from expected."
    )


def test_what_a_worse_failure_explains_is_not_covered() -> None:
    worse = replace(OTHER, explains=(EQUATION,))
    leak, cause, above = expect([of("failed"), CAUSE, worse], {BY_MISTAKE: REASON})
    assert [leak.verdict, cause.verdict, above.verdict] == [
        "failed",
        "expected",
        "failed",
    ]
    assert leak.explained_by == above.id


def test_a_check_covers_what_follows_from_an_expected_mistake() -> None:
    report = check(attend(5**-0.5), causal=True, expected={BY_MISTAKE: REASON})
    assert report.ok
    found = {one.id for one in report.rows if one.verdict == "expected"}
    assert found == {EQUATION, LEAK, "earlier-rows"}
    report = check(attend(1.0), causal=True, expected={BY_MISTAKE: REASON})
    assert {EQUATION, LEAK} <= {one.id for one in report.failed}
    assert {*row(report, EQUATION).mistakes} == {"no-mask", "no-scale"}


def attend(factor: float) -> Callable[..., Tensor]:
    return lambda q, k, v: (q @ k.mT * factor).softmax(-1) @ v


def test_a_check_sets_apart_what_is_expected_and_fails_what_is_not() -> None:
    assert not check(attend(1.0)).ok
    report = check(attend(1.0), expected={EQUATION: "scores are small from the start"})
    assert report.ok
    assert row(report, EQUATION).verdict == "expected"
    assert ", 0 failed, 1 expected to fail, " in str(report)
    right = check(attend(5**-0.5), expected={EQUATION: "not any more"})
    assert [one.id for one in right.failed] == [EQUATION]


def test_a_wrong_expectation_is_refused_before_anything_is_called() -> None:
    with pytest.raises(
        ValueError, match=r"^expected must name a property by its id, such as"
    ):
        check(lambda x: 1 / 0, d_in=3, expected={OBEYED[:-1]: "why"})
