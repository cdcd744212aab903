"""End quietly if nobody reads on, as in `headway practice list | head`."""

import errno
import os
import sys
from collections.abc import Callable

NOBODY_READS = 128 + 13  # what a shell says of a program that SIGPIPE has ended


def quiet_if_closed(main: Callable[[], int]) -> int:
    """Do the work of a command, and end it without a word once nobody reads on.

    Args:
        main: The whole command; it may end Python, too, as `--help` does.

    Returns:
        The status of the command, or that of a program which SIGPIPE has ended.
    """
    try:
        try:
            return main()
        finally:
            # What is left is written now: at its end, Python would complain. Unlike
            # `sys.stdout.flush`, this does nothing where there is no stdout.
            print(end="", flush=True)
    except OSError as error:
        if not _is_closed_pipe(error):
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NOBODY_READS


def _is_closed_pipe(error: OSError) -> bool:
    """Say whether it was written where nobody reads."""
    on_windows = sys.platform == "win32" and error.errno == errno.EINVAL
    return isinstance(error, BrokenPipeError) or on_windows
