"""Ask single properties, and combine cases with sizes."""

import itertools
import re
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from headway.checks import Report, Row
from headway.checks.attention.evidence import Evidence, gather
from headway.checks.attention.oracle import choose_weights
from headway.checks.attention.properties import PROPERTIES
from headway.checks.attention.run import ask
from headway.checks.attention.subject import Options, discover
from headway.checks.core.settings import isolated_settings
from tests.support.attention_in_steps import SMALL, Attention


def evidence_of(target: Any, **options: Any) -> Evidence:
    """Gather what `check` gathers before it asks the first property."""
    with isolated_settings():
        return choose_weights(gather(discover(target, Options(**options))))


def rows_of(target: Any, *names: str, **options: Any) -> list[Row]:
    """Ask some properties, in this order: much less work than a whole check."""
    return rows_from(evidence_of(target, **options), *names)


def rows_from(evidence: Evidence, *names: str) -> list[Row]:
    """Ask some properties, in this order, of what was gathered before."""
    known = {one.id: one for one in PROPERTIES}
    with isolated_settings():
        return ask([known[name] for name in names], evidence)


def said(target: Any, name: str, **options: Any) -> tuple[str, str]:
    """Give the verdict on one property, and its sentence."""
    [row] = rows_of(target, name, **options)
    return row.verdict, row.sentence


def verdicts(target: Any, *names: str, **options: Any) -> list[str]:
    """Give the verdicts on some properties of the same evidence."""
    return [one.verdict for one in rows_of(target, *names, **options)]


def expect(target: Any, name: str, verdict: str, words: str, **options: Any) -> None:
    """Ask one property and expect this sentence, with anything where it has a star."""
    found, sentence = said(target, name, **options)
    assert found == verdict, sentence
    pattern = ".*".join(map(re.escape, words.split("*")))
    assert re.fullmatch(pattern, sentence, re.DOTALL), sentence


def calling(wrong: Any, **options: Any) -> Attention:
    """Make a small module that does something around its work."""
    return Attention(SMALL, call=wrong, **options)


def row(report: Report, name: str) -> Row:
    """Give the row of one property."""
    [found] = [one for one in report.rows if one.id == name]
    return found


def refused(sentence: str) -> pytest.RaisesExc[ValueError]:
    """Expect this sentence, to the last letter."""
    return pytest.raises(ValueError, match=f"^{re.escape(sentence)}$")


def rotated(cases: Iterable[Any], *options: Sequence[Any]) -> list[Any]:
    """Combine each case with all options; all combinations but one are slow.

    The one that is not slow changes from case to case, so that every option is met.
    """
    every = [*itertools.product(*options)]
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)),
            *combination,
            marks=() if place == number % len(every) else pytest.mark.slow,
        )
        for number, case in enumerate(cases)
        for place, combination in enumerate(every)
    ]
