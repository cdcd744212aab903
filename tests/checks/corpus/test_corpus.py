"""The checks against public styles, and against changes of hosts.

All of it is slow. In any case the middle one of each family of styles is asked, and of
the changes of each host: always the same, and changes of all kinds, as those of a host
stand in the order of what they change.
"""

from collections.abc import Callable, Iterator

import pytest

from tests.checks.corpus.ground_truth import HALF
from tests.checks.corpus.judge import Judged, judge_mutant, judge_style
from tests.checks.corpus.known_false_alarms import KNOWN_FALSE_ALARMS
from tests.checks.corpus.mutants import hosts, mutants
from tests.checks.corpus.recorded_exceptions import exceptions, read
from tests.checks.corpus.styles import STYLES

Case = tuple[str, str, Callable[[], Judged]]  # family, name, how to judge

AGAIN = "run `python -m tests.checks.corpus --write` if that is meant"


def cases() -> Iterator[Case]:
    for style in [*STYLES.values(), *hosts()]:
        yield style.family, style.name, lambda style=style: judge_style(style)
    for one in mutants():
        family = one.name.partition(",")[0]
        yield f"changes of {family}", one.name, lambda one=one: judge_mutant(one)


def parameters() -> list[object]:
    families: dict[str, list[Case]] = {}
    for case in cases():
        families.setdefault(case[0], []).append(case)
    return [
        pytest.param(
            name,
            judge,
            id=name,
            marks=() if place == len(family) // 2 else pytest.mark.slow,
        )
        for family in families.values()
        for place, (_, name, judge) in enumerate(family)
    ]


@pytest.mark.parametrize(("name", "judge"), parameters())
def test_what_is_said_is_what_was_recorded(name, judge):
    assert exceptions(judge()) == read().get(name, {}), AGAIN


def test_every_false_alarm_that_is_recorded_has_a_reason():
    recorded = {
        (name, what)
        for name, found in read().items()
        for what, told in found.items()
        if told == "false alarm"
    }
    assert recorded == {
        (name, what) for name, found in KNOWN_FALSE_ALARMS.items() for what in found
    }


def test_nothing_is_recorded_that_is_gone():
    assert read().keys() <= {name for _, name, _ in cases()}


def test_what_16_bits_alone_show_is_declared_so_that_it_fails():
    told = [one for one in STYLES.values() if HALF in one.defects]
    told += [one for one in mutants() if "float16 has not" in one.name]
    assert len(told) >= 17
    assert [one.name for one in told if "half_precision" not in one.options] == []


def test_there_are_enough_of_both():
    styles = [one for family, one, _ in cases() if not family.startswith("changes")]
    assert len(styles) >= 60
    assert sum(1 for one in STYLES.values() if one.defects) >= 15
    assert len(mutants()) >= 150


def test_every_style_says_in_whose_style_it_is():
    for one in STYLES.values():
        assert one.credit.startswith("In the style of "), one.name
        assert one.credit.endswith("."), one.name
