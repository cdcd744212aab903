"""Practice at a terminal: save a file, read the verdict, press a key."""

import os
import secrets
import shutil
import sys
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path

from headway._paths import shown
from headway.practice.judging.verdict import Verdict
from headway.practice.judging.worker import Worker
from headway.practice.task.library import Task
from headway.practice.terminal.folder import Folder
from headway.practice.terminal.keys import pressed, single_keys
from headway.practice.terminal.texts import hint_text, list_text, solution_text

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
        notice: What to say above the first verdict.
    """

    def __init__(
        self, folder: Folder, worker: Worker, *, seed: int | None, notice: str = ""
    ) -> None:
        self.folder = folder
        self.worker = worker
        self.seed = seed
        self.notice = notice
        self.verdict: Verdict | None = None
        self._seen = self._times()

    def run(self) -> None:
        """Judge the current file, then whatever is saved, until `q` is pressed."""
        with single_keys():
            self.judge(self.folder.current)
            while True:
                try:
                    key = pressed(_EVERY)
                except EOFError:
                    return
                if key in ("q", "\x03"):
                    return
                if act := self._acts.get(key):
                    act()
                elif saved := self._saved():
                    self.judge(saved)

    def judge(self, task: Task) -> Verdict:
        """Judge the file of an exercise, keep what came out, and show it."""
        self.folder.current = task
        if not self.folder.path_of(task).exists():
            self.folder.make()
        self._clear()
        print(f"judging {task.name} ...", flush=True)
        self.verdict = judged(self.folder, self.worker, task, self.seed)
        self._clear()
        self._print_notices()
        print(
            page(
                self.folder,
                task,
                self.verdict,
                width=_width(),
                colour=_coloured(),
            )
        )
        self._print_keys()
        return self.verdict

    def _print_notices(self) -> None:
        """Say once what has happened to the folder."""
        for notice in (self.notice, self.folder.take_notice()):
            if notice:
                print(f"{textwrap.fill(notice, _width())}\n")
        self.notice = ""

    @property
    def _acts(self) -> Mapping[str, Callable[[], object]]:
        return {
            "h": self._hint,
            "s": lambda: self._print(solution_text(self.folder.current)),
            "l": self._list,
            "n": lambda: self.judge(self.folder.next_open(self.folder.current)),
            "p": lambda: self.judge(self.folder.previous(self.folder.current)),
            "r": lambda: self.judge(self.folder.current),
        }

    def _hint(self) -> None:
        task = self.folder.current
        self._print(
            hint_text(self.folder, task, self.verdict, width=_width(), newest=True)
        )

    def _list(self) -> None:
        near = self.folder.current
        self._print(list_text(self.folder, _width(), near=near))

    def _print(self, text: str) -> None:
        print(f"\n{text}")
        self._print_keys()

    def _print_keys(self) -> None:
        # No key is parted from its word.
        keys = "  ".join(one.replace(" ", "\xa0") for one in _KEYS)
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
    done = str(sum(map(folder.passed, folder.tasks)))
    command = "headway practice"
    if folder.core:
        done += f" of {len(folder.tasks)} core"
        command += " --core"
    place = shown(folder.path_of(task), Path.cwd())
    head = f"{task.number} of {len(folder.library)}  {task.source.title}"
    if task.stars:
        head += f"  core {task.stars}"
    lines = [textwrap.fill(head, width), f"{place}  ({done} done)", ""]
    lines.append(verdict.text(width=width, colour=colour))
    if verdict.ok:
        on, solution = (
            ("n", "s")
            if keys
            else (
                f"{command} {folder.next_open(task).name}",
                f"headway practice solution {task.name}",
            )
        )
        how = f"{on} goes on to the next exercise; {solution} shows a solution."
        lines += ["", how if not keys else textwrap.fill(how, width)]
    elif verdict.state == "failed":
        lines += ["", f"hidden numbers from seed {verdict.seed}"]
    return "\n".join(lines)


def _width() -> int:
    return min(shutil.get_terminal_size().columns, 80)


def _coloured() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")
