"""A program of a page finds what a fresh interpreter has, and leaves nothing behind."""

import gc
import io
import json
import logging
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
import traceback
from pathlib import Path

import numpy
import pytest
import torch

from proofread import run as module
from proofread.run import sandbox as capture
from proofread.run.isolation import Interpreter, imported
from proofread.run.sandbox import TimeLimitError
from proofread.run.worker import Result, run

ROOT = Path(__file__).parents[4]


@pytest.fixture
def interpreter(tmp_path: Path) -> Interpreter:
    return Interpreter(tmp_path)


def go(interpreter: Interpreter, code: str, **rest: object) -> Result:
    return run(textwrap.dedent(code), interpreter, **rest)


def printed(interpreter: Interpreter, code: str, **rest: object) -> str:
    result = go(interpreter, code, **rest)
    assert result.error is None, "".join(traceback.format_exception(result.error))
    assert result.problems == []
    return result.output


# ---- What a program is -------------------------------------------------------------

WHOLE = {
    "is the main module": ("print(__name__)\n", "__main__\n"),
    "runs what runs when it is not imported": (
        "if __name__ == '__main__':\n    print('here')\n",
        "here\n",
    ),
    "can be pickled": (
        """
        import pickle
        class A:
            x = 3
        print(pickle.loads(pickle.dumps(A())).x, A.__module__)
        """,
        "3 __main__\n",
    ),
    "has a source": (
        """
        import inspect
        def f():
            return 1
        class A:
            x = 3
        print(inspect.getsource(f) + inspect.getsource(A), end="")
        """,
        "def f():\n    return 1\nclass A:\n    x = 3\n",
    ),
    "has dataclasses and annotations in strings": (
        """
        from __future__ import annotations
        import dataclasses, typing
        @dataclasses.dataclass
        class A:
            x: int = 3
        print(A(), typing.get_type_hints(A))
        """,
        "A(x=3) {'x': <class 'int'>}\n",
    ),
    "can be compiled by torch": (
        """
        import torch
        @torch.compile(backend="eager", fullgraph=True)
        def f(x):
            return 2 * x
        print(f(torch.ones(2)))
        """,
        "tensor([2., 2.])\n",
    ),
    "prints through its children too": (
        """
        import subprocess, sys
        print("first")
        subprocess.run([sys.executable, "-c", "print('second')"], check=True)
        print("third")
        """,
        "first\nsecond\nthird\n",
    ),
    "prints through C too": (
        """
        import ctypes
        print("first")
        ctypes.CDLL(None).puts(b"second")
        """,
        "first\nsecond\n",
    ),
    "prints any letter": ("print('√ü')\n", "√ü\n"),
    "has no arguments": ("import sys\nprint(sys.argv)\n", "['']\n"),
    "stands in an empty folder": ("import os\nprint(os.listdir())\n", "[]\n"),
    "finds the modules that it writes": (
        """
        from pathlib import Path
        Path("mine.py").write_text("x = 3")
        import mine
        print(mine.x)
        """,
        "3\n",
    ),
    "sees no test around it": (
        "import os\nprint([n for n in os.environ if n.startswith('PYTEST')])\n",
        "[]\n",
    ),
}


@pytest.mark.parametrize(("code", "output"), WHOLE.values(), ids=WHOLE)
def test_a_program(interpreter: Interpreter, code: str, output: str) -> None:
    page = str(interpreter.project / "page.md")
    assert printed(interpreter, code, page=page, line=7) == output


# ---- What it leaves behind ---------------------------------------------------------

