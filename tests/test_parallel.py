"""Tests run in several processes, and one that dies makes the run red."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

MAKEFILE = Path(__file__).parents[1] / "Makefile"
TESTS = """
import os
import signal

import pytest


@pytest.mark.parametrize("number", range(40))
def test_one_dies(number):
    if number == 20:
        os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("number", range(40))
def test_none_dies(number):
    pass
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_a_process_that_dies_ends_the_run(tmp_path: Path) -> None:
    found = re.search(r"^PARALLEL = (.*)$", MAKEFILE.read_text("utf-8"), re.MULTILINE)
    assert found
    options = found[1].replace("$(JOBS)", "2").split()
    (tmp_path / "test_dying.py").write_text(TESTS, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,  # without the option it never ends
    )
    assert done.returncode == 1
    assert "crashed while running 'test_dying.py::test_one_dies[20]'" in done.stdout
