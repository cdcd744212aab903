import json
import subprocess
import sys
from pathlib import Path

import pytest

from proofread.run_cells import END, run_cells


def write(path: Path, *cells: tuple[str, list[str]]) -> Path:
    code = [
        {"cell_type": "code", "source": [source], "metadata": {"tags": tags}}
        for source, tags in cells
    ]
    words = {"cell_type": "markdown", "source": ["1 / 0"], "metadata": {}}
    path.write_text(json.dumps({"cells": [words, *code]}))
    return path


@pytest.fixture(autouse=True)
def _same_main(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])


def printed(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.split(f"{END}\n")


def test_a_command_for_jupyter_is_passed_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = (("%pip install x", ["command"]), ("print(1)", []))
    run_cells(write(tmp_path / "a.ipynb", *cells))
    assert printed(capsys) == ["1\n", ""]


def test_cells_run_in_order_in_one_namespace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = (
        "import inspect, pickle\n"
        "def f(): return x\n"
        "class C: ...\n"
        "print(inspect.getsource(f), __name__, type(pickle.loads(pickle.dumps(C()))))"
    )
    free = "print([n for n in dir() if not n.startswith('__')])"
    notebook = write(
        tmp_path / "a.ipynb",
        (free, []),
        ("x = 1", []),
        (program, []),
        ("print(f())", []),
    )
    run_cells(notebook)
    assert printed(capsys) == [
        "[]\n",
        "",
        "def f(): return x\n __main__ <class '__main__.C'>\n",
        "1\n",
        "",
    ]


def test_an_expected_error_is_shown_and_the_rest_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notebook = write(
        tmp_path / "a.ipynb",
        ("print(0)\nint('a')", ["raises-exception"]),
        ("1 / 0", ["skip-execution"]),
        ("print(2)", []),
    )
    run_cells(notebook)
    first, *rest = printed(capsys)
    assert first == "0\nValueError: invalid literal for int() with base 10: 'a'\n"
    assert rest == ["", "2\n", ""]


def test_another_error_ends_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = (("print(1)", []), ("x = 1\n1 / 0", []), ("print(3)", []))
    notebook = write(tmp_path / "a.ipynb", *cells)
    with pytest.raises(ZeroDivisionError):
        run_cells(notebook)
    assert printed(capsys) == ["1\n", ""]
    script = Path(__file__).parents[2] / "src/proofread/run_cells.py"
    done = subprocess.run(
        [sys.executable, "-I", script, notebook], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stdout == f"1\n{END}\n"
    assert 'File "a.ipynb, cell 2", line 2, in <module>' in done.stderr