# What a program changes, and what tells whether it is as before.
LEAKS = {
    "folder": ("import os; os.chdir('/')", "import os; print(os.listdir())"),
    "environment": (
        "import os; os.environ['A'] = '1'; del os.environ['PATH']",
        "import os; print('A' in os.environ, 'PATH' in os.environ)",
    ),
    "arguments": ("import sys; sys.argv[:] = ['a']", "import sys; print(sys.argv)"),
    "path": (
        "import sys; sys.path.insert(0, 'x')",
        "import sys; print('x' in sys.path)",
    ),
    "names": ("a = 1", "print('a' in dir())"),
    "main module": (
        "import sys; sys.modules['__main__'].a = 1",
        "import sys; print(hasattr(sys.modules['__main__'], 'a'))",
    ),
    "written modules": (
        "from pathlib import Path; Path('mine.py').write_text(''); import mine",
        "import sys; print('mine' in sys.modules)",
    ),
    "made modules": (
        "import sys, types; sys.modules['mine'] = types.ModuleType('mine')",
        "import sys; print('mine' in sys.modules)",
    ),
    "warnings": (
        "import warnings; warnings.simplefilter('ignore')",
        "import warnings; print(warnings.filters[0][0])",
    ),
    "dtype": (
        "import torch; torch.set_default_dtype(torch.float64)",
        "import torch; print(torch.ones(2).dtype)",
    ),
    "device": (
        "import torch; torch.set_default_device('meta')",
        "import torch; print(torch.ones(2).device)",
    ),
    "print options": (
        "import torch; torch.set_printoptions(precision=1, sci_mode=True)",
        "import torch; print(torch.tensor(0.25))",
    ),
    "threads": (
        "import torch; torch.set_num_threads(torch.get_num_threads() + 1)",
        "import torch; print(torch.get_num_threads())",
    ),
    "gradients": (
        "import torch; torch.set_grad_enabled(False)",
        "import torch; print(torch.is_grad_enabled())",
    ),
    "anomalies": (
        "import torch; torch.autograd.set_detect_anomaly(True, check_nan=False)",
        "import torch; print(torch.is_anomaly_enabled())",
    ),
    "determinism": (
        "import torch; torch.use_deterministic_algorithms(True)",
        "import torch; print(torch.are_deterministic_algorithms_enabled())",
    ),
    "precision": (
        "import torch; torch.set_float32_matmul_precision('medium')",
        "import torch; print(torch.get_float32_matmul_precision())",
    ),
    "print options of numpy": (
        "import numpy; numpy.set_printoptions(precision=1)",
        "import numpy; print(numpy.ones(1) / 3)",
    ),
    "errors of numpy": (
        "import numpy; numpy.seterr(all='raise')",
        "import numpy; print(numpy.geterr())",
    ),
    "names of the project's modules": (
        "import ours; ours.f = len; ours.more = 1; del ours.gone",
        "import ours; print(ours.f(), hasattr(ours, 'more'), ours.gone)",
    ),
    "methods of the project's classes": (
        "import ours; ours.A.f = len; ours.A.more = 1",
        "import ours; print(ours.A().f(), hasattr(ours.A, 'more'))",
    ),
    "submodules that came late": (
        "import ours; ours.late()",
        "import ours; print(ours.late().x)",
    ),
}
OURS = """
gone = 5
def f(): return 3
def late():
    import ours.deep
    return ours.deep
class A:
    def f(self): return 7
"""


@pytest.mark.parametrize(("change", "look"), LEAKS.values(), ids=LEAKS)
def test_a_program_changes_nothing_for_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str, look: str
) -> None:
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours" / "__init__.py").write_text(OURS)
    (tmp_path / "ours" / "deep.py").write_text("x = 11\n")
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.startswith("ours")]:
        monkeypatch.delitem(sys.modules, name)
    interpreter = Interpreter(tmp_path)
    before = printed(interpreter, look)
    assert go(interpreter, change).error is None
    assert printed(interpreter, look) == before
    # And what looks does see a change.
    assert go(interpreter, change + "\n" + look).output != before or "late" in look


@pytest.mark.parametrize("code", ["x = 1", "1 / 0", "raise SystemExit"])
def test_a_program_changes_nothing_for_whoever_runs_it(
    interpreter: Interpreter, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_MINE", "1")
    monkeypatch.setattr(sys, "argv", ["a", "b"])

    def state() -> list[object]:
        signals = [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGALRM)]
        streams = [sys.stdout, sys.stderr, os.fstat(1), os.fstat(2)]
        places = [os.getcwd(), dict(os.environ), list(sys.path), list(sys.argv)]
        return [*signals, *streams, *places, sys.modules["__main__"]]

    before = state()
    go(interpreter, "import os, sys\nos.environ['B'] = ''\nsys.path.clear()\n" + code)
    assert state() == before


