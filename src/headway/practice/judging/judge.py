"""Judge an answer: compare it with the solution, and name what is wrong."""

import contextlib
import inspect
import io
import linecache
import re
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache, cached_property
from pathlib import Path
from typing import Any, cast

import torch

from headway.checks.core.cannot_check import CannotCheckError
from headway.checks.core.errors import is_ours
from headway.practice.judging.changes import noting, tensors_differ, writes
from headway.practice.judging.compare import (
    NEAR,
    comparable,
    copied,
    difference,
    fitted,
    kind,
    same,
    shown_apart,
    shown_in,
)
from headway.practice.judging.pairs import EndlessError, Turns, bounded, pairs
from headway.practice.judging.patterns import pattern
from headway.practice.judging.verdict import Verdict
from headway.practice.judging.watch import forbidden_way
from headway.practice.task.definition import LOUD, SMALL, Draw, Wrong, call
from headway.practice.task.library import Task
from headway.practice.task.source import EXAMPLE

Namespace = Mapping[str, Any]
# What an error of Python or PyTorch that many meet means here.
_MEANT = (
    (
        r"'?NoneType'?",
        "Something is None: does a function end without a return, or is there no bias, "
        "cache or .grad yet?",
    ),
    (
        r'missing the required "forward"',
        "Does the class have a method of exactly this name, indented like __init__?",
    ),
    (
        r"torch\.return_types\.(max|min)",
        "With dim, max and min return two tensors, values and indices: take .values, "
        "or call amax or amin.",
    ),
    (
        r"same dtype|expected scalar type|to have the same type",
        "The hidden inputs have 64 bits: give new tensors the type of the input, by "
        ".to(x.dtype) or dtype=x.dtype.",
    ),
)
_KEEPS = (
    "A second call with the same arguments gives something else: it keeps something "
    "from one call to the next."
)
_DRAWS = "Other random numbers give something else, and the right result hangs on none."
_SECONDS = 2.0  # of the processor, for pairs; more would make readers wait
_NAN = "gives nan"
_SHAPE = re.compile("of shape|with axes")  # in what is said of a type or a shape
_LONGEST = 240  # characters of a line of a case
_GRADIENT = re.compile(r",\s+(grad_fn=<\w+>|requires_grad=True)")
_OF_ONE = re.compile(r"tensor\((True|False|[-+.\w]+)(?:, dtype=[\w.]+)?\)")
_NUMBER = re.compile(r"-?\d+\.\d+|-?\d+\.|-?\d+")


@dataclass(frozen=True)
class Result:
    """What a call gave: a value, or an error."""

    value: Any = None
    error: Exception | None = None

    def same_as(self, other: "Result", near: float = NEAR) -> bool:
        """Whether both gave the same, be it the same error."""
        if self.error is None and other.error is None:
            return same(self.value, other.value, near)
        return (
            self.error is not None
            and type(self.error) is type(other.error)
            and str(self.error) == str(other.error)
        )


@dataclass(frozen=True)
class Trial:
    """One drawing of hidden numbers, and what is right for it."""

    drawn: tuple[Any, ...]
    right: Result


class KnownResults:
    """What the solution and the known mistakes give for hidden numbers.

    Each is computed when it is first asked for, and kept for whatever else is judged by
    the same numbers.

    Args:
        task: The exercise.
        seed: What the hidden numbers are drawn from.
    """

    def __init__(self, task: Task, seed: int) -> None:
        self.task = task
        self.seed = seed
        self._small: dict[int, Trial | None] = {}
        self._mistakes: dict[tuple[str, int], Result | None] = {}

    @cached_property
    def trials(self) -> Sequence[Trial]:
        """The hidden numbers, with what is right for them."""
        return [*trials(self.task, self.seed)]

    def small(self) -> Iterator[Trial]:
        """Give trials of small sizes, the smallest first, where they fit."""
        for place, one in enumerate(self._small_sizes):
            if place not in self._small:
                self._small[place] = _small_trial(self.task, one, self.seed)
            if (trial := self._small[place]) is not None:
                yield trial

    @cached_property
    def _small_sizes(self) -> Sequence[Mapping[str, int | float]]:
        exercise = self.task.exercise
        own = exercise.trials
        if any("case" in one for one in own):
            return [*exercise.small, *own]
        louds = {one["loud"]: one for one in own if "loud" in one}
        loud = [
            {**few, **LOUD, "loud": by, "axes": one.get("axes", 1)}
            for by, one in sorted(louds.items())
            for few in SMALL[-9:]
        ]
        return [*exercise.small, *SMALL, *loud]

    @cached_property
    def programs(self) -> Mapping[Wrong, str]:
        """The program of each mistake, where its edit can be made."""
        solution = self.task.source.solution
        return {
            one: one.apply(solution, "the solution")
            for one in self.task.exercise.wrong
            if solution.count(one.old) == 1
        }

    @cached_property
    def pairs(self) -> Sequence[Sequence[tuple[tuple[Wrong, Wrong], str]]]:
        """Two mistakes each that do not contradict each other, and the program.

        First the pairs in two statements, then those in one.
        """
        source, wrong = self.task.source.solution, self.task.exercise.wrong
        return [[*pairs(source, wrong, in_one_statement=one)] for one in (False, True)]

    def result(self, program: str, place: int) -> Result | None:
        """Give what a program gives in a trial, or `None` if it is none."""
        if (program, place) not in self._mistakes:
            found = _result(self.task, program, self.trials[place])
            self._mistakes[program, place] = found
        return self._mistakes[program, place]


