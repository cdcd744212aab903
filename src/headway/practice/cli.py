"""`headway practice`, for a terminal."""

import argparse
import io
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from headway.practice.grading import command
from headway.practice.judging.copies import CAN_COPY, Copies
from headway.practice.judging.worker import Worker
from headway.practice.proof.pairs import pairs
from headway.practice.proof.prove import prove
from headway.practice.task.library import BOOK, Library
from headway.practice.task.refused import RefusedError
from headway.practice.terminal.ending import BEGIN, WAIT, ending_text
from headway.practice.terminal.every_file import (
    as_json,
    judge_all,
    table,
    write_junit,
)
from headway.practice.terminal.folder import NAME, PROGRESS, Folder, remembered_set
from headway.practice.terminal.session import Session, judged, page
from headway.practice.terminal.texts import (
    hint_text,
    list_text,
    solution_text,
    welcome_text,
)

_ACTIONS = ("list", "hint", "solution", "reset", "ending")
_LOOKS = ("list", "hint", "solution", "ending")  # which make no files
_EPILOG = """\
ACTION is one of these, or an exercise to go to, by its name, number or file:
  list            list the exercises, and what is done
  hint [NAME]     open one more hint
  solution [NAME] show a solution
  reset NAME      start over; your version is kept beside the file
  review          empty three that you solved a week ago or longer, to solve again
  ending [TEXT]   let what you wrote write a text, once all is solved
Without a terminal it judges once and exits, with 0 if the answer is right, else 1.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says.

    Returns:
        The exit status: 0; 1 if an answer is not right; 2 if it was called wrongly.
    """
    known = _parser().parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what it has no sign for is a "?"
            stream.reconfigure(errors="replace")
    try:
        return _run(known)
    except RefusedError as error:
        print(f"headway practice: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print()
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "headway practice",
        description="Write each stage of attention, and read which mistake you made.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("action", nargs="?", metavar="ACTION")
    parser.add_argument("name", nargs="?", metavar="NAME", help="an exercise")
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument(
        "--path",
        dest="way",
        help="go through a path, such as evening, from now on; all goes back",
    )
    ways.add_argument(
        "--core",
        dest="way",
        action="store_const",
        const="core",
        help="go through the core exercises only, those with one to three stars",
    )
    parser.add_argument("--once", action="store_true", help="judge once, and exit")
    parser.add_argument(
        "--all",
        nargs="?",
        type=Path,
        const=False,  # the folder that the other options name
        metavar="FOLDER",
        help="judge all files that you have begun, and exit with 0 if all are right",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--junit", type=Path, metavar="FILE", help="with --all: write a JUnit file"
    )
    parser.add_argument("--seed", type=int, help="the seed of the hidden numbers")
    parser.add_argument(
        "--folder", type=Path, help=f"where your files are, if not in {NAME}"
    )
    parser.add_argument(
        "--set",
        type=Path,
        help="a folder of other exercises, from now on; book goes back",
    )
    parser.add_argument(
        "--prove",
        type=Path,
        metavar="FOLDER",
        help="prove a set of exercises; with the name of one, that one alone",
    )
    parser.add_argument(
        "--pairs",
        action="store_true",
        help="with --prove: print the pairs of mistakes that a reader may be told of",
    )
    command.add_options(parser)
    return parser


def _run(known: argparse.Namespace) -> int:
    """Prove a set, or act on a folder."""
    if known.prove is not None:
        return _prove(Library(known.prove), known.action, show_pairs=known.pairs)
    if (status := command.run(known)) is not None:
        return status
    folder = _folder(known)
    if known.all is not None:
        return _judge_all(known, folder)
    status = _act(known, folder)
    if told := folder.take_notice():
        print(f"\n{told}", file=sys.stderr)
    return status


def _folder(known: argparse.Namespace) -> Folder:
    """Give the reader's folder, with its set and what the reader goes through."""
    path = known.all or known.folder
    if path is None:
        file = Path(known.action or "")
        here = [one for one in (file.parent, Path()) if (one / PROGRESS).exists()]
        path = here[0] if here else Path(NAME)
    chosen = known.set or remembered_set(path) or BOOK
    if chosen == Path("book") and not chosen.exists():
        chosen = BOOK
    way = "" if known.way == "all" else known.way
    folder = Folder(path, Library(chosen), way=way)
    if way not in (None, "", "core", "optional", *folder.choices):
        known_ways = ", ".join(folder.choices)
        raise RefusedError(f"--path must be one of {known_ways}; got {way!r}.")
    if not folder.tasks:
        option, what = "--path", "a path with exercises"
        if folder.core:
            option, what = "--core", "a set with core exercises, which have stars"
        raise RefusedError(f"{option} must be given {what}; got {chosen}.")
    return folder


def _judge_all(known: argparse.Namespace, folder: Folder) -> int:
    """Judge all files of a folder that were begun."""
    if not any(folder.path_of(one).exists() for one in folder.library.values()):
        raise RefusedError(
            f"--all must be given a folder of exercises; got {folder.path}."
        )
    tasks = folder.tasks
    if known.way is None:  # what was begun besides is judged, too
        others = filter(folder.begun, folder.library.values())
        tasks = [*dict.fromkeys([*tasks, *others])]
    with Copies() if CAN_COPY else Worker() as worker:
        every = [*judge_all(folder, worker, [*tasks], known.seed)]
    width = max(shutil.get_terminal_size().columns, 60) - 1
    print(as_json(every) if known.json else table(folder, every, width))
    if known.junit is not None:
        write_junit(every, known.junit)
    return 1 if any(one.verdict.state == "failed" for one in every) else 0


def _act(known: argparse.Namespace, folder: Folder) -> int:
    """Do what is asked about the files of a folder; who works there has them made."""
    action = known.action or ""
    terminal = sys.stdin.isatty() and sys.stdout.isatty()
    watches = terminal and not (known.once or known.json)
    task = None if action in ("", "review", *_ACTIONS) else folder.find(action)
    if action in _LOOKS:
        return _about(known, folder)
    begins = not any(folder.path.glob("*.py"))
    notice = _made(folder, folder.make(task), begins=begins)
    if begins and watches:
        notice += f"\n{welcome_text(folder)}"
    if notice and not (watches and action not in _ACTIONS):
        print(f"{notice}\n", file=sys.stderr if known.json else sys.stdout)
    if action == "reset":
        return _about(known, folder)
    if known.name is not None:
        raise RefusedError(f"NAME must follow hint, solution or reset; got {action!r}.")
    if action == "review":
        emptied, notice = _emptied(folder)
        if not (emptied and watches):
            print(notice)
            return 0
    elif task is not None:
        folder.current = task
    elif folder.current not in folder.tasks:
        folder.current = folder.next_open(folder.current)
    if watches:
        with Worker() as worker:
            Session(folder, worker, seed=known.seed, notice=notice).run()
        return 0
    return _once(known, folder)


def _once(known: argparse.Namespace, folder: Folder) -> int:
    """Judge the current file, and say what came out."""
    folder.current = task = folder.current  # it stays there, solved or not
    with Worker(ahead=False) as worker:
        verdict = judged(folder, worker, task, known.seed)
    if known.json:
        print(verdict.to_json())
    else:
        print(page(folder, task, verdict, width=80, colour=False, keys=False))
    return 0 if verdict.ok else 1


def _made(folder: Folder, written: Sequence[Path], *, begins: bool) -> str:
    """Say which files were made; nothing if none was."""
    if not written:
        return ""
    if begins:
        place = "this folder" if folder.path == Path() else folder.path.as_posix()
        return f"Made {len(written)} exercises in {place}."
    names = ", ".join(one.name for one in written[:3])
    more = f" and {len(written) - 3} more" if len(written) > 3 else ""
    return f"Made the missing files: {names}{more}."


def _about(known: argparse.Namespace, folder: Folder) -> int:
    """Show the list, a hint, a solution or the ending, or begin an exercise anew."""
    action, name = known.action, known.name
    width = min(shutil.get_terminal_size().columns, 80) - 1
    if action == "list":
        print(_list_json(folder) if known.json else list_text(folder, width))
        return 0
    if action == "ending":
        if all(map(folder.passed, folder.tasks)):
            print(WAIT, file=sys.stdout if sys.stdout.isatty() else sys.stderr)
        begin = BEGIN if name is None else name
        print(ending_text(folder, begin=begin, seed=known.seed, width=width))
        return 0
    if name is None and action == "reset":
        raise RefusedError("reset must be given the name of an exercise.")
    task = folder.current if name is None else folder.find(name)
    if action == "hint":
        print("" if name else f"{task.name}\n", end="")
        print(hint_text(folder, task, None))
    elif action == "solution":
        print(solution_text(task, solved=folder.passed(task)))
    else:
        kept = folder.reset(task)
        print(f"{folder.path_of(task).as_posix()} is as it was at first.")
        if kept is not None:
            print(f"Your version is in {kept.as_posix()}.")
    return 0


def _emptied(folder: Folder) -> tuple[bool, str]:
    """Empty what was solved longest ago, and go to the first; say what was emptied."""
    tasks = folder.to_review()[:3]
    if not tasks:
        return (
            False,
            "What you solve can be reviewed after a week: there is nothing yet.",
        )
    for task in tasks:
        folder.reset(task)
    folder.current = tasks[0]
    names = ", ".join(f"{one.name} (solved on {folder.solved(one)})" for one in tasks)
    return True, f"Emptied: {names}. What you wrote is kept beside each file."


def _list_json(folder: Folder) -> str:
    rows = [
        {
            "number": task.number,
            "name": task.name,
            "chapter": task.chapter,
            "title": task.source.title,
            "stars": task.exercise.stars,
            "minutes": task.exercise.minutes,
            "solved": folder.solved(task),
            "state": state,
        }
        for task, state in folder.state()
        if task in folder.tasks
    ]
    return json.dumps(rows, indent=2)


def _prove(library: Library, name: str | None, *, show_pairs: bool) -> int:
    """Prove a set, or one exercise of it, and say what is wrong."""
    ok = True
    for task in library.values() if name is None else [library.find(name)]:
        proof = prove(task)
        print(proof, flush=True)  # a whole set takes minutes
        for sentence in pairs(task) if show_pairs else ():
            print(f"        When {sentence}.")
        ok = ok and proof.ok
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