def test_each_program_has_an_empty_folder_and_no_other_is_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.txt").write_text("mine")
    interpreter = Interpreter(tmp_path)
    look = "import os\nprint(os.getcwd(), os.listdir())"
    first = printed(interpreter, look)
    assert first.endswith(" []\n")
    # An empty one serves again; one that is full or gone does not.
    assert printed(interpreter, look) == first
    go(interpreter, "from pathlib import Path; Path('a').mkdir()")
    second = printed(interpreter, look)
    assert second.endswith(" []\n")
    assert second != first
    go(interpreter, "import os; os.rmdir(os.getcwd())")
    third = printed(interpreter, look)
    assert third.endswith(" []\n")
    assert third != second
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    folders = [Path(text.partition(" ")[0]) for text in (first, second, third)]
    assert tmp_path not in folders
    del interpreter
    gc.collect()
    assert not any(folder.exists() for folder in folders)
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_random_numbers_that_a_fresh_interpreter_draws_differ(
    interpreter: Interpreter,
) -> None:
    random.seed(3)
    numpy.random.seed(3)
    torch.manual_seed(3)
    code = "import {0}\nprint({0}.{1})"
    for library, call in (
        ("random", "random()"),
        ("numpy", "random.rand()"),
        ("torch", "rand(3)"),
    ):
        program = code.format(library, call)
        assert printed(interpreter, program) != printed(interpreter, program)


def test_random_numbers_of_a_gpu_start_anywhere_too(
    interpreter: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeded = []
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "seed_all", lambda: seeded.append(True))
    printed(interpreter, "import torch")
    assert seeded


def test_another_number_of_threads(interpreter: Interpreter) -> None:
    code = "import torch; print(torch.get_num_threads())"
    own = torch.get_num_threads()
    assert printed(interpreter, code) == f"{own}\n"
    assert printed(interpreter, code, threads=own + 1) == f"{own + 1}\n"
    assert printed(interpreter, code) == f"{own}\n"


def test_without_torch_and_numpy(
    interpreter: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "torch")
    monkeypatch.delitem(sys.modules, "numpy")
    assert printed(interpreter, "print(1)", threads=3) == "1\n"
    assert interpreter.restores == []


def test_what_a_module_prints_is_seen_by_the_first_that_imports_it(
    interpreter: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "this", raising=False)
    assert printed(interpreter, "import this").startswith("The Zen of Python")
    monkeypatch.delitem(sys.modules, "this")


# ---- How it can fail ---------------------------------------------------------------

ENDS = {
    "1 / 0": "ZeroDivisionError: division by zero",
    "raise ValueError": "ValueError",
    "raise SystemExit(3)": "SystemExit: 3",
    "exit()": "SystemExit: None",
    "raise KeyboardInterrupt": "KeyboardInterrupt",
    "import pytest; pytest.skip('not now')": "Skipped: not now",
    "import torch; torch.ones(2) @ torch.ones(3)": (
        "RuntimeError: inconsistent tensor size, expected tensor [2] and src [3] "
        "to have the same number of elements, but got 2 and 3 elements respectively"
    ),
    "import json; json.loads('')": (
        "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)"
    ),
    "class MyError(Exception): ...\nraise MyError('a')": "MyError: a",
    "def": "SyntaxError: invalid syntax",
    "x = '\0'": "SyntaxError: source code string cannot contain null bytes",
}


@pytest.mark.parametrize(("code", "refusal"), ENDS.items())
def test_the_error_that_ends_a_program(
    interpreter: Interpreter, code: str, refusal: str
) -> None:
    result = go(interpreter, code, page="page.md", line=7)
    assert result.refusal.removeprefix("_pytest.outcomes.") == refusal
    assert result.problems == []


def test_a_program_that_ends_well_has_no_refusal(interpreter: Interpreter) -> None:
    assert go(interpreter, "x = 1").refusal == ""


