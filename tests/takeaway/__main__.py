"""Play every exercise as a reader does, with the package that an interpreter has.

    python tests/takeaway .cache/reader/bin/python

The interpreter is that of an environment with the wheel alone. The command `headway
practice` is called in it, on a terminal and without one; then one process judges the
stub and the solution of each exercise as the command does, and a notebook judges each
solution. The kernel of the notebook runs in that environment, too, and borrows Jupyter
from this one.
"""

import asyncio
import json
import os
import re
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import ipykernel
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

LIMIT = 600  # seconds, on a computer that does much else
JUDGE_ALL = """
import contextlib, io, json, sys
from pathlib import Path

import headway
from headway import cli
from headway.practice import cli as practice
from headway.practice.task.library import book
from headway.practice.judging.run_file import judge_file
from headway.practice.judging.worker import Worker

class Here(Worker):
    def __init__(self, *, ahead):
        self._next = None

    def judge(self, library, task, path, *, seed):
        return judge_file(task, path, seed=seed)

def judged(name):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        status = cli.main(["practice", name, "--once", "--json"])
    return status, json.loads(printed.getvalue())["state"]

practice.Worker = Here
found = {}
for name, task in book().items():
    stub = judged(name)
    [path] = Path("practice").glob(f"[0-9][0-9]_{name}.py")
    path.write_text(task.source.solution, encoding="utf-8")
    found[name] = [*stub, *judged(name)]
print(json.dumps({"from": headway.__file__, "judged": found}))
"""
NOTEBOOK = """
from headway.practice import exercise
from headway.practice.task.library import book

judged = 0
for name, task in book().items():
    one = exercise(name)
    for program, state in ((one.stub, "open"), (one.solution(), "passed")):
        defined = {"__name__": "notebook"}
        exec(program, defined)
        verdict = one.check(defined[task.exercise.answer], seed=3)
        assert verdict.state == state, verdict.text()
    judged += 1
print(judged)
one
"""


def main() -> int:
    """Return 1 if something is not as it must be."""
    python = Path(sys.argv[1]).absolute()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        problems = [
            *command_problems(python, folder / "command"),
            *terminal_problems(python, folder / "terminal"),
            *all_problems(python, folder / "all"),
            *notebook_problems(python, folder / "notebook"),
        ]
    seconds = time.monotonic() - began
    print(
        "\n".join(problems) or f"All exercises are as they must be ({seconds:.0f} s)."
    )
    return bool(problems)


def environment() -> dict[str, str]:
    """Give variables that lead to no other package than the installed one."""
    kept = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    return {**kept, "COLUMNS": "60", "TERM": "xterm", "PYTHONUTF8": "1"}


def command(python: Path, *words: str) -> list[str]:
    """Give the command that pip has installed, as a reader calls it."""
    [script] = python.parent.glob("headway*")
    return [str(script), "practice", *words]


def fill(folder: Path) -> None:
    """Fill the hole of the exercise that looks rows up in a table."""
    [path] = folder.glob("practice/[0-9][0-9]_lookup.py")
    text = path.read_text(encoding="utf-8")
    path.write_text(
        re.sub("raise NotImplementedError.*", "return table[indices]", text)
    )


def command_problems(python: Path, folder: Path) -> Iterator[str]:
    """Call the command without a terminal."""
    folder.mkdir()
    for wanted in ((1, "open"), (0, "passed")):
        done = subprocess.run(
            command(python, "lookup", "--once", "--json"),
            cwd=folder,
            env=environment(),
            capture_output=True,
            text=True,
        )
        found = done.returncode, json.loads(done.stdout or "{}").get("state")
        if found != wanted:
            yield f"headway practice --once: {found}, not {wanted}\n{done.stderr}"
            return
        fill(folder)


def terminal_problems(python: Path, folder: Path) -> Iterator[str]:
    """Call the command on a terminal, save a file, and press a key."""
    import pty

    folder.mkdir()
    master, slave = pty.openpty()
    process = subprocess.Popen(
        command(python, "lookup"),
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=folder,
        env=environment(),
        start_new_session=True,
    )
    os.close(slave)
    try:
        for wanted in ("not written yet", "passed"):
            shown = read_until(master, "q quit")
            if wanted not in shown:
                yield f"headway practice on a terminal: no {wanted!r} in\n{shown}"
                return
            fill(folder)
        os.write(master, b"q")
        if status := process.wait(LIMIT):
            yield f"headway practice on a terminal: it ended with status {status}"
    finally:
        process.kill()
        process.wait()
        os.close(master)


def read_until(terminal: int, wanted: str) -> str:
    """Read until a text is shown, or the time is up."""
    shown, end = "", time.monotonic() + LIMIT
    while wanted not in shown and time.monotonic() < end:
        if select.select([terminal], [], [], 1)[0]:
            shown += os.read(terminal, 4096).decode("utf-8", "replace")
    return shown


def all_problems(python: Path, folder: Path) -> Iterator[str]:
    """Judge each stub and each solution, by one process."""
    folder.mkdir()
    done = subprocess.run(
        [str(python), "-P", "-c", JUDGE_ALL],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
    )
    if done.returncode:
        yield f"judging all exercises:\n{done.stderr}"
        return
    found = json.loads(done.stdout)
    if python.parents[1] not in Path(found["from"]).parents:
        yield f"headway must come from {python.parents[1]}; got {found['from']}"
    for name, got in found["judged"].items():
        if got != [1, "open", 0, "passed"]:
            yield f"{name}: the stub and the solution gave {got}"


def notebook_problems(python: Path, folder: Path) -> Iterator[str]:
    """Judge each stub and each solution in a notebook."""
    borrowed = str(Path(ipykernel.__file__).parents[1])
    start = (
        f"import sys; sys.path.append({borrowed!r}); "
        "from ipykernel.kernelapp import launch_new_instance as start; start()"
    )
    kernel = {
        "argv": [str(python), "-P", "-c", start, "-f", "{connection_file}"],
        "display_name": "the wheel",
        "language": "python",
    }
    (folder / "kernels" / "wheel").mkdir(parents=True)
    (folder / "kernels/wheel/kernel.json").write_text(json.dumps(kernel))
    os.environ["JUPYTER_PATH"] = str(folder)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(NOTEBOOK)])
    client = NotebookClient(
        notebook,
        timeout=LIMIT,
        startup_timeout=LIMIT,
        kernel_name="wheel",
        resources={"metadata": {"path": str(folder)}},
    )
    if os.name == "posix":  # through files of its own, as nobody else can read
        manager = client.create_kernel_manager()
        manager.connection_file = str(folder / "kernel.json")
        manager.transport = "ipc"
        manager.ip = str(folder / "kernel")
    try:
        asyncio.run(client.async_execute(env=environment()))
    except CellExecutionError as error:
        yield f"a notebook:\n{error}"
        return
    outputs = notebook.cells[0].outputs
    if [one.output_type for one in outputs] != ["stream", "execute_result"]:
        yield f"a notebook must show how many it has judged, and a task; got {outputs}"
    elif "<h4>" not in outputs[1].data.get("text/html", ""):
        yield f"a notebook must show a task as HTML; got {outputs[1].data}"


if __name__ == "__main__":
    sys.exit(main())