def judge(
    task: Task,
    namespace: Namespace,
    *,
    seed: int = 0,
    known: KnownResults | None = None,
) -> Verdict:
    """Judge what a file defines.

    Args:
        task: The exercise.
        namespace: What the reader's file has defined.
        seed: What the hidden numbers are drawn from.
        known: What others were judged by, with the same seed.
    """
    known = known or KnownResults(task, seed)
    verdict = Verdict(task.name, "failed", "", read=task.exercise.read, seed=seed)
    name = task.exercise.answer
    if name not in namespace:
        near = get_close_matches(name, [*namespace], 1)
        hint = f" Did you mean {near[0]}?" if near else ""
        return replace(verdict, sentence=f"The file must define {name}.{hint}")
    if not callable(namespace[name]):
        return replace(
            verdict,
            sentence=f"{name} must be a function or a class, not its result; "
            f"got {kind(namespace[name])}.",
        )
    with _reproducible():
        return _judge(known, namespace, verdict)


def passes(task: Task, namespace: Namespace, drawings: Sequence[Trial]) -> bool:
    """Ask whether an answer is right in some trials, and not why it is wrong."""
    answer = namespace[task.exercise.answer]
    with _reproducible():
        for trial in drawings:
            if not attempt(task, answer, trial.drawn).same_as(trial.right):
                return False
            asked = (one.holds for one in task.exercise.properties)
            if any(_breaks(task, holds, answer, [trial]) for holds in asked):
                return False
            if _changed(task, answer, [trial]):
                return False
    return True


def _judge(known: KnownResults, namespace: Namespace, verdict: Verdict) -> Verdict:
    task, exercise = known.task, known.task.exercise
    answer, drawings = namespace[exercise.answer], known.trials
    for trial in drawings:
        if trial.right.error is not None:
            raise trial.right.error
    results = [attempt(task, answer, one.drawn) for one in drawings]
    if any(still_open(one.error) for one in results):
        return replace(verdict, state="open", sentence="The hole is still open.")
    if all(a.same_as(b.right) for a, b in zip(results, drawings, strict=True)):
        if changed := _changed(task, answer, drawings):
            return replace(verdict, sentence=f"The result is right, but it {changed}.")
        for one in exercise.properties:
            if broken := _breaks(task, one.holds, answer, drawings):
                return replace(
                    verdict,
                    sentence="The numbers are right, but it must hold that "
                    f"{one.sentence}. {broken}",
                )
        if unsteady := _unsteady(known, answer, results):
            return replace(verdict, sentence=f"The result is right. {unsteady}")
        if forbidden := _forbidden(task, answer, drawings[0]):
            return replace(verdict, sentence=forbidden)
        return replace(verdict, state="passed", sentence=exercise.law)
    return _name_mistakes(known, answer, verdict, results)


def _forbidden(task: Task, answer: Any, trial: Trial) -> str:
    """Say that an answer goes a way that the task forbids, or nothing."""
    ways = task.exercise.forbids
    if not ways:
        return ""
    found = forbidden_way(ways, lambda: attempt(task, answer, trial.drawn), trial.drawn)
    return "" if found is None else f"The result is right. {found.sentence}"


def still_open(error: BaseException | None) -> bool:
    """Ask whether it is the stub's error; PyTorch's say what is not implemented."""
    return isinstance(error, NotImplementedError) and not str(error)