def test_a_traceback_names_the_page_and_its_line(interpreter: Interpreter) -> None:
    page = str(interpreter.project / "page.md")
    result = go(interpreter, "def f():\n    1 / 0\nf()\n", page=page, line=10)
    lines = traceback.format_exception(result.error)
    assert f'  File "{page}", line 13, in <module>\n    f()\n' in lines
    assert any(
        line.startswith(f'  File "{page}", line 12, in f\n    1 / 0\n')
        for line in lines
    )


PROBLEMS = {
    "import sys; print('a', file=sys.stderr)": ["wrote to stderr:\na"],
    "import os; os.write(2, b'b')": ["wrote to stderr:\nb"],
    "import warnings; warnings.warn('old')": [
        "warned, from line 8: UserWarning: old",
    ],
    "import warnings; warnings.warn('a')\nwarnings.warn('b', DeprecationWarning)": [
        "warned, from line 8: UserWarning: a",
        "warned, from line 9: DeprecationWarning: b",
    ],
    "import warnings; warnings.warn_explicit('c', UserWarning, 'x.py', 1)": [
        "warned, from a package: UserWarning: c",
    ],
    "import os; os.system('echo d >&2')": ["wrote to stderr:\nd"],
}


@pytest.mark.parametrize(("code", "problems"), PROBLEMS.items())
def test_what_is_wrong_though_it_ends_well(
    interpreter: Interpreter, code: str, problems: list[str]
) -> None:
    result = go(interpreter, code, page="page.md", line=7)
    assert result.error is None
    assert result.problems == problems


def test_a_warning_is_seen_each_time(interpreter: Interpreter) -> None:
    for _ in range(2):
        assert go(interpreter, "import warnings; warnings.warn('a')").problems


@pytest.mark.parametrize("name", ["_exit", "abort", "execv", "execve"])
def test_a_program_cannot_end_the_process(interpreter: Interpreter, name: str) -> None:
    arguments = {"_exit": "0", "abort": ""}.get(name, "'/bin/true', ['true'], {}")
    before = getattr(os, name)
    result = go(interpreter, f"import os\nos.{name}({arguments})\nprint('after')")
    assert result.refusal == f"SystemExit: os.{name}"
    assert result.output == ""
    assert getattr(os, name) is before


FORKS = {
    "goes on": ("print('child')", "child\nparent 0\n", []),
    "raises": ("1 / 0", "parent 256\n", ["ZeroDivisionError: division by zero"]),
    "exits": ("raise SystemExit", "parent 0\n", []),
    "exits at once": ("os._exit(3)", "parent 768\n", []),
}


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.parametrize(("code", "output", "said"), FORKS.values(), ids=FORKS)
def test_a_child_does_not_go_on_as_its_parent(
    tmp_path: Path, code: str, output: str, said: list[str]
) -> None:
    program = (
        "import os\npid = os.fork()\nif pid:\n"
        "    status = os.waitpid(pid, 0)[1]\n    print('parent', status)\n"
        f"else:\n    {code}\n"
    )
    first, second = drive([{"code": program}, {"code": "print(3)"}], folder=tmp_path)
    assert first["output"] == output
    problems = [text for text in first["problems"] if "stderr" in text]
    assert [text.splitlines()[-1] for text in problems] == said
    assert second["output"] == "3\n"


class EndError(BaseException):
    """Stands for the end of a process."""


def end(status: int) -> None:
    raise EndError(status)


