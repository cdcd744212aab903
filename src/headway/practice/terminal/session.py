"""Practice at a terminal: save a file, read the verdict, press a key."""

import contextlib
import os
import secrets
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from headway._paths import shown
from headway.practice.judging.verdict import Verdict
from headway.practice.judging.worker import Worker
from headway.practice.task.library import Task
from headway.practice.terminal.ending import WAIT, ending_text
from headway.practice.terminal.folder import Folder
from headway.practice.terminal.keys import REDRAW, pressed, single_keys
from headway.practice.terminal.texts import (
    chapter_word,
    done_text,
    hint_text,
    list_text,
    place_text,
    solution_text,
    task_text,
    ways,
)

_EVERY = 0.2  # seconds
_KEYS = (
    "h hint",
    "s solution",
    "l list",
    "n next",
    "p previous",
    "r run again",
    "q quit",
)


class Session:
    """Watches the files of a folder, and judges what is saved.

    Args:
        folder: The reader's folder.
        worker: What judges.
        seed: What hidden numbers are drawn from; `None` draws it anew each time.
        notice: What to say above the first verdict, in lines.

    Attributes:
        task: Where the reader is here; another terminal may be elsewhere.
    """

    def __init__(
        self, folder: Folder, worker: Worker, *, seed: int | None, notice: str = ""
    ) -> None:
        self.folder = folder
        self.worker = worker
        self.seed = seed
        self.notice = notice
        self.verdict: Verdict | None = None
        self.task = folder.current
        self._screen = ""
        self._seen = self._times()

    def run(self) -> None:
        """Judge the current file, then whatever is saved, until `q` is pressed."""
        with single_keys(), contextlib.suppress(EOFError):
            self.judge(self.task)
            while True:
                key = pressed(_EVERY)
                if key in ("q", "\x03"):
                    return
                if act := self._acts.get(key):
                    act()
                elif saved := self._saved():
                    self.judge(saved)

    def judge(self, task: Task) -> Verdict:
        """Judge the file of an exercise, keep what came out, and show it."""
        self.folder.current = self.task = task
        if not self.folder.path_of(task).exists():
            self.folder.make()
        self._clear()
        if self.notice:  # it can be read in the meantime
            print(f"{_broken(self.notice)}\n")
        print(f"judging {task.name} ...", flush=True)
        self.verdict = judged(self.folder, self.worker, task, self.seed)
        shown = page(
            self.folder,
            task,
            self.verdict,
            width=_width(),
            colour=_coloured(),
        )
        self._show("\n\n".join([*self._notices(), shown]))
        return self.verdict

    def _notices(self) -> Iterator[str]:
        """Give once what has happened to the folder."""
        for notice in (self.notice, self.folder.take_notice()):
            if notice:
                yield _broken(notice)
        self.notice = ""

    def _show(self, text: str) -> None:
        """Let a text be what the terminal shows."""
        self._screen = text
        self._clear()
        print(text)
        self._print_keys()

    @property
    def _acts(self) -> Mapping[str, Callable[[], object]]:
        return {
            "h": self._hint,
            "s": self._solution,
            "l": lambda: self._print(list_text(self.folder, _width(), near=self.task)),
            "n": self._next,
            "p": self._previous,
            "e": self._ending,
            "r": lambda: self.judge(self.task),
            REDRAW: lambda: self._show(self._screen),
        }

    def _hint(self) -> None:
        self._print(
            hint_text(self.folder, self.task, self.verdict, width=_width(), newest=True)
        )

    def _solution(self) -> None:
        solved = self.folder.passed(self.task)
        self._print(solution_text(self.task, solved=solved))

    def _next(self) -> None:
        """Go on to what is open; where all is solved, to the next, then the ending."""
        if not _all_solved(self.folder):
            task, tasks = self.folder.next_open(self.task), [*self.folder.tasks]
            if task == self.task:
                self.notice = "This is the only exercise that is still open."
            elif self.task in tasks and tasks.index(task) < tasks.index(self.task):
                self.notice = "No later one is open: n has gone back to this one."
            self.judge(task)
        elif task_after := self.folder.following(self.task):
            self.judge(task_after)
        else:
            self._ending()

    def _previous(self) -> None:
        task = self.folder.previous(self.task)
        if task == self.task:
            self.notice = "This is the first exercise."
        self.judge(task)

    def _ending(self) -> None:
        """Show the ending; `q` and Ctrl-C go back."""
        before = self._screen
        self._clear()
        print(f"{WAIT}\nq goes back.", flush=True)
        try:
            self._show(
                ending_text(
                    self.folder,
                    width=_width(),
                    stopped=lambda: pressed(0) in ("q", "\x03"),
                )
            )
        except KeyboardInterrupt:
            self._show(before)

    def _print(self, text: str) -> None:
        print(f"\n{text}")
        self._print_keys()

    def _print_keys(self) -> None:
        # No key is parted from its word.
        known = [*_KEYS[:-1], "e ending", _KEYS[-1]]
        known = known if _all_solved(self.folder) else [*_KEYS]
        keys = "  ".join(one.replace(" ", "\xa0") for one in known)
        print("\n" + textwrap.fill(keys, _width()).replace("\xa0", " "), flush=True)

    def _saved(self) -> Task | None:
        """Give the exercise whose file has changed since it was last looked at."""
        times = self._times()
        changed = [name for name, when in times.items() if self._seen.get(name) != when]
        self._seen = times
        return self.folder.library[changed[0]] if changed else None

    def _times(self) -> dict[str, tuple[int, int]]:
        """Give when each file was changed, and its size; editors replace files."""
        found = {}
        for name, task in self.folder.library.items():
            try:
                known = self.folder.path_of(task).stat()
            except OSError:
                continue  # in the moment of being replaced
            found[name] = (known.st_mtime_ns, known.st_size)
        return found

    def _clear(self) -> None:
        print("\x1b[2J\x1b[H" if _coloured() else "", end="")


