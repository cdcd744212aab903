"""Run a program of a page as a fresh interpreter would, in the process that is there.

It needs nothing but the standard library, so that it also runs, by its path, where
only the reader's packages are installed:

    python worker.py < programs.jsonl > results.jsonl
"""

import faulthandler
import json
import os
import signal
import sys
import threading
import traceback
import warnings
from dataclasses import dataclass, field
from pathlib import Path

# By its path it must find its parts, and its programs must not find this project.
if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from proofread.run.isolation import Interpreter
from proofread.run.sandbox import captured, kept_alive, limited, main_module
from proofread.run.tensor_shapes import Row, shapes

if __name__ == "__main__":
    del sys.path[0]

LIMIT = 60.0


@dataclass
class Result:
    """What a program did."""

    output: str = ""
    error: BaseException | None = None
    problems: list[str] = field(default_factory=list)

    @property
    def refusal(self) -> str:
        """The error that it ended with, as the last line of a traceback shows it."""
        return describe(self.error) if self.error is not None else ""


def describe(error: BaseException) -> str:
    """Return type and message, as the end of a traceback has them."""
    kind = type(error)
    module = "" if kind.__module__ in ("builtins", "__main__") else kind.__module__
    name = f"{module}.{kind.__qualname__}" if module else kind.__qualname__
    # Where it is wrong is no part of the message: lines of a page move.
    message = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{name}: {message}" if message else name


def execute(
    code: str, page: str, line: int, limit: float, made: list[Row] | None
) -> BaseException | None:
    """Run a program as `__main__`; return what it raised."""
    with main_module(page, line, code) as module:
        interrupts: list[int] = []

        def interrupt(number: int, frame: object) -> None:
            interrupts.append(number)
            raise KeyboardInterrupt

        in_main = threading.current_thread() is threading.main_thread()
        before = signal.signal(signal.SIGINT, interrupt) if in_main else None
        try:
            program = compile("\n" * line + code, page, "exec", dont_inherit=True)
            with limited(limit), kept_alive():
                exec(program, vars(module))  # noqa: S102
        except BaseException as error:
            if interrupts:  # a person asked, not the program
                raise
            return error
        finally:
            if made is not None:
                made += shapes(vars(module))
            if in_main:
                signal.signal(signal.SIGINT, before)
    return None


def run(
    code: str,
    interpreter: Interpreter,
    *,
    page: str = "<page>",
    line: int = 0,
    limit: float = LIMIT,
    threads: int = 0,
    made: list[Row] | None = None,
) -> Result:
    """Run a program as if it were pasted into a fresh interpreter.

    Args:
        code: The program.
        interpreter: What is put back before and after.
        page: The file that a traceback names.
        line: The line of the page above the program's first.
        limit: Seconds after which the program is stopped.
        threads: How many threads PyTorch uses; 0 for as many as by itself.
        made: Gets the names and shapes of the tensors that it has made.

    Returns:
        What it printed and how it ended. That it wrote to stderr or gave a warning
        is a problem.
    """
    result = Result()
    with (
        interpreter.fresh(code, threads),
        captured(2, "stderr") as stderr,
        captured(1, "stdout") as stdout,
        warnings.catch_warnings(record=True) as warned,
    ):
        warnings.simplefilter("always")
        result.error = execute(code, page, line, limit, made)
    result.output = stdout[0]
    for warning in warned:
        where = f"line {warning.lineno}" if warning.filename == page else "a package"
        kind = warning.category.__name__
        result.problems.append(f"warned, from {where}: {kind}: {warning.message}")
    if stderr[0]:
        result.problems.append(f"wrote to stderr:\n{stderr[0].rstrip()}")
    return result


def main() -> None:
    """Run the programs that stdin has, one a line; write one result a line."""
    interpreter = Interpreter(Path.cwd())
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as results:
        for text in sys.stdin:
            made: list[Row] = []
            result = run(interpreter=interpreter, made=made, **json.loads(text))
            trace = ""
            if result.error is not None:
                trace = "".join(traceback.format_exception(result.error))
            answer = {
                "output": result.output,
                "error": result.refusal,
                "problems": result.problems,
                "shapes": made,
                "traceback": trace,
            }
            results.write(json.dumps(answer) + "\n")
            results.flush()


if __name__ == "__main__":
    faulthandler.enable()
    main()
