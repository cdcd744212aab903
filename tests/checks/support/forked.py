"""Processes that check a target, forked from one that has imported PyTorch before."""

import multiprocessing
import os
import sys
from typing import Any


class Forked:
    """What `subprocess.Popen` gives for a process that checks, forked from a server.

    It does what the program of `own_process` does, in the same folder and with the same
    modules to be found, and ends in the same ways.

    Args:
        command: The command that would be run: its last two arguments count.
        stdout: Where it prints to, which is where errors go.
    """

    def __init__(self, command: list[str], stdout: int):
        assert stdout == 2
        self.returncode: int | None = None
        server: Any = multiprocessing.get_context("forkserver")
        server.set_forkserver_preload(["headway.checks.command.worker"])
        self.process = server.Process(target=_check, args=(os.getcwd(), command))
        self.process.start()

    def wait(self) -> None:
        """Wait until it has ended."""
        self.process.join()
        self.returncode = self.process.exitcode

    def kill(self) -> None:
        """End it, if it has not ended."""
        self.process.kill()


def _check(folder: str, command: list[str]) -> None:
    os.chdir(folder)
    os.dup2(2, 1)
    code, *arguments = command[command.index("-c") + 1 :]
    sys.argv[1:] = arguments
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(code, names)  # noqa: S102
