"""How the corpus judges what a check said."""

import pytest
from torch import nn

from tests.checks.corpus.ground_truth import Style, wrong
from tests.checks.corpus.judge import Asked, Judged, ask, judge_mutant, judge_style
from tests.checks.corpus.mutants import Mutant
from tests.checks.corpus.recorded_exceptions import exceptions
from tests.checks.corpus.table import table

SCALED = wrong("Nothing divides the scores.", r"not scaled", "equation")
HEAD = "def make():\n    def attention(q, k, v):\n        return "
RIGHT = "(q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v"


def style(source, *defects, harmless=None, **options):
    made = {}
    exec(f"{HEAD}{source}\n    return attention\n", made)  # noqa: S102
    return Style(
        "mine", "", "few", made["make"], False, defects, options, harmless or {}
    )


def verdicts(source, *defects):
    return list(judge_style(style(source, *defects)).verdicts.values())


UNSCALED = "(q @ k.mT).softmax(-1) @ v"


def test_a_defect_is_named_if_a_sentence_matches():
    assert verdicts(UNSCALED, SCALED) == ["named"]


def test_a_defect_is_missed_if_nothing_fails():
    assert verdicts(RIGHT, SCALED) == ["missed"]


def test_another_mistake_that_is_claimed_is_worse_than_none():
    other = wrong("Something else.", "something else", "equation")
    assert verdicts(UNSCALED, other) == ["misnamed"]


def test_what_fails_elsewhere_does_not_count_as_seen():
    assert verdicts(UNSCALED, wrong("Texts mix.", "texts", "large-scores")) == [
        "missed"
    ]


def test_a_symptom_counts_as_seen():
    strange = "(q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v.exp()"
    other = wrong("Another equation.", "no such words", "equation")
    assert verdicts(strange, other) == ["seen"]


def test_what_no_defect_explains_is_a_false_alarm():
    judged = judge_style(style(UNSCALED))
    assert [name for name, _ in judged.false] == ["equation"]
    assert exceptions(judged) == {"equation": "false alarm"}


def test_what_is_known_to_be_harmless_is_none():
    judged = judge_style(style(UNSCALED, harmless={"equation": "meant"}))
    assert not judged.false
    assert [name for name, _ in judged.harmless] == ["equation"]


def test_a_call_that_must_be_told_counts_as_no_plain_one():
    class Odd(nn.Module):
        def forward(self, x):
            return x["tokens"]

    odd = Style("odd", "", "few", Odd, False, options={"call": "m({'tokens': x})"})
    judged = judge_style(odd)
    assert judged.by_default.startswith("CannotCheckError")
    assert not judged.asked.raised or exceptions(judged)["the check"] == "raises"


def mutant(source, named="", **told):
    program = f"{HEAD}{source}\n    return attention\n"
    return judge_mutant(Mutant("few, one", program, "Why.", named, **told))


def test_a_change_that_is_refused_is_seen():
    judged = mutant("1 / 0")
    assert judged.asked.raised
    assert judged.verdicts == {"Why.": "seen"}


def test_an_equivalent_change_must_raise_no_alarm():
    assert not mutant(RIGHT, equivalent=True).false
    assert mutant(UNSCALED, equivalent=True).false


@pytest.mark.parametrize("told", ["named", "seen", "misnamed", "missed"])
def test_all_but_what_is_named_stands_in_the_table_by_name(told):
    judged = Judged("mine", "style", Asked(), verdicts={"It is wrong.": told})
    assert ("mine: It is wrong." in table([judged], {})) == (told != "named")


def test_whoever_raises_does_not_end_the_run():
    assert ask(3).raised
