"""Judge all files of a folder: a table, a list in JSON, or a file in JUnit's format."""

import json
import re
import textwrap
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from xml.etree import ElementTree

from headway.practice.judging.verdict import Verdict
from headway.practice.judging.worker import Worker
from headway.practice.task.library import Task
from headway.practice.terminal.folder import Folder
from headway.practice.terminal.session import judged

_STATES = {"passed": "passed", "failed": "FAILED"}
_NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Judged:
    """An exercise that was begun, and what was said of it.

    Attributes:
        task: The exercise.
        verdict: What was said; `open` if its file is as it was at first.
        seconds: How long it took; 0 if it was not judged.
    """

    task: Task
    verdict: Verdict
    seconds: float


def judge_all(
    folder: Folder, worker: Worker, tasks: Iterable[Task], seed: int | None
) -> Iterator[Judged]:
    """Judge the files that were begun, keep which of them are right, and give all.

    Args:
        folder: The reader's folder.
        worker: What judges.
        tasks: The exercises.
        seed: What hidden numbers are drawn from; `None` draws it anew for each.
    """
    begun = {task.name for task in tasks if folder.begun(task)}
    for task in tasks:
        start = time.perf_counter()
        verdict = Verdict(task.name, "open", "Nothing is written yet.")
        if task.name in begun:
            verdict = judged(folder, worker, task, seed)
        yield Judged(task, verdict, time.perf_counter() - start)


def table(folder: Folder, every: Sequence[Judged], width: int) -> str:
    """Give a line for each exercise that was begun, and the sums.

    The line says what is wrong: the first mistake that was named, or what was seen.

    Args:
        folder: The reader's folder.
        every: What was said of each exercise.
        width: How many characters a line may have.
    """
    timed = any(one.task.exercise.minutes for one in every)
    lines = []
    for one in every:
        verdict = one.verdict
        if verdict.state == "open":
            continue
        line = f"{_STATES[verdict.state]:6}  {verdict.name:20} "
        line += f"{one.task.exercise.minutes or '':3} min  " if timed else ""
        if not verdict.ok:
            seen = re.split(r"(?<=[.?!]) ", verdict.sentence)[0]
            wrong = [*verdict.mistakes, seen][0]
            line += textwrap.shorten(wrong, width - len(line), placeholder=" ...")
        lines.append(line.rstrip())
    told = textwrap.fill(_sums(folder, every), width)
    return "\n".join([*lines, "", told] if lines else [told])


def _sums(folder: Folder, every: Sequence[Judged]) -> str:
    """Say how many were solved once, and how many are right now."""
    tasks = [*folder.tasks]
    own = [one for one in every if one.task in tasks]
    done = [one.task for one in own if folder.done(one.task)]
    told = f"{len(done)} of {len(own)}"
    if folder.way:
        told += " in the core" if folder.core else f" on the path {folder.way}"
    told += " done"
    if covered := sum(not folder.solved(one) for one in done):
        told += f", {covered} of which by a checkpoint"
    states = [one.verdict.state for one in own]
    if {*states} == {"open"}:
        told += f"; nothing is begun: all {len(own)} are open."
    else:
        told += f"; now {states.count('passed')} are right, "
        told += f"{states.count('failed')} are not, {states.count('open')} are open."
    if others := [one.verdict.state for one in every if one.task not in tasks]:
        told += f" Of the other files {others.count('passed')} are right, "
        told += f"{others.count('failed')} are not."
    return told


def as_json(every: Sequence[Judged]) -> str:
    """Give a list of verdicts, each with `minutes` and `seconds`, as JSON."""
    rows = [
        {
            "ok": one.verdict.ok,
            **asdict(one.verdict),
            "minutes": one.task.exercise.minutes,
            "seconds": round(one.seconds, 3),
        }
        for one in every
    ]
    return json.dumps(rows, indent=2)


def write_junit(every: Sequence[Judged], path: Path) -> None:
    """Write a file as JUnit does; what is open is `skipped`.

    Args:
        every: What was said of each exercise.
        path: The file.
    """
    states = [one.verdict.state for one in every]
    suite = ElementTree.Element(
        "testsuite",
        name="headway practice",
        tests=str(len(every)),
        failures=str(states.count("failed")),
        errors="0",
        skipped=str(states.count("open")),
        time=f"{sum(one.seconds for one in every):.3f}",
    )
    for one in every:
        verdict = one.verdict
        case = ElementTree.SubElement(
            suite,
            "testcase",
            classname=one.task.chapter.replace("/", "."),
            name=verdict.name,
            time=f"{one.seconds:.3f}",
        )
        if verdict.state == "open":
            ElementTree.SubElement(case, "skipped", message=verdict.sentence)
        elif verdict.state == "failed":
            sentence = _NOT_IN_XML.sub("?", verdict.sentence)
            failure = ElementTree.SubElement(case, "failure", message=sentence)
            failure.text = _NOT_IN_XML.sub("?", verdict.text())
    tree = ElementTree.ElementTree(suite)
    tree.write(path, encoding="utf-8", xml_declaration=True)
