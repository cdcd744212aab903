"""The table of the corpus: counts, and every exception by name."""

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from tests.checks.corpus.judge import Failed, Judged

VERDICTS = ("named", "seen", "misnamed", "missed")


def table(judged: Sequence[Judged], large: Mapping[str, float]) -> str:
    """Lay out what came of the corpus, in Markdown."""
    styles = [one for one in judged if one.kind == "style"]
    mutants = [one for one in judged if one.kind == "mutant"]
    equivalent = [one for one in judged if one.kind == "equivalent"]
    lines = ["| | |", "| --- | --- |"]
    lines += [f"| {name} | {told} |" for name, told in _counts(styles)]
    lines += [f"| {name} | {told} |" for name, told in _of_mutants(mutants)]
    if equivalent:
        alarms = sum(1 for one in equivalent if one.false)
        told = f"{alarms} of {len(equivalent)}"
        lines.append(f"| equivalent mutants that raise an alarm | {told} |")
    lines += [f"| {name} | {told} |" for name, told in _times(judged, large)]
    return "\n".join([*lines, *_exceptions(styles, mutants, equivalent)]) + "\n"


def _counts(styles: Sequence[Judged]) -> Iterable[tuple[str, str]]:
    if not styles:
        return
    n = len(styles)
    works = sum(1 for one in styles if not one.by_default)
    yield "default call works", f"{works} of {n} ({works / n:.0%})"
    alarms = sum(1 for one in styles if one.false)
    rows = sum(len(one.false) for one in styles)
    yield "styles with false alarms", f"{alarms} of {n}, {rows} rows"
    harmless = sum(1 for one in styles if one.harmless)
    yield "styles that fail though nobody is harmed", str(harmless)
    wrongly = sum(1 for one in styles if not one.intent)
    yield "styles whose future is taken for what it is not", str(wrongly)
    counted = _verdicts(styles)
    total = sum(counted.values())
    told = " / ".join(str(counted[verdict]) for verdict in VERDICTS)
    yield "real defects " + " / ".join(VERDICTS), f"{told} of {total}"
    asked = sum(1 for one in styles if one.asked.equation)
    yield "equation asked in", f"{asked} of {n} styles"


def _of_mutants(mutants: Sequence[Judged]) -> Iterable[tuple[str, str]]:
    if not mutants:
        return
    counted, n = _verdicts(mutants), len(mutants)
    caught = n - counted["missed"]
    yield "mutants caught", f"{caught} of {n} ({caught / n:.0%})"
    yield "mutants named rightly", f"{counted['named']} of {n}"
    yield "mutants told as another mistake", f"{counted['misnamed']} of {n}"
    asked = sum(1 for one in mutants if one.asked.equation)
    yield "equation asked in", f"{asked} of {n} mutants"


def _verdicts(judged: Iterable[Judged]) -> Counter[str]:
    return Counter(verdict for one in judged for verdict in one.verdicts.values())


def _times(
    judged: Sequence[Judged], large: Mapping[str, float]
) -> Iterable[tuple[str, str]]:
    seconds = [one.asked.seconds for one in judged]
    if seconds:
        slowest = max(judged, key=lambda one: one.asked.seconds)
        told = f"{statistics.median(seconds):.2f} s, {max(seconds):.1f} s"
        yield "time, median and worst", f"{told} ({slowest.name})"
    for name, took in large.items():
        yield f"time at width 768 with 12 heads, {name}", f"{took:.1f} s"


def _exceptions(
    styles: Sequence[Judged], mutants: Sequence[Judged], equivalent: Sequence[Judged]
) -> list[str]:
    lines: list[str] = []
    lines += _listed("Default calls that do not work", _refused(styles))
    lines += _listed("Checks that raise", _raised([*styles, *mutants, *equivalent]))
    lines += _listed("False alarms", _failures(styles, "false"))
    lines += _listed("True, harmless, and failed", _failures(styles, "harmless"))
    futures = [f"{one.name}: taken wrongly" for one in styles if not one.intent]
    lines += _listed("Future", futures)
    for verdict in ("misnamed", "seen", "missed"):
        lines += _listed(f"Defects {verdict}", _with(styles, verdict))
    for verdict in ("misnamed", "seen", "missed"):
        lines += _listed(f"Mutants {verdict}", _with(mutants, verdict))
    return lines + _listed("Alarms of equivalent mutants", _failures(equivalent))


def _listed(title: str, lines: Sequence[str]) -> list[str]:
    return ["", f"## {title}", "", *(f"- {line}" for line in lines)] if lines else []


def _refused(styles: Iterable[Judged]) -> list[str]:
    return [f"{one.name}: {one.by_default}" for one in styles if one.by_default]


def _raised(judged: Iterable[Judged]) -> list[str]:
    return [f"{one.name}: {one.asked.raised}" for one in judged if one.asked.raised]


def _failures(judged: Iterable[Judged], which: str = "false") -> list[str]:
    return [
        f"{one.name}: {_told(failed)}"
        for one in judged
        for failed in getattr(one, which)
    ]


def _told(failed: Failed) -> str:
    return f"*{failed[0]}*: {failed[1]}"


def _with(judged: Iterable[Judged], wanted: str) -> list[str]:
    lines = []
    for one in judged:
        for what, verdict in one.verdicts.items():
            if verdict == wanted:
                said = [f"  - {_told(failed)}" for failed in one.asked.failed]
                lines.append("\n".join([f"{one.name}: {what}", *said]))
    return lines
