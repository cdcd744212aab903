"""Check one target, in a process that was started for it."""

import contextlib
import ctypes
import faulthandler
import json
import os
import pickle
import signal
import sys
import traceback
from pathlib import Path
from typing import IO, NoReturn

from headway.checks.attention_or_model import check_attention_or_model
from headway.checks.command import junit, sarif
from headway.checks.command.configuration import OF_CONSTRUCTORS
from headway.checks.command.formats import to_github, to_text
from headway.checks.command.load import explain_target, load_target
from headway.checks.command.own_process import INTERRUPTED, Reply, Request
from headway.checks.command.place import named_place, place_of
from headway.checks.core.cannot_check import CannotCheckError
from headway.checks.core.errors import describe, is_ours, place
from headway.checks.core.limit import set_limit
from headway.checks.core.progress import shown_if_slow

_PARENT_DEATH = 1  # PR_SET_PDEATHSIG of Linux


def main(name: str) -> NoReturn:
    """Read a request in a folder, and write the answer there.

    Args:
        name: The folder.
    """
    _end_with_parent()
    folder = Path(name)
    request = pickle.loads((folder / "request").read_bytes())  # noqa: S301  # our own
    # What ends Python leaves the lines that it was at.
    with (folder / "lines").open("w", encoding="utf-8") as lines:
        _record_ends(lines)
        set_limit(request.limit, lines)
        reply = answer(request)
        half = folder / "half"
        half.write_text(json.dumps(reply), encoding="utf-8")
        half.replace(folder / "reply")
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)  # threads that the code has left behind would keep it


def _end_with_parent() -> None:
    """Have the system end this process when the one that waits for it is killed."""
    with contextlib.suppress(AttributeError, TypeError):  # Linux alone can
        ctypes.CDLL(None).prctl(_PARENT_DEATH, int(signal.SIGKILL))


def _record_ends(lines: IO[str]) -> None:
    """Have a crash, an interruption and `os._exit` leave the lines that they met."""
    faulthandler.enable(lines)
    if hasattr(faulthandler, "register"):  # not on Windows
        faulthandler.register(signal.SIGINT, lines, chain=True)
    end, own = os._exit, os.getpid()

    def recorded(status: int) -> NoReturn:
        if os.getpid() == own:  # and not a process that the code has started
            faulthandler.dump_traceback(lines, all_threads=False)
        end(status)

    os._exit = recorded


def answer(request: Request) -> Reply:
    """Import a target, build it and check it, in this process.

    Args:
        request: What is asked.
    """
    try:
        # What the code itself prints is no part of the report.
        with contextlib.redirect_stdout(sys.stderr):
            return _explained(request) if request.explain else _checked(request)
    except CannotCheckError as error:
        return Reply(2, str(error))
    except KeyboardInterrupt as raised:
        return Reply(INTERRUPTED, f"interrupted{place(raised)}.")
    except (Exception, SystemExit) as raised:
        said = f"{request.target.name} could not be checked"
        if not is_ours(raised):
            return Reply(2, f"{said}: {describe(raised)}.")
        traceback.print_exc()
        return Reply(
            2,
            f"{said} because of a mistake in Headway: {describe(raised)}. Please "
            "report it with the output above.",
        )


def _explained(request: Request) -> Reply:
    return Reply(0, explain_target(request.target.name))


def _checked(request: Request) -> Reply:
    name, options, arguments, by_place = request.target
    shared = {key: one for key, one in options.items() if key in OF_CONSTRUCTORS}
    with load_target(name, shared, arguments, by_place) as code:
        with shown_if_slow(sys.stderr):
            report = check_attention_or_model(code, options)
        status = 0 if report.ok else 1
        if request.format == "github":
            return Reply(status, to_github(report, place_of(code)))
        if request.format == "sarif":
            where = place_of(code) or named_place(name)
            return Reply(status, sarif.to_part(report, name, where))
    if request.format == "json":
        return Reply(status, report.to_json())
    if request.format == "junit":
        return Reply(status, junit.to_suite(report, name))
    return Reply(status, to_text(report, colour=request.colour))
