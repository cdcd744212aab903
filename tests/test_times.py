"""The minutes that CONTRIBUTING.md and make name are those that were measured."""

import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TIMES = runpy.run_path(str(ROOT / ".ci/times.py"))
TABLE = """
| `src/headway` | the package |

| `make lint` | checks | 1 |
| `make book` | runs the pages | |
| `make clean` | removes | 3 |
| `.ci/run` | runs all | 65 |
"""
MEASURED = "command,seconds,cores,date\nlint,18,3,2026-11-23\n.ci/run,3900,3,\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Make a project with a table and two times, and a make that does nothing."""
    (tmp_path / ".ci").mkdir()
    for name in ("run", "times.py"):
        shutil.copy(ROOT / ".ci" / name, tmp_path / ".ci")
    (tmp_path / ".ci/times.csv").write_text(MEASURED)
    (tmp_path / "CONTRIBUTING.md").write_text(TABLE)
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/bin/python").symlink_to(sys.executable)
    (tmp_path / "make").write_text('#!/bin/sh\necho "$# $*" >> made\n')
    (tmp_path / "make").chmod(0o700)
    return tmp_path


def run(project: Path, *command: str, **variables: str) -> str:
    """Run a program of the project; give what it prints."""
    found = {"PATH": f"{project}:{os.environ['PATH']}", **variables}
    return subprocess.run(
        command, cwd=project, env=found, capture_output=True, text=True, check=True
    ).stdout


def times(project: Path, *words: str) -> str:
    return run(project, sys.executable, ".ci/times.py", *words)


def test_the_table_has_the_minutes_that_were_measured() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    filled = TIMES["fill"](page, TIMES["read"]())
    assert page.splitlines() == filled.splitlines(), (
        "WRITE_TIMES=1 .ci/run TARGET writes both, .ci/times.csv and CONTRIBUTING.md"
    )


def test_a_time_is_written_into_the_file_and_the_table(project: Path) -> None:
    times(project, "book", "151")
    times(project, ".ci/run", "4020")
    lines = (project / ".ci/times.csv").read_text().splitlines()
    assert lines[:2] == MEASURED.splitlines()[:2]
    today = rf"{os.cpu_count()},\d{{4}}-\d\d-\d\d"
    assert re.fullmatch(rf"\.ci/run,4020,{today}", lines[2])
    assert re.fullmatch(rf"book,151,{today}", lines[3])
    assert (project / "CONTRIBUTING.md").read_text() == (
        TABLE.replace("pages | |", "pages | 3 |")
        .replace("65", "67")
        .replace("removes | 3 |", "removes | |")
    )


def test_the_steps_that_one_names_are_timed_where_that_is_asked(project: Path) -> None:
    run(project, "bash", ".ci/run", "lint", "browser SITE=built")
    assert (project / ".ci/times.csv").read_text() == MEASURED
    run(project, "bash", ".ci/run", "browser SITE=built", WRITE_TIMES="1")
    made = (project / "made").read_text().splitlines()
    again = ["1 install", "2 browser SITE=built"]
    assert made == ["1 install", "1 lint", "2 browser SITE=built", *again]
    *before, browser = (project / ".ci/times.csv").read_text().splitlines()
    assert before == MEASURED.splitlines()
    assert browser.startswith("browser,")


def lanes(project: Path, make: str, **variables: str) -> subprocess.CompletedProcess:
    """Run all of .ci/run, with a make that does `make` where that names its target."""
    for name in ("chromium", "node", "npm", "java"):
        (project / name).symlink_to("/bin/true")
    for name in ("asks", "answers", "nobody"):
        os.mkfifo(project / name)
    (project / "make").write_text(
        f'#!/bin/sh\necho "$1 begins"\ncase $1 in\n{make}\nesac\necho "$*" >> made\n'
    )
    (project / "make").chmod(0o700)
    return subprocess.run(
        ["bash", ".ci/run"],
        cwd=project,
        env={"PATH": f"{project}:{os.environ['PATH']}", **variables},
        capture_output=True,
        text=True,
        check=False,
    )


FIRST = ["install", "lint", "book"]
TESTS = ["coverage", "tool", "slow", "prove QUICK=1", "peers"]
BUILT = [
    "site",
    *(f"{one} SITE=built" for one in ("takeaway", "browser", "lighthouse")),
]
NIGHTLY = ["slow", "peers", "lighthouse SITE=built"]


