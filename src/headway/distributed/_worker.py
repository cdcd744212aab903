"""What each process of `run_processes` does: run the program, with a limit of time."""

import contextlib
import faulthandler
import os
import runpy
import sys
import time
import traceback
from pathlib import Path


def main(program: str, deadline: str) -> int:
    """Run a program; write down what it prints, or where it fails or hangs.

    Args:
        program: Path of its source.
        deadline: When the process ends itself, in seconds since the epoch.

    Returns:
        The exit status.
    """
    folder, rank = Path(program).parent, int(os.environ["RANK"])
    left = max(float(deadline) - time.time(), 0.001)
    printed = Path(os.devnull) if rank else folder / "printed.txt"
    with (
        (folder / f"late-{rank}").open("w") as late,
        printed.open("w", encoding="utf-8") as out,
        contextlib.redirect_stdout(out),
    ):
        # A thread of its own, in C: it acts while the program waits for others.
        faulthandler.dump_traceback_later(left, exit=True, file=late)
        try:
            runpy.run_path(program, run_name="__main__")
        except Exception as error:
            (folder / f"error-{rank}").write_text(_from(program, error), "utf-8")
            return 1
        finally:
            faulthandler.cancel_dump_traceback_later()
    return 0


def _from(program: str, error: Exception) -> str:
    """Say what happened, from the program's own line on."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != program:
        trace = trace.tb_next
    return "".join(traceback.format_exception(type(error), error, trace))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
