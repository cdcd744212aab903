"""What a mistake is said to explain fails wherever it was made, and nothing else."""

import functools
import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from torch import Tensor

from headway.checks import Report, Row, check
from headway.checks.attention.evidence.design import Design
from headway.checks.attention.oracle.consequences import CONSEQUENCES, consequences
from headway.checks.attention.oracle.mistakes import KNOWN_MISTAKES
from headway.checks.attention.properties import PROPERTIES
from headway.checks.attention.run import ask
from headway.checks.core.settings import isolated_settings
from tests.checks.support.asking import evidence_of, rotated, row
from tests.support.attention_in_steps import SIZES, Attention, KeyMasked, PairMasked
from tests.support.mistakes import MISTAKES, build
from tests.support.mistakes.designs import KINDS, WIDE
from tests.support.mistakes.mistake import EQUATION, LEAK, NUMBERS, TRAINING

NAMED = [name for name, one in MISTAKES.items() if one.change]
# A mask that hangs on a mode is more than a mask that is not there.
BESIDES = {TRAINING}


@functools.cache
def report(name: str, size: str) -> Report:
    return check(build(size, MISTAKES[name]), **causal(name))


def causal(name: str) -> dict[str, bool]:
    options = MISTAKES[name].options
    return {"causal": options["causal"]} if "causal" in options else {}


@pytest.mark.parametrize(("name", "size"), rotated(NAMED, [*SIZES]))
def test_a_mistake_that_is_named_explains_all_that_fails(name: str, size: str) -> None:
    rows = report(name, size).failed
    assert rows[0].id == EQUATION
    alone = {one.id for one in rows if one.explained_by is None}
    assert alone - BESIDES == {EQUATION}


def declared() -> list[tuple[tuple[str, object], str]]:
    return [(change, name) for change, names in CONSEQUENCES.items() for name in names]


def of_modules(change: tuple[str, object]) -> Iterator[set[str]]:
    """Give what fails of modules with this mistake alone, with masks or without."""
    for name in NAMED:
        if [*(MISTAKES[name].change or {}).items()] == [change]:
            yield {row.id for row in report(name, "two heads").failed}
            for kind in (PairMasked, KeyMasked):
                masked = build("two heads", MISTAKES[name]._replace(kind=kind))
                yield {row.id for row in check(masked, **causal(name)).failed}


def scores(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.mT / key.shape[-1] ** 0.5


# Of functions, which take keys and values of another text.
FUNCTIONS: dict[tuple[str, object], Callable[..., Tensor]] = {
    ("axis", "queries"): lambda q, k, v: scores(q, k).softmax(-2) @ v,
    ("axis", "texts"): lambda q, k, v: scores(q, k).softmax(0) @ v,
    ("axis", "none"): lambda q, k, v: scores(q, k) @ v,
    ("projections", "qkk"): lambda q, k, v: scores(q, k).softmax(-1) @ k,
    ("projections", "kqv"): lambda q, k, v: scores(k, q).softmax(-1) @ v,
    ("projections", "qvk"): lambda q, k, v: scores(q, v).softmax(-1) @ k,
}


@pytest.mark.parametrize("change", FUNCTIONS, ids=str)
def test_a_mistake_of_a_function_explains_all_that_fails(
    change: tuple[str, object],
) -> None:
    rows = check(FUNCTIONS[change]).failed
    assert {one.explained_by for one in rows} == {None, EQUATION}
    assert [one.id for one in rows if one.explained_by is None] == [EQUATION]


def of_functions(change: tuple[str, object]) -> Iterator[set[str]]:
    """Give what fails of a function with this mistake."""
    if change in FUNCTIONS:
        yield {row.id for row in check(FUNCTIONS[change]).failed}


def of_designs(change: tuple[str, object]) -> Iterator[set[str]]:
    """Give what fails of modules that have a mistake in what is inside on purpose."""
    for known in KINDS.values():
        for wrong in known.wrong:
            if [*wrong.change.items()] == [change]:
                for future in known.futures:
                    steps = known.steps | wrong.steps
                    evidence = evidence_of(Attention(WIDE, causal=future, **steps))
                    designs = (known.design, Design())
                    window = known.design.window
                    evidence = replace(evidence, designs=designs, window=window)
                    with isolated_settings():
                        yield {row.id for row in ask(LISTED, evidence) if failed(row)}


LISTED = [
    one for one in PROPERTIES if any(one.id in names for names in CONSEQUENCES.values())
]


def failed(row: Row) -> bool:
    return row.verdict == "failed"


@pytest.mark.parametrize("change", CONSEQUENCES, ids=str)
def test_nothing_is_explained_that_does_not_follow(change: tuple[str, object]) -> None:
    """Each property fails with that mistake alone, in one of the ways to make it."""
    missing = {*CONSEQUENCES[change]}
    for seen in itertools.chain(
        of_functions(change), of_modules(change), of_designs(change)
    ):
        missing -= seen
        if not missing:
            break
    assert not missing


def test_only_known_changes_and_properties_are_declared() -> None:
    changes = [item for one in KNOWN_MISTAKES for item in one.change.items()]
    assert all(change in changes for change in CONSEQUENCES)
    names = {name for _, name in declared()}
    assert names < {one.id for one in PROPERTIES} - {EQUATION}


def test_two_mistakes_explain_what_either_does() -> None:
    def known(**change: object) -> object:
        [one] = [one for one in KNOWN_MISTAKES if one.change == change]
        return one

    axis, mask = known(axis="none"), known(mask="flipped")
    both = consequences([axis, mask])  # type: ignore[list-item]
    assert both == {*CONSEQUENCES["axis", "none"], *CONSEQUENCES["mask", "flipped"]}
    assert consequences([known(scale="1")]) == set()  # type: ignore[list-item]


def test_what_a_mistake_does_not_explain_is_told_in_full() -> None:
    found = report("mask: in training only", "two heads")
    assert row(found, LEAK).explained_by == EQUATION
    assert row(found, TRAINING).explained_by is None


def test_a_mask_that_makes_rows_nan_explains_what_these_explain() -> None:
    found = report("mask: inverted", "two heads")
    assert {one.explained_by for one in found.failed} == {EQUATION, None}
    assert row(found, NUMBERS).explained_by == EQUATION
    assert row(found, "large-scores").explained_by == EQUATION
