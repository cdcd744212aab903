"""Tests run in several processes. What one that dies did is not lost in silence."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import coverage
import pytest

ROOT = Path(__file__).parents[1]
MAKEFILE = ROOT / "Makefile"
KILLED = """
import os
import signal

import measured
import tests.conftest

measured.asked()
tests.conftest.pytest_sessionfinish()
os.kill(os.getpid(), signal.SIGKILL)
"""
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


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_a_worker_that_is_killed_at_its_end_has_saved_its_coverage(
    tmp_path: Path,
) -> None:
    (tmp_path / "measured.py").write_text("def asked():\n    return 1\n", "utf-8")
    (tmp_path / "killed.py").write_text(KILLED, "utf-8")
    data = tmp_path / "data"
    options = [f"--data-file={data}", "--include=*/measured.py"]
    done = subprocess.run(
        [sys.executable, "-m", "coverage", "run", *options, "killed.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTEST_XDIST_WORKER": "gw0"},
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    kept = coverage.CoverageData(str(data))
    kept.read()
    assert kept.lines(str(tmp_path / "measured.py")) == [1, 2]
