"""A target is checked in a process of its own, which may end in any way."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from headway.checks import own_process
from headway.checks.own_process import Reply, Request, ask
from headway.checks.target.configuration import Target
from processes import PATIENCE

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
import ctypes, faulthandler, os, sys
from torch import nn
from headway.checks import limit

def soon():
    # The limit is over as soon as the loop has begun, however fast the machine is.
    faulthandler.dump_traceback_later(1e-3, exit=True, file=limit._state.lines)

class Ends(nn.Linear):
    def __init__(self, how):
        super().__init__(7, 7)
        self.how = how

    def forward(self, x):
        if self.how == "loop":
            soon(); any(iter(int, 1))  # line 17
        if self.how == "exit":
            os._exit(9)
        if self.how == "crash":
            ctypes.string_at(0)
        if self.how == "killed":
            os.kill(os.getpid(), 9)
        while True:
            try:
                print("begun", flush=True)
                while self.how == "hears": pass
                any(iter(int, 1))  # C hears nothing
            except KeyboardInterrupt:
                if self.how == "hears":
                    raise
"""


pytestmark = pytest.mark.usefixtures("coverage_of_processes")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ends.py").write_text(ENDS)
    return tmp_path


def request(name: str, *by_place: str, **options: object) -> Request:
    return Request(Target(name, dict(options), {}, by_place), limit=PATIENCE)


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
            f"one call took longer than {PATIENCE:g} seconds at ends.py:17. A loop may "
            "never end; if it only takes long, --limit SECONDS gives it longer.",
        ),
        ("exit", "it ended Python with status 9 at ends.py:19."),
        ("crash", "it ended Python by a signal, Segmentation fault at ends.py:21."),
        ("killed", "it ended Python by a signal, Killed."),
    ],
)
def test_code_that_ends_python_is_told_with_its_line(
    folder: Path, how: str, sentence: str
) -> None:
    reply = ask(request("ends.py:Ends", how))
    assert reply == Reply(2, f"ends.py:Ends could not be checked: {sentence}")


@pytest.mark.parametrize("how", ["hears", "deaf"])
def test_an_interruption_says_at_which_line(folder: Path, how: str) -> None:
    command = [*HEADWAY, "check", "ends.py:Ends", how, "--limit", "3000"]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "begun\n"
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        said = process.stderr.read()
    assert process.returncode == 130
    last = said.splitlines()[-1]
    assert re.fullmatch(r"headway check: interrupted at ends\.py:2[678]\.", last), said


def test_what_hears_an_interruption_tells_the_line_itself(tmp_path: Path) -> None:
    told = Reply(130, "interrupted at a.py:3.")
    (tmp_path / "reply").write_text(json.dumps(told))
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        assert own_process._interrupted(tmp_path, process) == told


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
