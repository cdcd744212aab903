"""A target is checked in a process of its own, which may end in any way."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from headway.checks.command import own_process
from headway.checks.command.configuration import ConfiguredTarget
from headway.checks.command.own_process import Reply, Request, ask
from tests.checks.support.forked import Forked
from tests.support.processes import PATIENCE, left, wait_for

HEADWAY = [sys.executable, "-m", "headway.cli"]
ATTENTION = """
from torch import nn
from utils import scaled

class MyAttention(nn.Module):
    def __init__(self, d_in):
        super().__init__()
        self.query = nn.Linear(d_in, 5)
        self.key = nn.Linear(d_in, 5)
        self.value = nn.Linear(d_in, 5)

    def forward(self, x):
        scores = scaled(self.query(x) @ self.key(x).mT)
        return scores.softmax(dim=-1) @ self.value(x)
"""
SCALED = "def scaled(scores): return scores / 5 ** 0.5"
ENDS = """
import ctypes, os, sys
from faulthandler import dump_traceback_later
from torch import nn
from headway.checks.core import limit

class Ends(nn.Linear):
    def __init__(self, how):
        super().__init__(7, 7)
        self.how = how

    def forward(self, x):
        if self.how == "loop":
            lines = limit._state.lines
            # On one line, wherever the limit is over. After which time says nothing.
            dump_traceback_later(1e-3, exit=True, file=lines); any(iter(int, 1))
        if self.how == "exit":
            os._exit(9)
        if self.how == "crash":
            ctypes.string_at(0)
        if self.how == "killed":
            os.kill(os.getpid(), 9)
        while True:
            try:
                print("begun", os.getpid(), flush=True)
                while self.how != "deaf": pass
                any(iter(int, 1))  # C hears nothing
            except KeyboardInterrupt:
                if self.how == "hears":
                    raise
                if self.how == "hears the second":
                    self.how = "hears"
"""

WITH_GRACE = """
import sys
from headway import cli
from headway.checks.command import own_process
own_process._GRACE = {}
sys.exit(cli.main())
"""
# Windows has no such signals, and ends a process without asking it.
on_posix = pytest.mark.skipif(
    sys.platform == "win32", reason="it sends a signal, which Windows does not have"
)
pytestmark = pytest.mark.usefixtures("coverage_of_processes")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ends.py").write_text(ENDS)
    return tmp_path


@pytest.fixture
def forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork what checks from a process that has imported PyTorch: it takes a tenth."""
    if sys.platform != "win32":  # which forks nothing
        monkeypatch.setattr(own_process.subprocess, "Popen", Forked)


def request(name: str, *by_place: str, **options: object) -> Request:
    return Request(ConfiguredTarget(name, dict(options), {}, by_place), limit=PATIENCE)