def judged(folder: Folder, worker: Worker, task: Task, seed: int | None) -> Verdict:
    """Judge the file of an exercise, and keep whether it was right."""
    path = folder.path_of(task).resolve()
    verdict = worker.judge(
        folder.library,
        task,
        path,
        seed=secrets.randbelow(10_000) if seed is None else seed,
    )
    folder.mark(task, passed=verdict.ok)
    return verdict


def page(
    folder: Folder,
    task: Task,
    verdict: Verdict,
    *,
    width: int,
    colour: bool,
    keys: bool = True,
) -> str:
    """Give what the terminal shows of one exercise.

    Args:
        folder: The reader's folder.
        task: The exercise.
        verdict: What was said of it.
        width: How many characters a line may have.
        colour: Whether to mark the state by an ANSI colour.
        keys: Whether the reader can press a key now.
    """
    place = shown(folder.path_of(task), Path.cwd())
    head = textwrap.fill(place_text(folder, task), width)
    lines = [head, f"{place}  ({done_text(folder)})", ""]
    if verdict.state == "open":
        lines += [task_text(task, width), ""]
    lines.append(verdict.text(width=width, colour=colour))
    if verdict.ok:
        if word := chapter_word(folder, task):
            lines += ["", textwrap.fill(word, width)]
        how = _how_to_go_on(folder, task, keys=keys)
        lines += ["", textwrap.fill(how, width)]
    elif verdict.state == "failed":
        lines += ["", f"hidden numbers from seed {verdict.seed}"]
    return "\n".join(lines)


def _how_to_go_on(folder: Folder, task: Task, *, keys: bool) -> str:
    """Say what comes after an exercise that is solved, and what shows other ways."""
    command = "headway practice"
    solution = "s" if keys else f"{command} solution {task.name}"
    more = f"{solution} shows {ways(task)}."
    if _all_solved(folder):
        on = "e" if keys else f"{command} ending"
        count = len(folder.tasks)
        return f"All {count} exercises are solved: {on} shows the ending; {more}"
    on = "n" if keys else f"{command} {folder.next_open(task).name}"
    return f"{on} goes on to the next exercise; {more}"


def _all_solved(folder: Folder) -> bool:
    return all(map(folder.passed, folder.tasks))


def _broken(notice: str) -> str:
    """Break the lines of a notice."""
    return "\n".join(textwrap.fill(one, _width()) for one in notice.splitlines())


def _width() -> int:
    return min(shutil.get_terminal_size().columns, 80)


def _coloured() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")
