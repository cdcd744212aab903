"""A program of a page finds what a fresh interpreter has, and leaves nothing behind."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_proofread.pytest_plugin.lookahead import current_interpreter
from pytest_proofread.runner import Job, Result, Worker

Run = Callable[..., Result]
Printed = Callable[..., str]

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
    "keeps the letters that end a line": (r"print('1\r2')", "1\r2\n"),
    "has no arguments": ("import sys\nprint(sys.argv)\n", "['']\n"),
    "imports from its folder first": ("import sys\nprint(repr(sys.path[0]))", "''\n"),
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
    "ends when its threads end": (
        """
        import threading
        def late():
            threading.main_thread().join()
            print("second")
        threading.Thread(target=late).start()
        print("first")
        """,
        "first\nsecond\n",
    ),
    "says its last words": (
        "import atexit\natexit.register(print, 'second')\nprint('first')\n",
        "first\nsecond\n",
    ),
    "logs as in a fresh interpreter": (
        """
        import logging, sys
        logging.basicConfig(stream=sys.stdout, level="INFO", format="%(message)s")
        logging.info("seen")
        """,
        "seen\n",
    ),
    "may handle signals": (
        """
        import os, signal
        signal.signal(signal.SIGTERM, lambda *_: print("heard"))
        os.kill(os.getpid(), signal.SIGTERM)
        """,
        "heard\n",
    ),
}


@pytest.mark.parametrize(("code", "output"), WHOLE.values(), ids=WHOLE)
def test_a_program(printed: Printed, tmp_path: Path, code: str, output: str) -> None:
    assert printed(code, page=str(tmp_path / "page.md"), line=7) == output


STREAMS = {
    "another": "import io, sys\nprint(1)\nsys.stdout = io.StringIO()\nprint(2)",
    "no stream": "import sys\nprint(1)\nsys.stdout = object()",
    "none": "import sys\nprint(1)\nsys.stdout = None",
    "closed": "import sys\nprint(1)\nsys.stdout.close()",
    "descriptor closed": "import os\nprint(1)\nos.close(1)",
    "all descriptors closed": "import os\nprint(1)\nos.closerange(3, 256)",
}


@pytest.mark.parametrize("code", STREAMS.values(), ids=STREAMS)
def test_a_program_may_do_what_it_wants_with_its_streams(
    printed: Printed, code: str
) -> None:
    assert printed(code) == "1\n"


def test_nobody_types_anything(run: Run) -> None:
    result = run("input()")
    assert result.error == "EOFError: EOF when reading a line"
    result = run("breakpoint()")
    assert (
        result.error == "RuntimeError: a program of a page must not call breakpoint()."
    )
    # The second since Python 3.14.
    ends = ("bdb.BdbQuit", "SystemExit: 1")
    assert run("import pdb; pdb.set_trace()").error in ends


# ---- What it leaves behind ---------------------------------------------------------

# What a program changes, and what tells whether it is as before.
LEAKS = {
    "folder": ("import os; os.chdir('/')", "import os; print(os.listdir())"),
    "files": ("open('a', 'w').close()", "import os; print(os.listdir())"),
    "environment": (
        "import os; os.environ['A'] = '1'; del os.environ['PATH']",
        "import os; print('A' in os.environ, 'PATH' in os.environ)",
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
    "modules of Python": (
        "import json; json.a = 1; del json.loads",
        "import json; print(hasattr(json, 'a'), hasattr(json, 'loads'))",
    ),
    "what is built in": (
        "import builtins; builtins.a = 1",
        "import builtins; print(hasattr(builtins, 'a'))",
    ),
    "warnings": (
        "import warnings; warnings.simplefilter('ignore')",
        "import warnings; print(warnings.filters[0][0])",
    ),
    "logs": (
        "import logging; logging.basicConfig(level='INFO')",
        "import logging; print(logging.root.handlers, logging.root.level)",
    ),
    "signals": (
        "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)",
        "import signal; print(signal.getsignal(signal.SIGINT).__name__)",
    ),
    "settings of PyTorch": (
        "import torch; torch.set_default_dtype(torch.float64); "
        "torch.set_printoptions(precision=1); torch.set_grad_enabled(False); "
        "torch.set_num_threads(3)",
        "import torch; print(torch.tensor(0.25), torch.ones(2).dtype, "
        "torch.is_grad_enabled(), torch.get_num_threads())",
    ),
    "names of the project's modules": (
        "import ours; ours.f = len; ours.more = 1; del ours.gone; ours.items += [3]",
        "import ours; print(ours.f(), hasattr(ours, 'more'), ours.gone, ours.items)",
    ),
    "methods of the project's classes": (
        "import ours; ours.A.f = len; ours.A.more = 1",
        "import ours; print(ours.A().f(), hasattr(ours.A, 'more'))",
    ),
}
OURS = """
gone = 5
items = []
def f(): return 3
class A:
    def f(self): return 7