def _name_mistakes(
    known: KnownResults, answer: Any, verdict: Verdict, results: Sequence[Result]
) -> Verdict:
    """Say how far off an answer is, which mistakes it is, and the smallest case."""
    task, trials = known.task, known.trials
    found = explain(known, results)
    typed, near, of_type = _of_right_types(trials, results)
    alike = [a.same_as(b.right, near) for a, b in zip(typed, trials, strict=True)]
    if of_type and all(alike):
        told = _with_a_name(task, trials[0].drawn, of_type)
        return _named(task, verdict, found, f"The numbers are right, but {told}.")
    if of_type and not found:
        found = explain(known, typed, near)
        if not found and _SHAPE.search(of_type):
            typed, near, of_type = results, NEAR, ""
            alike = [a.same_as(b.right) for a, b in zip(typed, trials, strict=True)]
    first = alike.index(False)
    error = typed[first].error
    if error is not None:
        sentence = _raised(error)
    else:
        said = difference(typed[first].value, trials[first].right.value, near)
        sentence = f"{_capital(said)}."
    case, shows_nan = smallest_case(known, answer, sentence)
    if case and _NAN in sentence and not shows_nan:
        sentence = f"{sentence[:-1]}, but not in the case below, which is wrong, too."
    if of_type:
        what = "shape" if _SHAPE.search(of_type) else "type"
        sentence += f" Its {what} is wrong, too: {of_type}."
    verdict = replace(
        _named(task, verdict, found, sentence),
        case=case,
        traceback=own_lines(error, told=True) if error is not None else "",
    )
    if found or error is not None:
        return verdict
    return _beyond(known, answer, verdict, results)


def _named(
    task: Task, verdict: Verdict, found: Sequence[Wrong], sentence: str
) -> Verdict:
    """Say what was seen, and which mistakes it is."""
    return replace(
        verdict,
        sentence=sentence,
        mistakes=tuple(_sentence(task, one) for one in found),
        exhibits=tuple(f"museum/{one.exhibit}" for one in found if one.exhibit),
        hint=next((one.hint for one in found if one.hint), ""),
    )


def _of_right_types(
    trials: Sequence[Trial], results: Sequence[Result]
) -> tuple[Sequence[Result], float, str]:
    """Turn results into the types and shapes of the right ones.

    Returns:
        The results, how near the right ones they must be, and what is wrong with the
        type or the shape of the first that had another.
    """
    typed, told, nearest = [], "", NEAR
    for result, trial in zip(results, trials, strict=True):
        value, said, near = fitted(result.value, trial.right.value)
        typed.append(replace(result, value=value))
        told, nearest = told or said, max(near, nearest)
    return typed, nearest, told


def _with_a_name(task: Task, drawn: Sequence[Any], told: str) -> str:
    """Name the argument whose type fits, in place of an x."""
    floats = [
        isinstance(one, torch.Tensor) and one.is_floating_point() for one in drawn
    ]
    if task.exercise.ask is call and any(floats):
        right = made(task, task.source.solution)
        name = [*inspect.signature(right).parameters][floats.index(True)]
        return told.replace("x.dtype", f"{name}.dtype")
    none = task.exercise.ask is call and not any(floats)
    return told.replace("x.dtype", "torch.float64") if none else told


def _sentence(task: Task, one: Wrong) -> str:
    """Name a mistake, and those that give the same."""
    names = [one.same_as or one.sentence]
    names += [
        other.sentence for other in task.exercise.wrong if other.same_as == names[0]
    ]
    return ", or when ".join(names)


def _beyond(
    known: KnownResults, answer: Any, verdict: Verdict, results: Sequence[Result]
) -> Verdict:
    """No known mistake explains it: say what else is seen.

    That is what a check says, a change of the arguments, or the first property.
    """
    task, trials = known.task, known.trials
    more = _said_by_check(task, answer)
    if not more and (changed := _changed(task, answer, trials)):
        more = f"It {changed}."
    both = [
        (mine.value, one.right.value) for mine, one in zip(results, trials, strict=True)
    ]
    if not more and all(comparable(mine, right) for mine, right in both):
        told = "in 32 bits" in verdict.sentence
        more = (
            _said_by_property(task, answer, trials)
            or _unsteady(known, answer, results)
            or ("" if told else "No mistake known here explains it.")
        )
        if not told and (common := pattern(both)):
            more = f"{common} {more}"
    return replace(verdict, sentence=f"{verdict.sentence} {more}".rstrip())


