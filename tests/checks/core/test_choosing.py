"""Which properties are asked, and what is said of an id that is of none."""

from collections.abc import Collection
from typing import Any

import pytest
from torch.nn.functional import scaled_dot_product_attention

from headway import small_gpt
from headway.checks import Report, check, check_model
from headway.checks.attention.properties import PROPERTIES
from headway.checks.core.choosing import chosen, nearest, refuse_unknown
from headway.checks.model.properties import PROPERTIES as OF_MODELS
from tests.checks.support.asking import refused
from tests.support.mistakes.mistake import EQUATION, LEAK, OBEYED, PADDING, PAST, SUM

EVERY = [one.id for one in PROPERTIES]


def ids(only: Any = None, skip: Any = None) -> list[str]:
    return [one.id for one in chosen(PROPERTIES, only, skip)]


@pytest.mark.parametrize(
    ("only", "skip", "left"),
    [
        (None, None, EVERY),
        ([], [], EVERY),
        ([PAST, LEAK], None, [LEAK, PAST]),
        (None, [PAST], [one for one in EVERY if one != PAST]),
        ([PAST, LEAK], {PAST}, [LEAK]),
    ],
)
def test_properties_are_chosen_and_left_out_in_their_order(
    only: Collection[str] | None, skip: Collection[str] | None, left: list[str]
) -> None:
    assert ids(only, skip) == left


@pytest.mark.parametrize(
    ("only", "skip", "sentence"),
    [
        (
            ["paste"],
            None,
            "only must name a property by its id, such as 'past' or 'state'; got "
            "only='paste'.",
        ),
        (
            None,
            [LEAK, "no leak from the future"],
            "skip must name a property by its id, such as 'leak'; got "
            "skip='no leak from the future'.",
        ),
        (
            [[0]],
            None,
            f"only must name a property by its id, one of {repr(EVERY)[1:-1]}; "
            "got only=[0].",
        ),
        ("leak", None, "only must be a list of ids; got only='leak'."),
        (None, "leak", "skip must be a list of ids; got skip='leak'."),
        (
            [LEAK],
            [LEAK],
            "only and skip must leave a property; got only=['leak'], skip=['leak'].",
        ),
    ],
)
@pytest.mark.refusal
def test_a_choice_that_cannot_be_met_is_refused(
    only: Any, skip: Any, sentence: str
) -> None:
    with refused(sentence):
        ids(only, skip)


@pytest.mark.parametrize("properties", [PROPERTIES, OF_MODELS], ids=["", "model"])
def test_a_sentence_leads_to_its_id(properties: Any) -> None:
    for one in properties:
        with pytest.raises(ValueError, match=f" such as '{one.id}'"):
            refuse_unknown("only", f"{one.name}!", properties)


def test_near_names_are_given_two_at_most_and_as_they_are_written() -> None:
    known = {one: one for one in ["Alpha", "alpine", "alphas", "gamma"]}
    assert nearest("ALPHA", known) == "such as 'Alpha' or 'alphas'"
    assert nearest("gama", known) == "such as 'gamma'"
    assert nearest("x", {"alphas": "alphas", "g": "gamma"}) == (
        "one of 'alphas', 'gamma'"
    )
    assert nearest("alpha", {"Alpha": "a", "alphas": "a"}) == "such as 'a'"


def rows(report: Report) -> dict[str, tuple[Any, ...]]:
    return {one.id: (one.verdict, one.sentence, one.figure) for one in report.rows}


def test_what_is_left_out_changes_no_other_row() -> None:
    attend = scaled_dot_product_attention
    every = rows(check(attend))
    assert [*every] == EVERY
    some = rows(check(attend, skip=[EQUATION, OBEYED]))
    assert some == {
        one: row for one, row in every.items() if one not in (EQUATION, OBEYED)
    }
    few = rows(check(attend, only=[SUM, PADDING], expected={LEAK: "not asked"}))
    assert few == {one: every[one] for one in (SUM, PADDING)}


def test_properties_of_models_are_chosen_too() -> None:
    report = check_model(small_gpt(), only=[LEAK, PAST], skip=[PAST])
    assert [(one.id, one.verdict) for one in report.rows] == [(LEAK, "passed")]


@pytest.mark.parametrize("option", ["only", "skip", "expected"])
def test_a_wrong_id_is_refused_before_anything_is_called(option: str) -> None:
    given: Any = {"leaks": "why"}
    for asked in (check, check_model):
        with pytest.raises(ValueError, match=rf"^{option} must name a property"):
            asked(lambda x: 1 / 0, **{option: given})
