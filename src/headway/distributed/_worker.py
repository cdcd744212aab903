"""What each process of `run_processes` does: run the program, with a limit of time.

It is started by its path, and imports nothing but the standard library, so that the
limit holds from the start, before the program imports torch.
"""

import contextlib
import faulthandler
import fcntl
import os
import runpy
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path

AFTER = 0.5  # seconds to wait, so that each process can say where it stands


def main(program: str, deadline: str) -> int:
    """Run a program; write down what it prints, or where it fails or stands at the end.

    Args:
        program: Path of its source.
        deadline: When its time is up, in seconds since the epoch.

    Returns:
        The exit status.
    """
    folder, rank = Path(program).parent, int(os.environ["RANK"])
    left = max(float(deadline) - time.time(), 0.001)
    # Both stay open, and the limit holds, until the process has ended.
    alive = (folder / f"alive-{os.getpid()}").open("wb")
    # It shows the caller, for as long as this process lives, that it does.
    fcntl.lockf(alive, fcntl.LOCK_EX)
    late = (folder / f"late-{rank}").open("w", encoding="utf-8")
    # A thread in C: it writes whatever the program is waiting for.
    faulthandler.dump_traceback_later(left, file=late)
    _start(_end_after, left + AFTER)
    _start(_end_with_parent)
    # As if the program were started by itself.
    sys.path[0], sys.argv = str(folder), [program]
    printed = Path(os.devnull) if rank else folder / "printed.txt"
    with printed.open("w", encoding="utf-8") as out, contextlib.redirect_stdout(out):
        try:
            runpy.run_path(program, run_name="__main__")
            _leave()
        except BaseException as error:
            if isinstance(error, SystemExit) and error.code in (None, 0):
                return 0
            text = _from(program, error)
            (folder / f"error-{rank}").write_text(text, "utf-8", "backslashreplace")
            return 1
    return 0


def _leave() -> None:
    """Leave the group of processes, if the program has not."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_initialized():
        distributed.destroy_process_group()


def _start(work: Callable[..., None], *args: float) -> None:
    threading.Thread(target=work, args=args, daemon=True).start()


def _end_after(seconds: float) -> None:
    time.sleep(seconds)
    os._exit(1)


def _end_with_parent() -> None:
    """End the process when the pipe closes that the caller holds, and so its end."""
    with contextlib.suppress(OSError):  # there is no such pipe
        while os.read(0, 1):
            pass
        os._exit(1)


def _from(program: str, error: BaseException) -> str:
    """Say what happened, from the program's own line on."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != program:
        trace = trace.tb_next
    text = "".join(traceback.format_exception(type(error), error, trace))
    return text.replace(program, "program.py")


if __name__ == "__main__":
    status = main(*sys.argv[1:])
    # Not `sys.exit`: what gloo leaves would abort a process if another ends first.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
