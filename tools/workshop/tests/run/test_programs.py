"""Programs run in an interpreter of one's choice, several at once."""

import os
import sys
from pathlib import Path

import pytest

from pytest_proofread.page.markdown import programs
from pytest_proofread.runner import Job
from workshop.run.programs import LIMIT, Python, job, run_jobs


def test_programs_of_a_reader_run_in_an_interpreter_without_settings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONPATH", "somewhere")
    code = "import os, sys\nprint('PYTHONPATH' in os.environ, 'somewhere' in sys.path)"
    results = run_jobs(Python(Path(sys.executable)), [Job(code), Job("1 / 0")])
    assert results[0].output == "False False\n"
    assert results[1].error == "ZeroDivisionError: division by zero"


def test_programs_run_at_once_and_answer_in_their_order(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    # Who opens a pipe waits until another one opens its other end.
    reads = Job(f"print(open({str(tmp_path / 'pipe')!r}).read())", limit=3600.0)
    writes = Job(f"print(open({str(tmp_path / 'pipe')!r}, 'w').write('met'))")
    python = Python(Path(sys.executable))
    results = run_jobs(python, [reads, writes, Job("print(4)")], at_once=2)
    assert [result.output for result in results] == ["met\n", "3\n", "4\n"]


def test_a_program_may_take_as_long_as_a_busy_machine_needs() -> None:
    fence = "```python\nprint(7)\n```\n"
    first, second = programs(f"{fence}\n<!--pytest.mark.timeout(3)-->\n\n{fence}")
    assert job("a.md", first).limit == LIMIT
    assert job("a.md", second).limit == 3.0