"""


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    """Return a worker whose programs can import a module of a project."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "ours.py").write_text(OURS)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        worker = current_interpreter()
    with worker:
        yield worker


@pytest.mark.parametrize(("change", "look"), LEAKS.values(), ids=LEAKS)
def test_a_program_changes_nothing_for_the_next(
    shared: Worker, change: str, look: str
) -> None:
    before = shared.run(Job(look))
    assert before.error == "", before.traceback
    assert shared.run(Job(change)).error == ""
    assert shared.run(Job(look)) == before
    # And what looks does see a change.
    assert shared.run(Job(f"{change}\n{look}")) != before


def test_each_program_has_an_empty_folder_and_no_other_is_touched(
    printed: Printed, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.txt").write_text("mine")
    look = "import os\nprint(os.getcwd(), os.listdir())"
    folders = []
    for code in ("", "open('a', 'w').close()", "os.rmdir(os.getcwd())"):
        said = printed(f"{look}\n{code}")
        assert said.endswith(" []\n")
        folders.append(Path(said.partition(" ")[0]))
    assert len({*folders}) == 3
    assert not any(folder.parent.exists() for folder in folders)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(
    ("call", "arguments"),
    [("random.random", ""), ("numpy.random.rand", ""), ("torch.rand", "1")],
)
def test_random_numbers_start_anywhere(
    usually_printed: Printed, call: str, arguments: str
) -> None:
    code = f"import {call.rpartition('.')[0]}\nprint({call}({arguments}))"
    assert usually_printed(code) != usually_printed(code)


WATCHES = """
class Watch:
    def __init__(self, code):
        self.name = code.co_filename
    def __enter__(self):
        self.inside = True
    def __exit__(self, *_):
        self.inside = False
    def seen(self, names):
        return [(self.name, f"{self.inside} {names['x']}")]
"""


def test_who_watches_a_program_says_what_it_has_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "watches.py").write_text(WATCHES)
    monkeypatch.syspath_prepend(tmp_path)
    watch, found = "watches:Watch", [("page.md", "False 3")]
    with current_interpreter() as worker:
        assert worker.run(Job("x = 3", "page.md", watch=watch)).seen == found
        assert worker.run(Job("x = 3\n1 / 0", "page.md", watch=watch)).seen == found
        assert worker.run(Job("x = 3", "page.md")).seen == []


def test_many_threads_compute(usually_printed: Printed) -> None:
    code = """
    import torch
    torch.set_num_threads(2)
    a = torch.ones(300, 300, requires_grad=True)
    for _ in range(3):
        (a @ a).sum().backward()
    print(a.grad[0, 0].item())
    """
    assert usually_printed(code) == "1800.0\n"


def test_what_is_imported_is_where_the_run_imports_from(
    printed: Printed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ours.py").write_text("x = 3\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTEST_MINE", "1")
    code = "import os, ours\nprint(ours.x, 'PYTEST_MINE' in os.environ)"
    with current_interpreter() as worker:
        assert worker.run(Job(code)).output == "3 False\n"
    assert os.environ["PYTEST_MINE"] == "1"
