"""A class: the folders of its students, and a verdict on each of their files."""

import json
import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path

from headway.practice.grading.protected import LIMIT, Server, judge_protected
from headway.practice.judging.judge import KnownResults
from headway.practice.judging.verdict import Verdict
from headway.practice.task.library import Library, Task

Files = Mapping[str, Path]
Verdicts = Mapping[str, Mapping[str, Verdict]]
_Work = tuple[Path, str, int, Files, float]
_Judged = tuple[str, Mapping[str, Verdict]]
_SERVERS: list[Server] = []  # that of this process
_JOBS = 2  # servers, each with a judge beside it
_MARKS = {"passed": "+", "failed": "-", "open": "."}


def files_of(folder: Path, tasks: Sequence[Task]) -> Files:
    """Find the files of exercises in a folder, named `NAME.py` or `06_NAME.py`."""
    found = {}
    for path in sorted(folder.glob("*.py")):
        number, _, name = path.stem.partition("_")
        for task in tasks:
            if path.stem == task.name or (number.isdigit() and name == task.name):
                found[task.name] = path
    return found


def students_of(folder: Path, tasks: Sequence[Task]) -> Mapping[str, Files]:
    """Find the folders of students, and the files of exercises in each.

    The files may lie in a folder `practice` of a student's. A link is no folder.

    Args:
        folder: The folder of the class; or of one student, who has its name then.
        tasks: The exercises.
    """
    if files := files_of(folder, tasks):
        return {folder.resolve().name: files}
    found = {}
    for one in sorted(folder.iterdir() if folder.is_dir() else ()):
        if one.is_dir() and not one.is_symlink():
            files = files_of(one, tasks) or files_of(one / "practice", tasks)
            if files:
                found[one.name] = files
    return found


def judge_class(
    library: Library,
    students: Mapping[str, Files],
    *,
    seed: int,
    jobs: int = _JOBS,
    limit: float = LIMIT,
    told: Callable[[str], None] = lambda _: None,
) -> Verdicts:
    """Judge the files of a class, each in a process of its own.

    Args:
        library: The set of exercises.
        students: The files of each student.
        seed: What the hidden numbers are drawn from, the same for all.
        jobs: How many files are judged at a time.
        limit: How many seconds a file may take.
        told: Takes the name of each exercise when all answers to it are judged.

    Returns:
        The verdicts of each student by the names of the exercises.
    """
    verdicts: dict[str, dict[str, Verdict]] = {name: {} for name in students}
    work = []
    for task in library.values():
        name = task.name
        paths = {one: of[name] for one, of in students.items() if name in of}
        if paths:
            work.append((library.folder, task.name, seed, paths, limit))
    with Pool(min(jobs, len(work))) as pool:
        for name, found in pool.map(work):
            for student, verdict in found.items():
                verdicts[student][name] = verdict
            told(name)
    return verdicts


class Pool:
    """Judges exercises at the same time; a single one here, without more processes."""

    def __init__(self, jobs: int) -> None:
        self.pool = None
        if jobs > 1:
            context = multiprocessing.get_context("spawn")
            self.pool = ProcessPoolExecutor(
                jobs, mp_context=context, initializer=_begin
            )
        else:
            _begin()

    def map(self, work: Iterable[_Work]) -> Iterator[_Judged]:
        """Judge each exercise, and give what came out in the same order."""
        return (self.pool.map if self.pool else map)(judge_answers, work)

    def __enter__(self) -> "Pool":
        """Give the pool itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End its processes."""
        if self.pool:
            self.pool.shutdown(cancel_futures=True)
        else:
            _SERVERS.pop().close()


def _begin() -> None:
    """Start the server of this process; it ends with the process at the latest."""
    _SERVERS.append(Server())


def judge_answers(work: _Work) -> _Judged:
    """Judge all answers to one exercise, which share what is right for its numbers.

    Args:
        work: The set, the exercise, the seed, the files of the students, the limit.
    """
    folder, name, seed, paths, limit = work
    known = KnownResults(Library(folder)[name], seed)
    return name, {
        student: judge_protected(_SERVERS[-1], path, known, limit=limit)
        for student, path in paths.items()
    }


def table(verdicts: Verdicts, tasks: Sequence[Task]) -> str:
    """Give a line for each student, with a sign for each exercise."""
    width = max(map(len, verdicts))
    asked = [one for one in tasks if any(one.name in of for of in verdicts.values())]
    lines = [
        f"{'':{width}}  " + "".join(str(one.number // 10 or " ")[-1] for one in asked),
        f"{'':{width}}  " + "".join(str(one.number % 10) for one in asked),
    ]
    for student, found in verdicts.items():
        signs = "".join(
            _MARKS[found[one.name].state] if one.name in found else " " for one in asked
        )
        right = signs.count("+")
        lines.append(f"{student:{width}}  {signs}  {right} of {len(asked)}")
    lines += ["", "+ right   - wrong   . not written yet"]
    return "\n".join(lines)


def as_json(verdicts: Verdicts) -> str:
    """Give all verdicts as a JSON object."""
    found = {
        student: {name: {"ok": one.ok, **asdict(one)} for name, one in of.items()}
        for student, of in verdicts.items()
    }
    return json.dumps(found, indent=2)
