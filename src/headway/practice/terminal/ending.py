"""The ending: what the reader wrote becomes a model, and the model writes a text."""

import json
import secrets
import textwrap
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

from headway.models.small_gpt import small_text
from headway.practice.judging.worker import (
    START_LIMIT,
    NoVerdictError,
    Process,
    command,
)
from headway.practice.task.library import Task
from headway.practice.task.refused import RefusedError
from headway.practice.terminal.assembled import PARTS
from headway.practice.terminal.folder import Folder

BEGIN = '"My dear Mr. Bennet," said '
WAIT = "Putting together what you wrote, which takes up to a minute ..."
_LIMIT = 60.0  # seconds
_EVERY = 0.2  # seconds
_COUNT, _TEMPERATURE = 300, 0.5
_LONGEST = 64  # characters that the model can look back
_NEAR = 1e-6
_SHOWN = 5  # names of exercises that are still to be solved


def ending_text(
    folder: Folder,
    *,
    begin: str = BEGIN,
    seed: int | None = None,
    width: int = 80,
    limit: float = _LIMIT,
    stopped: Callable[[], bool] = lambda: False,
) -> str:
    """Let the reader's own functions write a text, or say what is still to be solved.

    They run in a process of their own.

    Args:
        folder: The reader's folder.
        begin: What the text begins with, from 1 to 64 characters.
        seed: What the text is drawn from; `None` draws it anew each time.
        width: How many characters a line may have.
        limit: How many seconds it may take, the import of PyTorch not counted.
        stopped: Whether the reader does not want to wait; it is asked again and again.

    Raises:
        ValueError: If `begin` is empty or too long, or the novel that the model has
            read lacks one of its characters.
        KeyboardInterrupt: If the reader has stopped it.
    """
    if not 1 <= len(begin) <= _LONGEST:
        raise RefusedError(
            f"begin must have from 1 to {_LONGEST} characters; got {len(begin)}."
        )
    if unknown := {*begin} - {*small_text()}:
        raise RefusedError(
            "begin must be made of characters of the novel; "
            f"got begin with {min(unknown)!r}."
        )
    if left := [one for one in folder.tasks if not folder.passed(one)]:
        return textwrap.fill(_missing(folder, left), width)
    head = f"All {len(folder.tasks)} exercises are solved."
    if not PARTS.keys() <= folder.library.keys():
        return head
    states = {task.name: state for task, state in folder.state()}
    files = {
        name: str(folder.path_of(folder.library[name]).resolve())
        for name in PARTS
        if states[name] == "done"
    }
    request = {
        "set": str(folder.library.folder),
        "files": files,
        "write": {
            "begin": begin,
            "count": _COUNT,
            "temperature": _TEMPERATURE,
            "seed": secrets.randbelow(10_000) if seed is None else seed,
        },
    }
    found = _answered(request, limit, stopped)
    if "raised" in found:
        told = f"Put together into a model, they do not run: {found['raised']}."
        return textwrap.fill(f"{head} {told}", width)
    return "\n".join([*_places(head, files, width), *_written(found, files, width)])


def _missing(folder: Folder, left: Sequence[Task]) -> str:
    """Say what is still to be solved, and what was solved and does not pass now."""
    told = "What you write here becomes a model in the end, which writes a text."
    if new := [one.name for one in left if not folder.done(one)]:
        told += f" Still to be solved: {_some(new)}."
    if lost := [one for one in left if folder.done(one)]:
        names = _some([folder.path_of(one).name for one in lost])
        told += f" Solved once, but not passing now: {names}. Solve it again"
        if kept := [one.name for one in map(folder.kept, lost) if one is not None]:
            told += f", or rename {_some(kept)} back and call headway practice --all"
        told += "."
    return told


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}"


def _answered(
    request: Mapping[str, Any], limit: float, stopped: Callable[[], bool]
) -> Any:
    """Have the text written by a process of its own, unless the reader stops it."""
    process = Process(command("headway.practice.terminal.assembled"))

    def ask() -> Any:
        process.wait_until_ready(START_LIMIT)
        return process.ask(json.dumps(request), limit, json.loads)

    try:
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(ask)
            try:
                while wait([asked], _EVERY).not_done:
                    if stopped():
                        raise KeyboardInterrupt
            finally:
                process.process.kill()  # which ends the thread
        return asked.result()
    except NoVerdictError as why:
        return {"raised": str(why).rstrip(".")}
    finally:
        process.end()


def _places(head: str, files: Mapping[str, str], width: int) -> list[str]:
    """Say where in the model each of the reader's functions stands."""
    told = "Put together, they are the small model of chapter 7.2. Its weights were "
    told += "trained on twenty chapters of Pride and Prejudice; these parts are yours:"
    lines = [*textwrap.wrap(f"{head} {told}", width), ""]
    lines += [f"  {name:20}  {PARTS[name]}"[:width] for name in files]
    if others := ", ".join(name for name in PARTS if name not in files):
        lines += ["", *textwrap.wrap(f"The book's own are {others}.", width)]
    return lines


def _written(
    found: Mapping[str, Any], files: Mapping[str, str], width: int
) -> list[str]:
    """Give the text, and whether this is the model of the book, with no leak."""
    lines = [""]
    for line in f"{found['text'].rpartition(' ')[0]} ...".splitlines():
        lines += textwrap.wrap(
            line, width, initial_indent="    ", subsequent_indent="    "
        )
    whose = "Your leaks" if "leaks" in files else "The test leaks"
    leak = "a leak" if found["leaks"] else "no leak"
    same = (
        "each guess is that of the book's model"
        if found["off"] <= _NEAR
        else "its guesses differ from those of the book's model, by up to "
        f"{found['off']:.2g}"
    )
    return [
        *lines,
        "",
        *textwrap.wrap("A model of this size writes words, not sense.", width),
        *textwrap.wrap(f"{whose} finds {leak} in it, and {same}.", width),
    ]