def test_how_a_child_ends(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(capture, "EXIT", end)
    monkeypatch.setattr(os, "_exit", end)

    def child(error: BaseException | None, *, at_once: bool = False) -> object:
        with monkeypatch.context() as other:
            try:
                with capture.kept_alive():
                    other.setattr(os, "getpid", lambda: -1)
                    if at_once:
                        os._exit(7)
                    if error is not None:
                        raise error
            except EndError as ended:
                return ended.args[0]
        return "went on"

    assert child(None) == 0
    assert child(SystemExit(3)) == 0
    assert capfd.readouterr().err == ""
    assert child(ValueError("no")) == 1
    assert capfd.readouterr().err.endswith("ValueError: no\n")
    assert child(None, at_once=True) == 1


def test_how_the_clock_ends_the_process(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(capture, "EXIT", end)
    heard = []

    def never_ends() -> None:
        while True:
            try:
                time.sleep(60)
            except TimeLimitError as error:
                heard.append(str(error))

    with pytest.raises(EndError), capture.limited(0.01):
        never_ends()
    assert heard == ["the program must end within 0.01 s."] * capture.PATIENCE
    said = "the program must end within 0.01 s. It cannot be stopped.\n"
    assert capfd.readouterr().err == said


STREAMS = {
    "another": "import io, sys\nprint(1)\nsys.stdout = io.StringIO()\nprint(2)",
    "no stream": "import sys\nprint(1)\nsys.stdout = object()",
    "none": "import sys\nprint(1)\nsys.stdout = None",
    "closed": "import sys\nprint(1)\nsys.stdout.close()",
    "descriptor closed": "import os\nprint(1)\nos.close(1)",
}


@pytest.mark.parametrize("code", STREAMS.values(), ids=STREAMS)
def test_a_program_may_do_what_it_wants_with_its_stream(
    interpreter: Interpreter, code: str
) -> None:
    stdout, descriptor = sys.stdout, os.fstat(1)
    assert printed(interpreter, code) == "1\n"
    assert sys.stdout is stdout
    assert os.fstat(1) == descriptor
    assert printed(interpreter, "print(3)") == "3\n"


def test_logs_are_written_as_in_a_fresh_interpreter(interpreter: Interpreter) -> None:
    code = (
        "import logging, sys\n"
        "logging.basicConfig(stream=sys.stdout, level='INFO', format='%(message)s')\n"
        "logging.info('seen')\n"
    )
    handlers, level = logging.root.handlers[:], logging.root.level
    assert printed(interpreter, code) == "seen\n"
    assert (logging.root.handlers, logging.root.level) == (handlers, level)
    result = go(interpreter, "import logging\nlogging.warning('a')\nlogging.info('b')")
    assert result.problems == ["wrote to stderr:\nWARNING:root:a"]


def test_one_that_cannot_be_stopped_takes_the_process_with_it(tmp_path: Path) -> None:
    code = (
        "import time\nwhile True:\n    try:\n        time.sleep(60)\n"
        "    except BaseException:\n        pass\n"
    )
    program = json.dumps({"code": code, "limit": 0.05}) + "\n"
    command = [sys.executable, module.__file__]
    done = subprocess.run(command, input=program, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stdout == ""


ENDLESS = {
    "a loop": "while True: pass",
    "a wait": "import time; time.sleep(60)",
    "one that catches exceptions": (
        "while True:\n    try:\n        while True: pass\n    except Exception: pass"
    ),
}


@pytest.mark.parametrize("code", ENDLESS.values(), ids=ENDLESS)
def test_a_program_that_never_ends(interpreter: Interpreter, code: str) -> None:
    start = time.monotonic()
    result = go(interpreter, code, limit=0.2)
    assert result.refusal == (
        "proofread.run.sandbox.TimeLimitError: the program must end within 0.2 s."
    )
    assert isinstance(result.error, TimeLimitError)
    assert time.monotonic() - start < 30
    # The clock has stopped.
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert go(interpreter, "x = 1").error is None


def test_a_program_that_catches_all_is_told_again(interpreter: Interpreter) -> None:
    code = """
    import time
    told = 0
    while told < 2:
        try:
            time.sleep(60)
        except BaseException:
            told += 1
    print(told)
    """
    assert printed(interpreter, code, limit=0.1) == "2\n"


def test_a_person_who_interrupts_is_heard(interpreter: Interpreter) -> None:
    with pytest.raises(KeyboardInterrupt):
        go(interpreter, "import os, signal; os.kill(os.getpid(), signal.SIGINT)")
    assert Path.cwd() != interpreter.project
    assert sys.modules["__main__"].__name__ == "__main__"


def test_in_another_thread_there_is_no_limit(interpreter: Interpreter) -> None:
    results = []
    code = "import time; time.sleep(0.3); print(3)"
    worker = threading.Thread(
        target=lambda: results.append(go(interpreter, code, limit=0.1))
    )
    worker.start()
    worker.join()
    assert [result.output for result in results] == ["3\n"]


# ---- Reading a program -------------------------------------------------------------


def test_the_modules_that_a_program_imports() -> None:
    code = "import a.b, c as d\nfrom e.f import g\nfrom . import h\nfrom .i import j\n"
    assert imported(code) == ["a.b", "c", "e.f"]
    assert imported("def") == []
    assert imported("\0") == []


def test_what_is_installed_is_not_the_project(tmp_path: Path) -> None:
    interpreter = Interpreter(tmp_path)

    owns = interpreter.owns
    assert owns("ours", str(tmp_path / "src" / "ours.py"))
    assert not owns("theirs", str(tmp_path / ".venv/lib/site-packages/theirs.py"))
    assert not owns("theirs", str(tmp_path.parent / "theirs.py"))
    assert not owns("built_in", None)
    assert not owns(
        "proofread.run.worker", str(tmp_path / "tools/proofread/src/proofread/run.py")
    )


# ---- Where only the reader's packages are ------------------------------------------


def drive(
    programs: list[dict[str, object]], *options: str, folder: Path = ROOT
) -> list[dict[str, object]]:
    """Run programs by the file alone, without this project on the path."""
    lines = "".join(json.dumps(program) + "\n" for program in programs)
    done = subprocess.run(
        [sys.executable, "-P", *options, module.__file__],
        cwd=folder,
        input=lines,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_programs_are_run_by_the_file_alone() -> None:
    first, second, third = drive(
        [
            {"code": "x = 1\nprint(x)"},
            {"code": "print('x' in dir())\n1 / 0", "page": "page.md", "line": 7},
            {"code": "import os; os.write(2, b'a')"},
        ]
    )
    nothing = {"error": "", "problems": [], "shapes": [], "traceback": ""}
    assert first == nothing | {"output": "1\n"}
    assert second["output"] == "False\n"
    assert second["error"] == "ZeroDivisionError: division by zero"
    assert 'File "page.md", line 9, in <module>' in str(second["traceback"])
    assert third["problems"] == ["wrote to stderr:\na"]


def test_a_library_that_comes_in_with_another_stays_whole(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "theirs.py").write_text("import torch\n")
    add = f"import sys\nsys.path.append({str(tmp_path / 'theirs')!r})\n"
    look = "import torch\nprint(torch.ones(2), torch.nn.Linear(2, 3).weight.shape)"
    first, second = drive(
        [{"code": add + "import theirs\nprint(3)"}, {"code": look}], folder=tmp_path
    )
    assert first["output"] == "3\n"
    assert second["output"] == "tensor([1., 1.]) torch.Size([3, 2])\n"


def test_what_the_file_answers(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    programs = '{"code": "print(3)"}\n{"code": "1 / 0"}\n'
    monkeypatch.setattr(sys, "stdin", io.StringIO(programs))
    module.main()
    first, second = map(json.loads, capfd.readouterr().out.splitlines())
    nothing = {"error": "", "problems": [], "shapes": [], "traceback": ""}
    assert first == nothing | {"output": "3\n"}
    assert second["error"] == "ZeroDivisionError: division by zero"
    assert second["traceback"].startswith("Traceback")


def test_it_needs_the_standard_library_alone() -> None:
    names = ("capture", "fresh", "tensors")
    parts = [Path(module.__file__).with_name(f"{name}.py") for name in names]
    for path in (Path(module.__file__), *parts):
        needed = {name.partition(".")[0] for name in imported(path.read_text())}
        assert needed <= {*sys.stdlib_module_names, "proofread"}


def test_the_programs_of_the_file_find_no_more_than_others_do() -> None:
    code = "import sys\nprint(*filter(None, sys.path))"
    plain = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True
    )
    assert drive([{"code": code}], "-I")[0]["output"] == plain.stdout
