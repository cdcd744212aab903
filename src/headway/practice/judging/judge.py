"""Judge an answer: compare it with the solution, and name what is wrong."""

import contextlib
import inspect
import io
import itertools
import linecache
import re
import sys
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
from headway.practice.judging.compare import (
    copied,
    difference,
    kind,
    same,
    shown,
    shown_apart,
)
from headway.practice.judging.verdict import Verdict
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
_PAIRED = 16  # mistakes, the first of an exercise; more would make readers wait
_SMALL_LOUD = [{**one, **LOUD} for one in SMALL[-9:]]
_GRADIENT = re.compile(r",\s+(grad_fn=<\w+>|requires_grad=True)")
_NUMBER = re.compile(r"-?\d+\.\d+|-?\d+\.|-?\d+")


@dataclass(frozen=True)
class Result:
    """What a call gave: a value, or an error."""

    value: Any = None
    error: Exception | None = None

    def same_as(self, other: "Result") -> bool:
        """Whether both gave the same, be it the same error."""
        if self.error is None and other.error is None:
            return same(self.value, other.value)
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
        self._mistakes: dict[tuple[Wrong, int], Result | None] = {}

    @cached_property
    def trials(self) -> Sequence[Trial]:
        """The hidden numbers, with what is right for them."""
        return [*trials(self.task, self.seed)]

    def small(self) -> Iterator[Trial]:
        """Give trials of small sizes, the smallest first, where they fit."""
        own = self.task.exercise.trials
        sizes = own if any("case" in one for one in own) else [*SMALL, *_SMALL_LOUD]
        for place, one in enumerate(sizes):
            if place not in self._small:
                self._small[place] = _small_trial(self.task, one, self.seed)
            if (trial := self._small[place]) is not None:
                yield trial

    def mistake(self, one: Wrong, place: int) -> Result | None:
        """Give what a mistake gives in a trial, or `None` if it makes no program."""
        if (one, place) not in self._mistakes:
            source = _with(self.task, [one])
            self._mistakes[one, place] = (
                None
                if source is None
                else _result(self.task, source, self.trials[place])
            )
        return self._mistakes[one, place]


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
        for one in exercise.properties:
            if broken := _breaks(task, one.holds, answer, drawings):
                return replace(
                    verdict,
                    sentence="The numbers are right, but it must hold that "
                    f"{one.sentence}. {broken}",
                )
        if changed := _changed(task, answer, drawings):
            return replace(verdict, sentence=changed)
        return replace(verdict, state="passed", sentence=exercise.law)
    return _name_mistakes(known, answer, verdict, results)


def still_open(error: BaseException | None) -> bool:
    """Ask whether it is the stub's error; PyTorch's say what is not implemented."""
    return isinstance(error, NotImplementedError) and not str(error)


def _name_mistakes(
    known: KnownResults, answer: Any, verdict: Verdict, results: Sequence[Result]
) -> Verdict:
    """Say how far off an answer is, which mistakes it is, and the smallest case."""
    task = known.task
    found = explain(known, results)
    sentence, error = _first_difference(known.trials, results)
    verdict = replace(
        verdict,
        sentence=sentence,
        mistakes=tuple(_sentence(task, one) for one in found),
        exhibits=tuple(f"museum/{one.exhibit}" for one in found if one.exhibit),
        hint=next((one.hint for one in found if one.hint), ""),
        case=smallest_case(known, answer),
        traceback=own_lines(error, told=True) if error is not None else "",
    )
    if found or error is not None:
        return verdict
    return _beyond(task, answer, verdict, known.trials)


def _sentence(task: Task, one: Wrong) -> str:
    """Name a mistake, and those that give the same."""
    names = [one.same_as or one.sentence]
    names += [
        other.sentence for other in task.exercise.wrong if other.same_as == names[0]
    ]
    return ", or when ".join(names)


def _beyond(
    task: Task, answer: Any, verdict: Verdict, trials: Sequence[Trial]
) -> Verdict:
    """No known mistake explains it: let a check say more, or the first property."""
    exercise = task.exercise
    if exercise.report is not None:
        failed = _reported(task, exercise.report, answer)
        if failed:
            more = f" headway check says: {failed[0].sentence}"
            return replace(verdict, sentence=verdict.sentence + more)
    for one in exercise.properties:
        if broken := _breaks(task, one.holds, answer, trials):
            more = f" It must hold that {one.sentence}. {broken}"
            return replace(verdict, sentence=verdict.sentence + more)
    more = " No mistake known here explains it."
    return replace(verdict, sentence=verdict.sentence + more)


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


def attempt(task: Task, answer: Any, drawn: tuple[Any, ...]) -> Result:
    """Call an answer with copies of what was drawn."""
    # Not torch.manual_seed, which notes a traceback for each device that may wake up.
    torch.default_generator.manual_seed(1)
    return _asked(task, answer, copied(drawn))


def _asked(task: Task, answer: Any, given: Sequence[Any]) -> Result:
    try:
        return Result(task.exercise.ask(answer, *given))
    except _of_answers(task) as raised:
        return Result(error=raised)


@cache
def _compiled(task: Task, source: str) -> Any:
    program, _, _ = source.partition(EXAMPLE)  # which nobody asks for here
    return compile(program, f"<{task.name}>", "exec")


def defined(task: Task, source: str) -> dict[str, Any]:
    """Run a program of ours, and give what it imports and defines."""
    namespace: dict[str, Any] = {"__name__": task.name}
    exec(_compiled(task, source), namespace)  # noqa: S102
    return namespace