def _said_by_check(task: Task, answer: Any) -> str:
    if task.exercise.report is None:
        return ""
    failed = _reported(task, task.exercise.report, answer)
    return f"headway check says: {failed[0].sentence}" if failed else ""


def _said_by_property(task: Task, answer: Any, trials: Sequence[Trial]) -> str:
    for one in task.exercise.properties:
        if broken := _breaks(task, one.holds, answer, trials):
            return f"It must hold that {one.sentence}. {broken}"
    return ""


def _unsteady(known: KnownResults, answer: Any, results: Sequence[Result]) -> str:
    """Say that an answer gives something else when it is called again."""
    task, trial = known.task, known.trials[0]
    right = made(task, task.source.solution)
    for seed, told in ((1, _KEEPS), (2, _DRAWS)):
        if not attempt(task, right, trial.drawn, seed).same_as(trial.right):
            continue  # so does the solution
        if not attempt(task, answer, trial.drawn, seed).same_as(results[0]):
            return told
    return ""


def _reported(task: Task, report: Callable[[Any], Any], answer: Any) -> Sequence[Any]:
    """List what a check says; nothing if the answer cannot be checked."""
    try:
        return report(answer).failed
    except _of_answers(task):
        # If that of the solution raises, too, the exercise is to blame.
        report(made(task, task.source.solution))
        return ()


def _of_answers(task: Task) -> tuple[type[Exception], ...]:
    """Give what `except` is to catch where an exercise asks something of an answer.

    Whatever an answer is, it may make the program of the exercise raise, too. But no
    answer makes it miss a name, and none makes a mistake in the checks.

    Returns:
        Any `Exception`, or none if what is raised now is to be told as it is.
    """
    raised = cast(BaseException, sys.exception())
    if isinstance(raised, CannotCheckError):
        return (Exception,)
    *_, (last, _) = traceback.walk_tb(raised.__traceback__)
    own = last.f_code.co_filename == str(task.path)
    missing = own and isinstance(raised, NameError)
    return () if missing or is_ours(raised) else (Exception,)


def trials(task: Task, seed: int) -> Iterator[Trial]:
    """Draw hidden numbers of each sort of sizes, with what is right for them."""
    right = made(task, task.source.solution)
    for place, sizes in enumerate(task.exercise.trials):
        drawn = draw(task, sizes, seed + place)
        yield Trial(drawn, attempt(task, right, drawn))


def draw(task: Task, sizes: Mapping[str, Any], seed: int) -> tuple[Any, ...]:
    """Draw the arguments of one trial."""
    return task.exercise.draw(Draw(torch.Generator().manual_seed(seed), **sizes))


def attempt(task: Task, answer: Any, drawn: tuple[Any, ...], seed: int = 1) -> Result:
    """Call an answer with copies of what was drawn."""
    # Not torch.manual_seed, which notes a traceback for each device that may wake up.
    torch.default_generator.manual_seed(seed)
    return _asked(task, answer, copied(drawn))


def _asked(task: Task, answer: Any, given: Sequence[Any]) -> Result:
    try:
        with torch.enable_grad():  # which an answer may leave switched off
            return Result(task.exercise.ask(answer, *given))
    except _of_answers(task) as raised:
        return Result(error=raised)


@cache
def _compiled(task: Task, source: str) -> Any:
    program, _, _ = source.partition(EXAMPLE)  # which nobody asks for here
    return compile(program, f"<{task.name}>", "exec")


def defined(task: Task, source: str) -> dict[str, Any]:
    """Run a program of ours, and give what it imports and defines."""
    namespace: dict[str, Any] = {"__name__": task.name, "_turn": Turns()}
    exec(_compiled(task, source), namespace)  # noqa: S102
    return namespace


def made(task: Task, source: str) -> Any:
    """Run a program of ours, and give the answer that it defines."""
    return defined(task, source)[task.exercise.answer]


def explain(
    known: KnownResults, results: Sequence[Result], near: float = NEAR
) -> Sequence[Wrong]:
    """Find the one mistake, or the two, that give these results in every trial.

    Two are found only if no other two give the same, in two statements if there are
    such, else in one.
    """
    for one, program in known.programs.items():
        if _gives(known, program, results, near):
            return (one,)
    if all(one.error is not None for one in results):
        return ()  # of two mistakes only the first error shows
    end = time.process_time() + _SECONDS
    for some in known.pairs:
        found: dict[frozenset[str], Sequence[Wrong]] = {}
        for both, program in some:
            if time.process_time() > end:
                break
            if _gives(known, program, results, near):
                names = frozenset(one.same_as or one.sentence for one in both)
                found.setdefault(names, both)
        if found:
            return next(iter(found.values())) if len(found) == 1 else ()
    return ()