def test_each_target_gets_the_modules_beside_itself(folder: Path) -> None:
    for name, code in {"a": SCALED, "b": "def scaled(scores): return scores"}.items():
        (folder / name).mkdir()
        (folder / name / "model.py").write_text(ATTENTION)
        (folder / name / "utils.py").write_text(code)
    (folder / "pyproject.toml").write_text(
        '[tool.headway.checks."a/model.py:MyAttention"]\nd_in = 12\n'
        '[tool.headway.checks."b/model.py:MyAttention"]\nd_in = 12\n'
    )
    done = subprocess.run(
        [*HEADWAY, "check", "--json"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    right, wrong = json.loads(done.stdout)
    assert right["ok"]
    failed = [row["id"] for row in wrong["rows"] if row["verdict"] == "failed"]
    assert failed[0] == "equation"


def test_what_is_printed_below_python_is_no_part_of_the_report(folder: Path) -> None:
    loud = "import os\nos.write(1, b'to the file\\n')\nos.system('echo by a child')\n"
    (folder / "utils.py").write_text(loud + SCALED)
    (folder / "loud.py").write_text(ATTENTION)
    command = [*HEADWAY, "check", "loud.py:MyAttention", "--d-in", "12", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert json.loads(done.stdout)["ok"] is True
    assert done.stderr == "to the file\nby a child\n"


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        (
            "loop",
            f"one call took longer than {PATIENCE:g} seconds at ends.py:16. A loop may "
            "never end; if it only takes long, --limit SECONDS gives it longer.",
        ),
        ("exit", "it ended Python with status 9 at ends.py:18."),
        pytest.param(
            "crash",
            "it ended Python by a signal, Segmentation fault at ends.py:20.",
            marks=on_posix,
        ),
        pytest.param("killed", "it ended Python by a signal, Killed.", marks=on_posix),
    ],
)
@pytest.mark.usefixtures("forked")
def test_code_that_ends_python_is_told_with_its_line(
    folder: Path, how: str, sentence: str
) -> None:
    reply = ask(request("ends.py:Ends", how))
    assert reply == Reply(2, f"ends.py:Ends could not be checked: {sentence}")


@on_posix
@pytest.mark.parametrize("how", ["hears", "hears the second", "deaf"])
def test_an_interruption_says_at_which_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    # A terminal interrupts both. What hears it has all the time to say where; of what
    # is deaf, the lines are there before it is waited for.
    grace = 0.0 if how == "deaf" else PATIENCE
    command = [sys.executable, "-c", WITH_GRACE.format(grace)]
    command += ["check", "ends.py:Ends", how, "--limit", "3000"]
    monkeypatch.setenv("TMPDIR", str(folder))
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stderr is not None
        _, child = process.stderr.readline().split()
        if how == "deaf":
            os.kill(int(child), signal.SIGINT)
            wait_for(lambda: any(one.stat().st_size for one in folder.glob("*/lines")))
            process.send_signal(signal.SIGINT)
        else:
            os.killpg(process.pid, signal.SIGINT)
        said = process.stderr.read()
    assert process.returncode == 130
    last = said.splitlines()[-1]
    assert re.fullmatch(r"headway check: interrupted at ends\.py:2[567]\.", last), said


@pytest.mark.parametrize(
    ("how", "status"),
    [
        (signal.SIGTERM, 143),
        pytest.param(
            getattr(signal, "SIGKILL", None),
            -9,
            marks=pytest.mark.skipif(
                sys.platform != "linux", reason="only Linux ends what was left behind"
            ),
        ),
    ],
)
@on_posix
def test_nothing_survives_a_command_that_is_ended(
    folder: Path, monkeypatch: pytest.MonkeyPatch, how: signal.Signals, status: int
) -> None:
    (folder / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(folder / "temporary"))
    command = [*HEADWAY, "check", "ends.py:Ends", "deaf", "--limit", "3000"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        begun, child = process.stderr.readline().split()
        process.send_signal(how)
        process.wait()
        assert not left([int(child)])
    assert (begun, process.returncode) == ("begun", status)
    # What is killed outright tidies nothing up.
    assert status < 0 or not [*(folder / "temporary").iterdir()]


def test_what_hears_an_interruption_tells_the_line_itself(tmp_path: Path) -> None:
    told = Reply(130, "interrupted at a.py:3.")
    (tmp_path / "reply").write_text(json.dumps(told))
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        assert own_process._interrupted(tmp_path, process) == told


@pytest.mark.usefixtures("forked")
def test_an_answer_comes_back_as_it_is(folder: Path) -> None:
    reply = ask(request("torch.nn:Nothing"))
    assert reply.status == 2
    assert reply.text.startswith("torch.nn must have Nothing; got no 'Nothing' in it")


def test_warnings_that_are_ignored_here_are_ignored_there(
    folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "warnoptions", ["ignore:known"])
    code = "import warnings\nfor word in ('known', 'new'): warnings.warn(word)\n"
    (folder / "warns.py").write_text(code)
    ask(request("warns.py:Nothing"))
    assert [line[-4:] for line in capfd.readouterr().err.splitlines()[::2]] == [" new"]


def test_no_line_is_told_where_none_is_the_reader_s(tmp_path: Path) -> None:
    assert own_process._place(tmp_path) == ""
    lines = 'Thread 0x1 (most recent call first):\n  File "<frozen a>", line 3 in b\n'
    (tmp_path / "lines").write_text(lines)
    assert own_process._place(tmp_path) == ""