def made(task: Task, source: str) -> Any:
    """Run a program of ours, and give the answer that it defines."""
    return defined(task, source)[task.exercise.answer]


def explain(known: KnownResults, results: Sequence[Result]) -> Sequence[Wrong]:
    """Find the one mistake, or the two, that give these results in every trial."""
    wrong = known.task.exercise.wrong
    for one in wrong:
        same = (known.mistake(one, place) for place in range(len(results)))
        if _all_same(same, results):
            return (one,)
    if all(one.error is not None for one in results):
        return ()  # of two mistakes only the first error shows
    for both in itertools.combinations(wrong[:_PAIRED], 2):
        source = _with(known.task, both)
        if source is None:
            continue
        same = (_result(known.task, source, trial) for trial in known.trials)
        if _all_same(same, results):
            return both
    return ()


def _all_same(these: Iterator[Result | None], results: Sequence[Result]) -> bool:
    return all(
        one is not None and one.same_as(other)
        for one, other in zip(these, results, strict=True)
    )


def _with(task: Task, mistakes: Sequence[Wrong]) -> str | None:
    """Make all edits of these mistakes; `None` if they exclude each other."""
    source = task.source.solution
    try:
        for one in mistakes:
            source = one.apply(source, "the solution")
    except ValueError:
        return None
    return source


def _result(task: Task, source: str, trial: Trial) -> Result | None:
    """Give what a program gives in a trial, or `None` if it is no program."""
    try:
        answer = made(task, source)
    except Exception:  # two edits may make no program
        return None
    return attempt(task, answer, trial.drawn)


def _first_difference(
    trials: Sequence[Trial], results: Sequence[Result]
) -> tuple[str, Exception | None]:
    """Say of the first trial that differs how it does."""
    for trial, result in zip(trials, results, strict=True):
        if result.same_as(trial.right):
            continue
        if result.error is not None:
            return _raised(result), result.error
        return f"{_capital(difference(result.value, trial.right.value))}.", None
    raise AssertionError("one trial differs")  # pragma: no cover


def _raised(result: Result) -> str:
    """Say what was raised, and of errors that many meet what is meant."""
    text = _error(result.error)
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
    """Ask whether an answer changes what it is given, where the solution does not."""
    right = made(task, task.source.solution)
    for trial in trials:
        changes = []
        for one in (right, answer):
            given = copied(trial.drawn)
            _asked(task, one, given)
            changes.append(_tensors_differ(given, trial.drawn))
        if changes == [False, True]:
            return (
                "The result is right, but it changes its arguments in place: x += y "
                "writes into x, and x = x + y does not."
            )
    return None


def _tensors_differ(given: Sequence[Any], before: Sequence[Any]) -> bool:
    pairs = [
        (a, b)
        for a, b in zip(given, before, strict=True)
        if isinstance(a, (torch.Tensor, list, tuple, int, float))
    ]
    return not all(same(a, b) for a, b in pairs)


def _small_trial(task: Task, sizes: Mapping[str, Any], seed: int) -> Trial | None:
    """Draw a trial of these sizes; give `None` where they do not fit the exercise."""
    try:
        drawn = draw(task, sizes, seed)
    except _of_answers(task):  # it may be made for other sizes
        return None
    right = attempt(task, made(task, task.source.solution), drawn)
    return None if right.error is not None else Trial(drawn, right)


def smallest_case(known: KnownResults, answer: Any) -> tuple[str, ...]:
    """Show the smallest sizes at which an answer and the solution differ."""
    task = known.task
    for trial in known.small():
        mine = attempt(task, answer, trial.drawn)
        if mine.same_as(trial.right):
            continue
        yours, right = shown_apart(mine.value, trial.right.value)
        if mine.error is not None:
            yours = type(mine.error).__name__
        lines = (
            f"with     {_given(task, trial.drawn)}",
            f"yours    {yours}",
            f"must be  {right}",
        )
        return tuple(one if len(one) <= 240 else f"{one[:237]}..." for one in lines)
    return ()


def _given(task: Task, drawn: Sequence[Any]) -> str:
    """Write the call, or by their names the numbers that a longer test began with."""
    if task.exercise.ask is call:
        given = ", ".join(shown(one) for one in drawn)
        return f"{task.exercise.answer}({given})"
    _, *names = inspect.signature(task.exercise.ask).parameters
    pairs = zip(names, drawn, strict=False)
    return ", ".join(f"{name} = {shown(one)}" for name, one in pairs)


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
    if _alike(shown, expected):
        return "", ""
    # What a reader prints on the way may stand between the lines.
    lines = iter(shown.splitlines())
    if all(any(_alike(one, line) for one in lines) for line in expected.splitlines()):
        return shown, ""
    return shown, "The output of the worked example differs from its comment."


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


def _alike(printed: str, expected: str) -> bool:
    """Compare texts: words exactly, numbers to one unit of the last place.

    Whether a tensor knows its gradient is not compared, unless it is expected to.
    """
    if "grad" not in expected:
        printed = _GRADIENT.sub("", printed)
    if _words(_NUMBER.sub("0", printed)) != _words(_NUMBER.sub("0", expected)):
        return False
    pairs = zip(_NUMBER.findall(printed), _NUMBER.findall(expected), strict=True)
    return all(abs(float(a) - float(b)) <= _unit(b) for a, b in pairs)


def _words(text: str) -> list[str]:
    return text.split()


def _unit(number: str) -> float:
    _, _, decimals = number.partition(".")
    return 1.01 * 10.0 ** -len(decimals) if "." in number else 0.0


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