def _gives(
    known: KnownResults, program: str, results: Sequence[Result], near: float
) -> bool:
    """Ask whether a program gives these results."""
    return all(
        (given := known.result(program, place)) is not None
        and given.same_as(result, near)
        for place, result in enumerate(results)
    )


def _result(task: Task, source: str, trial: Trial) -> Result | None:
    """Give what a program gives in a trial, or `None` if it is no program.

    One that does not end is none.
    """
    try:
        answer = made(task, bounded(source))
    except Exception:  # two edits may make no program
        return None
    try:
        return attempt(task, answer, trial.drawn)
    except EndlessError:
        return None


def _raised(error: Exception) -> str:
    """Say what was raised, and of errors that many meet what is meant."""
    text = _error(error)
    meant = [said for pattern, said in _MEANT if re.search(pattern, text)]
    return " ".join([f"It raised {text}.", *meant])


def _error(error: BaseException | None) -> str:
    text = " ".join(str(error).split()).rstrip(".")
    return f"{type(error).__name__}: {text}"


def _capital(text: str | None) -> str:
    return text[:1].upper() + text[1:] if text else ""


def _breaks(
    task: Task, holds: Callable[..., bool], answer: Any, trials: Sequence[Trial]
) -> str | None:
    """Say that a property does not hold in some trial, or that asking it raised."""
    for trial in trials:
        given = copied(trial.drawn)
        try:
            if not holds(answer, *given):
                return "It does not."
        except _of_answers(task) as raised:
            # If it cannot be asked of the solution, the exercise is to blame.
            holds(made(task, task.source.solution), *copied(trial.drawn))
            return f"It raised {type(raised).__name__}: {raised}"
    return None


def _changed(task: Task, answer: Any, trials: Sequence[Trial]) -> str | None:
    """Say how an answer changes what it is given, where the solution does not."""
    right = made(task, task.source.solution)
    for trial in trials:
        changes = []
        for one in (right, answer):
            given = copied(trial.drawn)
            states: set[str] = set()
            _asked(task, noting(one, states), given)
            changes.append((tensors_differ(given, trial.drawn), states))
        (in_place, states), (mine_in_place, mine) = changes
        if mine_in_place and not in_place:
            return f"changes its arguments in place{writes(answer)}"
        if left := mine - states:
            return f"changes {min(left)} of what it was given"
    return None


def _small_trial(task: Task, sizes: Mapping[str, Any], seed: int) -> Trial | None:
    """Draw a trial of these sizes; give `None` where they do not fit the exercise."""
    try:
        drawn = draw(task, sizes, seed)
    except _of_answers(task):  # it may be made for other sizes
        return None
    right = attempt(task, made(task, task.source.solution), drawn)
    return None if right.error is not None else Trial(drawn, right)


def smallest_case(
    known: KnownResults, answer: Any, sentence: str
) -> tuple[tuple[str, ...], bool]:
    """Show the smallest sizes at which an answer and the solution differ.

    Args:
        known: What is right.
        answer: What is wrong.
        sentence: What is said above; if it speaks of nan, so does the case if one can.

    Returns:
        The lines, and whether they show nan where none should be.
    """
    task, wanted = known.task, _NAN in sentence
    first: tuple[str, ...] = ()
    for trial in known.small():
        mine = attempt(task, answer, trial.drawn)
        if mine.same_as(trial.right):
            continue
        yours, right = shown_apart(mine.value, trial.right.value, _LONGEST - 9)
        if mine.error is not None:
            told = _error(mine.error)
            yours = type(mine.error).__name__ if told in sentence else told
        differs = "" if mine.error else str(difference(mine.value, trial.right.value))
        shows_nan = _NAN in differs
        given = _given(task, trial.drawn)
        lines = (f"with     {given}", f"yours    {yours}", f"must be  {right}")
        value, of_type, near = fitted(mine.value, trial.right.value)
        # Where more than the type is wrong, so it is in the case.
        type_alone = bool(of_type) and same(value, trial.right.value, near)
        if shows_nan or not (wanted or type_alone):
            return lines, shows_nan
        first = first or lines
    return first, False


