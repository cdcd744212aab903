"""Prove an exercise: its stub fails, what is right passes, what is wrong is named."""

import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headway.checks.core.errors import describe, place
from headway.practice.judging.judge import KnownResults, Trial, judge, made, passes
from headway.practice.judging.run_file import judge_file
from headway.practice.judging.verdict import Verdict
from headway.practice.proof.mutants import mutants
from headway.practice.task.definition import Exercise
from headway.practice.task.library import Task
from headway.practice.task.refused import RefusedError

_SEEDS = (0, 1234)


@dataclass(frozen=True)
class Proof:
    """What came out of proving an exercise.

    Attributes:
        name: The exercise.
        wrong: How many wrong answers are known.
        alone: How many of them bear their own name.
        mutants: How many changes of the solution were made by rule.
        survivors: Which of them pass as right.
        problems: What is wrong with the exercise.
    """

    name: str
    wrong: int
    alone: int
    mutants: int
    survivors: tuple[str, ...]
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong with it."""
        return not self.problems

    def __str__(self) -> str:
        """Give a line, and one for each problem."""
        counts = (
            f"{self.alone} of {self.wrong} wrong answers named, "
            f"{self.mutants - len(self.survivors)} of {self.mutants} mutants seen"
        )
        head = f"{'ok' if self.ok else 'FAILED':6}  {self.name:24} {counts}"
        return "\n".join([head, *(f"        {one}" for one in self.problems)])


def prove(task: Task) -> Proof:
    """Prove an exercise."""
    known = [KnownResults(task, seed) for seed in _SEEDS]
    try:
        exercise = task.exercise
        drawings = known[0].trials
        problems = [one for by in known for one in _problems_of_trials(by.trials)]
    except RefusedError as error:
        return Proof(task.name, 0, 0, 0, (), (f"It could not be read: {error}",))
    except Exception as raised:  # whatever a teacher's file may raise
        problem = f"It could not be read: {describe(raised)}{place(raised)}."
        return Proof(task.name, 0, 0, 0, (), (problem,))
    if problems:
        return Proof(task.name, 0, 0, 0, (), tuple(dict.fromkeys(problems)))
    changed = [*mutants(task.source)]
    survivors = tuple(name for name, text in changed if _passes(task, text, drawings))
    unnamed = [*_unnamed(known)]
    problems = [
        *_problems_of_text(task, exercise),
        *_problems_of_stub(task),
        *_problems_of_right(known),
        *_problems_of_forbidden(known[0]),
        *unnamed,
        *(
            f"A mutant passes, and survivors does not say why: {one}."
            for one in survivors
            if one not in exercise.survivors
        ),
        *(
            f"survivors names a mutant that fails: {one}."
            for one in exercise.survivors
            if one not in survivors
        ),
    ]
    count = len(exercise.wrong)
    alone = count - len(unnamed)
    return Proof(task.name, count, alone, len(changed), survivors, tuple(problems))


def _defined(task: Task, source: str) -> dict[str, Any] | Exception:
    """Run a program: give what it defines, or what it raises if it is none."""
    try:
        return {task.exercise.answer: made(task, source)}
    except Exception as raised:  # an edit may make no program
        return raised


def _passes(task: Task, source: str, drawings: Sequence[Trial]) -> bool:
    defined = _defined(task, source)
    return isinstance(defined, dict) and passes(task, defined, drawings)


def _judged(source: str, known: KnownResults) -> Verdict:
    task = known.task
    defined = _defined(task, source)
    if isinstance(defined, Exception):
        sentence = f"{type(defined).__name__}: {defined}"
        return Verdict(task.name, "failed", sentence)
    return judge(task, defined, seed=known.seed, known=known)


def _problems_of_text(task: Task, exercise: Exercise) -> Iterator[str]:
    lines = [_bare(line) for line in task.source.hole.splitlines()]
    for hint in exercise.hints:
        if any(len(line) > 8 and line in _bare(hint) for line in lines):
            yield f"A hint contains a line of the solution: {hint}"
        if not re.search(r"[.?!:)`]$", hint):
            yield f"A hint must end a sentence: {hint}"
    if len(exercise.hints) != 3:
        yield f"An exercise must have three hints; got {len(exercise.hints)}."
    if not exercise.law.endswith("."):
        yield "law must be a sentence."
    if not exercise.right:
        yield "An exercise must have a right answer besides its solution."
    sentences = [one.sentence for one in exercise.wrong]
    for one in dict.fromkeys(one for one in sentences if sentences.count(one) > 1):
        yield f"Two mistakes bear one name: {one}."
    program, printed = task.source.example
    if not program or not printed:
        yield "An exercise must have a worked example, with what it prints below."
    elif '"""' in task.source.text or "\\" in task.source.text:
        yield "The task must have no backslash and no triple quotes."


def _bare(text: str) -> str:
    return re.sub(r"\s|`", "", text)


def _problems_of_stub(task: Task) -> Iterator[str]:
    verdict = _of_file(task, task.source.stub)
    if verdict.state != "open":
        yield f"The stub is judged {verdict.state}: {verdict.sentence}"


def _problems_of_right(known: Sequence[KnownResults]) -> Iterator[str]:
    task = known[0].task
    others = [task.source.filled_with(one) for one in task.exercise.right]
    for source in [task.source.solution, *others]:
        file = _of_file(task, source)  # and with it its worked example
        for verdict in (file, *(_judged(source, one) for one in known)):
            if not verdict.ok:
                name = "A right answer" if source in others else "The solution"
                yield f"{name} fails: {verdict.text()}"
                break


def _problems_of_forbidden(known: KnownResults) -> Iterator[str]:
    """Say which forbidden ways are not seen in their examples."""
    for one in known.task.exercise.forbids:
        verdict = _judged(known.task.source.filled_with(one.example), known)
        if not verdict.sentence.endswith(one.sentence):
            yield f"A forbidden way is not seen: {one.sentence} {verdict.text()}"


def _problems_of_trials(drawings: Sequence[Trial]) -> Iterator[str]:
    for number, trial in enumerate(drawings):
        if (error := trial.right.error) is not None:
            said = f"{describe(error)}{place(error)}"
            yield f"In trial {number} the solution raises {said}."


def _of_file(task: Task, source: str) -> Verdict:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{task.name}.py"
        path.write_text(source, encoding="utf-8")
        return judge_file(task, path)


def _names(verdict: Verdict) -> list[str]:
    """List the names of a single mistake."""
    return verdict.mistakes[0].split(", or when ") if len(verdict.mistakes) == 1 else []


def _unnamed(known: Sequence[KnownResults]) -> Iterator[str]:
    """Say which mistakes do not apply, do not fail, or bear another name."""
    task = known[0].task
    for one in task.exercise.wrong:
        try:
            source = one.apply(task.source.solution, "the solution")
        except ValueError as error:
            yield f"A mistake does not apply: {error}"
            continue
        for by in known:
            verdict = _judged(source, by)
            if verdict.ok:
                yield f"A mistake passes: {one.sentence}."
                break
            if one.sentence not in _names(verdict):
                said = verdict.mistakes or (verdict.sentence,)
                yield f"A mistake is not named: {one.sentence}; it says {said}."
                break