@pytest.mark.parametrize("nightly", ["0", "1"])
def test_what_needs_the_site_runs_beside_the_rest(project: Path, nightly: str) -> None:
    # Each waits for the other: one after another they would never end.
    meet = "tool) echo > asks; cat answers;; takeaway) cat asks; echo > answers;;"
    done = lanes(project, meet, NIGHTLY=nightly, WRITE_TIMES="1")
    assert (done.returncode, done.stderr) == (0, "")
    left_out = NIGHTLY if nightly == "0" else []
    text = (project / "made").read_text()
    # What the programs of the book did, prove takes from where they put it.
    [written, read] = re.findall(r" RESULTS=(\S+)$", text, re.MULTILINE)
    assert written == read
    made = re.sub(" RESULTS=.*", "", text).splitlines()
    assert made[:3] == FIRST
    for steps in (TESTS, BUILT):
        expected = [one for one in steps if one not in left_out]
        assert [one for one in made if one in steps] == expected
    assert len(made) == len({*FIRST, *TESTS, *BUILT}) - len(left_out)
    printed, table = done.stdout.split("Step             Seconds    Busy\n")
    assert printed.count(" begins\n") == len(made)
    rows = [row[:16].rstrip() for row in table.splitlines()]
    assert sorted(rows[:-1]) == sorted(one.removesuffix(" SITE=built") for one in made)
    assert rows[-1] == "all"
    assert (project / ".ci/times.csv").read_text().count("\nlint,18,") == 1
    assert (project / ".ci/times.csv").read_text().count("\n") == 3


@pytest.mark.parametrize(
    ("fails", "hangs"), [("slow", "browser"), ("browser", "slow"), ("peers", "nothing")]
)
def test_what_fails_ends_all(project: Path, fails: str, hangs: str) -> None:
    # What hangs holds the output open: the run is only over when it has been ended.
    done = lanes(
        project,
        f"{hangs}) echo > asks; cat nobody;;"
        f"{fails}) [ {hangs} = nothing ] || cat asks; echo it is broken; exit 3;;",
    )
    name = f"{fails} SITE=built" if fails == "browser" else fails
    assert (done.returncode, done.stderr) == (2, f"FAILED: make {name}\n")
    assert "\nit is broken\n" in done.stdout
    made = (project / "made").read_text().splitlines()
    assert [one.partition(" ")[0] for one in made[:3]] == FIRST
    assert not {fails, hangs} & {one.removesuffix(" SITE=built") for one in made}


def test_nothing_begins_after_the_first_steps_have_failed(project: Path) -> None:
    done = lanes(project, "lint) exit 3;;")
    assert (done.returncode, done.stderr) == (2, "FAILED: make lint\n")
    assert (project / "made").read_text() == "install\n"


NEEDED = ("awk", "bash", "cat", "dirname", "id", "mktemp", "rm", "sh")


@pytest.mark.parametrize(
    ("present", "known", "installed"),
    [
        ("", "chromium-headless-shell", "chromium-headless-shell nodejs npm"),
        ("", "chromium", "chromium nodejs npm"),
        ("chromium", "chromium-headless-shell", "nodejs npm"),
        ("chromium-headless-shell", "chromium", "nodejs npm"),
    ],
)
def test_the_browser_that_is_installed_has_no_windows_where_there_is_one(
    project: Path, present: str, known: str, installed: str
) -> None:
    for name in NEEDED:
        (project / name).symlink_to(shutil.which(name) or "")
    programs = {
        "make": "",
        "sudo": '"$@"',
        "java": "",
        "apt-cache": f'[ "$2" = {known} ]',
        "apt-get": 'echo "$*" >> fetched',
        present or "other": "",
    }
    for name, does in programs.items():
        (project / name).write_text(f"#!/bin/sh\n{does}\n")
        (project / name).chmod(0o700)
    run(project, "bash", ".ci/run", PATH=str(project))
    assert (project / "fetched").read_text().splitlines() == [
        "update -q",
        f"install -q -y --no-install-recommends {installed}",
    ]


def test_make_says_how_long_the_tests_take_before_anything_else(project: Path) -> None:
    times(project, "test", "413")
    assert times(project, "test") == (
        f"make test takes about 7 minutes on {os.cpu_count()} cores, when all is "
        "installed.\n"
    )
    assert "about 1 minute on 3 cores" in times(project, "lint")
    dry = ["make", "-n", "-B", f"PYTHON={sys.executable}", "TORCH_INDEX=", "test"]
    printed = subprocess.run(dry, cwd=ROOT, capture_output=True, text=True, check=True)
    before, after = printed.stdout.split(".ci/times.py test\n")
    assert "pytest" in after
    assert not re.search("pytest|pip install", before)