def _given(task: Task, drawn: Sequence[Any]) -> str:
    """Write the call, or by their names the numbers that a longer test began with."""
    given = shown_in(drawn, _LONGEST - 20 - 9 * len(drawn))
    if task.exercise.ask is call:
        return f"{task.exercise.answer}({', '.join(given)})"
    _, *names = inspect.signature(task.exercise.ask).parameters
    pairs = zip(names, given, strict=False)
    return ", ".join(f"{name} = {one}" for name, one in pairs)


def own_lines(error: BaseException, *, told: bool = False) -> str:
    """Give the lines of a traceback that are the reader's own, and the error.

    Args:
        error: What was raised.
        told: Whether the error is told elsewhere, so that its text is left out.
    """
    lines = []
    if isinstance(error, SyntaxError):
        lines.append(f"line {error.lineno}: {(error.text or '').strip()}")
    for one in traceback.extract_tb(error.__traceback__):
        if _is_ours(one.filename):
            continue
        lines += [f"line {one.lineno}, in {one.name}", f"    {one.line}"]
    if not told:
        lines.append(_error(error))
    return "\n".join(lines)


def _is_ours(filename: str) -> bool:
    """Ask whether a file is one of this package or of PyTorch, or has no lines."""
    packages = (Path(__file__).parents[2], Path(torch.__file__).parent)
    return any(Path(filename).is_relative_to(one) for one in packages)


def example(task: Task, namespace: Namespace) -> tuple[str, str]:
    """Run the worked example with what a file defines.

    Returns:
        What it printed, if that is not what it must print alone; and a sentence if it
        comes out wrong.
    """
    program, expected = task.source.example
    printed = io.StringIO()
    # Where a traceback looks for the lines of a file.
    source = program.splitlines(keepends=True)
    linecache.cache["<example>"] = (len(program), None, source, "<example>")
    try:
        with contextlib.redirect_stdout(printed), _reproducible():
            exec(compile(program, "<example>", "exec"), dict(namespace))  # noqa: S102
    except Exception as raised:  # whatever a reader's code may raise
        told = _error(raised)
        line = own_lines(raised, told=True).splitlines()[-1].strip()
        told = f"The worked example raised {told}. That was at {line}"
        return printed.getvalue(), told
    shown = printed.getvalue()
    # A tensor of one number stands for the number, but has fewer digits.
    bare = _OF_ONE.sub(r"\1", shown)
    if _alike(shown, expected) or _alike(bare, expected, few=bare != shown):
        return "", ""
    # What a reader prints on the way may stand between the lines.
    lines = iter(shown.splitlines())
    if all(any(_alike(one, line) for one in lines) for line in expected.splitlines()):
        return shown, ""
    return shown, (
        "The output of the worked example differs from its comment: it prints "
        f"{_quoted(shown)}, and must print {_quoted(expected)}."
    )


def _quoted(text: str) -> str:
    text = " ".join(text.split())
    return f"`{text}`" if len(text) <= _LONGEST else f"`{text[:_LONGEST]} ...`"


def with_example(verdict: Verdict, told: str) -> Verdict:
    """Add to a verdict what the worked example did, in few words if it is known."""
    if verdict.ok and told:
        return replace(verdict, state="failed", sentence=told)
    raised = verdict.sentence.removeprefix("It raised ").partition(" (")[0][:30]
    if verdict.sentence.startswith(f"It raised {raised}") and told.startswith(
        f"The worked example raised {raised}"
    ):
        told = "The worked example raises it too."
    return replace(verdict, example=told)


def _alike(printed: str, expected: str, *, few: bool = False) -> bool:
    """Compare texts: words exactly, numbers to one unit of the last place.

    If few digits are printed, it is the last place of those.

    Whether a tensor knows its gradient is not compared, unless it is expected to.
    """
    if "grad" not in expected:
        printed = _GRADIENT.sub("", printed)
    if _words(_NUMBER.sub("0", printed)) != _words(_NUMBER.sub("0", expected)):
        return False
    pairs = zip(_NUMBER.findall(printed), _NUMBER.findall(expected), strict=True)
    return all(
        abs(float(a) - float(b)) <= max(_unit(b), few * _unit(a)) for a, b in pairs
    )


def _words(text: str) -> list[str]:
    return text.split()


def _unit(number: str) -> float:
    # PyTorch writes "3." only for what is whole.
    _, _, decimals = number.partition(".")
    return 1.01 * 10.0 ** -len(decimals or "000") if "." in number else 0.0


@contextlib.contextmanager
def _reproducible() -> Iterator[None]:
    """Use one thread and seeds of our own, and leave the reader's as they are."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=()):
            yield
    finally:
        torch.set_num_threads(threads)
