"""Hold what a check said against what is true."""

import re
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from headway.checks import Report, check
from tests.checks.corpus.ground_truth import Defect, Style
from tests.checks.corpus.mutants import FOLDER, Mutant

EQUATION = "equation"

# What claims to know the mistake, and is worse than nothing if it is another.
_CLAIM = re.compile(
    r"exactly what comes out|wrong corner|no mask acts|it hides rows and not columns"
    r"|is not subtracted|are swapped|texts are mixed|depends on the mode"
    r"|is used as the share that is kept|dropout is still on",
    re.IGNORECASE,
)
# Options without which a call cannot be made; others only say what is meant.
_OF_CALLS = ("call", "d_in")

Failed = tuple[str, str]  # the property, and the sentence


@dataclass(frozen=True)
class Asked:
    """What came of one check.

    Args:
        raised: What it raised, or nothing.
        failed: The properties that failed, each with its sentence.
        notes: Those about which it says something that is no fault.
        future: Whether it took the future to be hidden; nothing if it does not say.
        equation: Whether it compared with the equation.
        seconds: How long a processor worked on it.
    """

    raised: str = ""
    failed: tuple[Failed, ...] = ()
    notes: tuple[Failed, ...] = ()
    future: bool | None = None
    equation: bool = False
    seconds: float = 0.0


@dataclass(frozen=True)
class Judged:
    """What is to be thought of it.

    Args:
        name: The style, or the host and what is wrong with it.
        kind: `style`, `mutant` or `equivalent`.
        asked: What was said.
        by_default: What a plain call raised, or nothing.
        verdicts: Each defect, and `named`, `seen`, `misnamed` or `missed`.
        false: What failed and should not have.
        harmless: What failed, is true, and harms nobody.
        intent: Whether the future was taken for what it is.
    """

    name: str
    kind: str
    asked: Asked
    by_default: str = ""
    verdicts: Mapping[str, str] = field(default_factory=dict)
    false: tuple[Failed, ...] = ()
    harmless: tuple[Failed, ...] = ()
    intent: bool = True


def ask(target: Any, **options: Any) -> Asked:
    """Check, and keep what the table needs."""
    began = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            report = check(target, **options)
    except Exception as raised:  # a check must not fall, but if it does, go on
        sentence = f"{type(raised).__name__}: {raised}".splitlines()[0]
        sentence = sentence.replace(f"{FOLDER.name}/", "")
        return Asked(sentence, seconds=time.process_time() - began)
    return _heard(report, time.process_time() - began)


def _heard(report: Report, seconds: float) -> Asked:
    def of(verdict: str) -> tuple[Failed, ...]:
        return tuple((r.id, r.sentence) for r in report.rows if r.verdict == verdict)

    equation = any(
        row.id == EQUATION and row.verdict != "not applicable" for row in report.rows
    )
    told = str(report.facts.get("future", ""))
    future = None if not told else told.startswith("hidden")
    return Asked("", of("failed"), of("note"), future, equation, seconds)


def judge_style(style: Style) -> Judged:
    """Check a style by a plain call, and by what its user must tell."""
    by_default = ""
    asked = None
    if any(option in style.options for option in _OF_CALLS):
        plain = {k: v for k, v in style.options.items() if k not in _OF_CALLS}
        by_default = ask(style.make(), **plain).raised
    asked = ask(style.make(), **style.options)
    by_default = by_default or asked.raised
    verdicts = {one.what: _verdict(one, asked) for one in style.defects}
    rest = [one for one in asked.failed if not _explained(one, style.defects)]
    return Judged(
        style.name,
        "style",
        asked,
        by_default,
        verdicts,
        tuple(one for one in rest if one[0] not in style.harmless),
        tuple(one for one in rest if one[0] in style.harmless),
        asked.future in (None, style.causal),
    )


def _verdict(defect: Defect, asked: Asked) -> str:
    """Say whether a defect is named, told as another, seen in some way, or missed."""
    told = [said for _, said in (*asked.failed, *asked.notes)]
    if any(re.search(defect.named, said, re.IGNORECASE) for said in told):
        return "named"
    seen = [one for one in asked.failed if not defect.shows or one[0] in defect.shows]
    if any(_CLAIM.search(said) for _, said in seen):
        return "misnamed"
    return "seen" if seen else "missed"


def _explained(failed: Failed, defects: Sequence[Defect]) -> bool:
    name, sentence = failed
    return any(
        not one.shows
        or name in one.shows
        or re.search(one.named, sentence, re.IGNORECASE)
        for one in defects
    )


def judge_mutant(mutant: Mutant) -> Judged:
    """Check a host with one line changed."""
    asked = ask(mutant.make(), **mutant.options)
    if mutant.equivalent:
        return Judged(mutant.name, "equivalent", asked, false=asked.failed)
    defect = Defect(mutant.why, mutant.named)
    verdict = _verdict(defect, asked)
    if asked.raised:  # refused: it is seen, though by no row
        verdict = "seen"
    return Judged(mutant.name, "mutant", asked, verdicts={mutant.why: verdict})


def timed(make: Callable[[], Any]) -> float:
    """Give the seconds that a processor takes for a check."""
    return ask(make()).seconds
