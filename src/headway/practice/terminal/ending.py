"""The ending: what the reader wrote becomes a model, and the model writes a text."""

import json
import secrets
import textwrap
from collections.abc import Mapping
from typing import Any

from headway.models.small_gpt import small_text
from headway.practice.judging.worker import (
    START_LIMIT,
    NoVerdictError,
    Process,
    command,
)
from headway.practice.task.refused import RefusedError
from headway.practice.terminal.assembled import PARTS
from headway.practice.terminal.folder import Folder

BEGIN = '"My dear Mr. Bennet," said '
_LIMIT = 60.0  # seconds
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
) -> str:
    """Let the reader's own functions write a text, or say what is still to be solved.

    They run in a process of their own.

    Args:
        folder: The reader's folder.
        begin: What the text begins with, from 1 to 64 characters.
        seed: What the text is drawn from; `None` draws it anew each time.
        width: How many characters a line may have.
        limit: How many seconds it may take, the import of PyTorch not counted.

    Raises:
        ValueError: If `begin` is empty or too long, or the novel that the model has
            read lacks one of its characters.
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
    if left := [one.name for one in folder.tasks if not folder.passed(one)]:
        more = f" and {len(left) - _SHOWN} more" if len(left) > _SHOWN else ""
        told = "What you write here becomes a model in the end, which writes a text. "
        told += f"Still to be solved: {', '.join(left[:_SHOWN])}{more}."
        return textwrap.fill(told, width)
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
    found = _answered(request, limit)
    if "raised" in found:
        told = f"Put together into a model, they do not run: {found['raised']}."
        return textwrap.fill(f"{head} {told}", width)
    return "\n".join([*_places(head, files, width), *_written(found, files, width)])


def _answered(request: Mapping[str, Any], limit: float) -> Any:
    """Have the text written by a process of its own."""
    process = Process(command("headway.practice.terminal.assembled"))
    try:
        process.wait_until_ready(START_LIMIT)
        return process.ask(json.dumps(request), limit, json.loads)
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
        *textwrap.wrap(f"{whose} finds {leak} in it, and {same}.", width),
    ]
