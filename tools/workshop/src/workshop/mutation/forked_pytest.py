"""Load modules once, and run pytest in a fork for each line of the input.

    python forked_pytest.py torch

A line is a list of JSON: the folders that Python shall find first, and the arguments of
pytest. The answer is the id of the process that runs it, which leads a session of its
own, and in the next line its status.
"""

import importlib
import json
import os
import runpy
import sys
from collections.abc import Sequence


def run(folders: Sequence[str], arguments: Sequence[str]) -> None:
    """Be `python -m pytest` in an environment that has these folders in PYTHONPATH."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(null, descriptor)
    known = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([*folders, *([known] if known else [])])
    sys.path[:0] = [os.getcwd(), *folders]
    sys.argv = ["pytest", *arguments]
    runpy.run_module("pytest", run_name="__main__", alter_sys=True)


def main() -> None:
    """Answer until the input ends."""
    del sys.path[0]  # the folder of this file
    for name in sys.argv[1:]:
        importlib.import_module(name)
    for line in sys.stdin:
        begun, begin = os.pipe()
        process = os.fork()
        if process == 0:
            os.setsid()
            os.close(begun)
            os.close(begin)
            run(*json.loads(line))
            return
        os.close(begin)
        os.read(begun, 1)  # until it leads its session
        os.close(begun)
        print(process, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
