"""`make` installs PyTorch's small build where its index answers, and waits for none."""

import runpy
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from tests.support.processes import PATIENCE

ROOT = Path(__file__).parents[1]
PROGRAM = runpy.run_path(str(ROOT / ".ci/torch_index.py"))
# All that calls pip for more than itself: what makes an environment, or has one made.
TARGETS = (
    *(".venv/installed", ".cache/peers/installed", ".cache/lowest/installed"),
    "takeaway",
)
# Stands for Python and for an index that answers.
ANSWERS = """#!/bin/sh
echo "$1" "$2" >> {asked}
[ -z "$2" ] || echo "--extra-index-url $2"
"""


class Index(BaseHTTPRequestHandler):
    """An index that has PyTorch in one folder, and is silent in another."""

    asked: list[str]
    over: threading.Event

    def do_GET(self) -> None:
        self.asked.append(self.path)
        if self.path == "/silent/torch/":
            self.over.wait(PATIENCE)
        self.send_response(404 if self.path == "/empty/torch/" else 200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Yield the address of a host with indexes."""
    monkeypatch.setenv("no_proxy", "*")
    Index.asked, Index.over = [], threading.Event()
    with HTTPServer(("127.0.0.1", 0), Index) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        Index.over.set()
        server.shutdown()
        thread.join(PATIENCE)


Printed = pytest.CaptureFixture[str]


def test_an_index_that_answers_is_an_option(host: str, capsys: Printed) -> None:
    PROGRAM["main"]([f"{host}/cpu"], "linux", PATIENCE)
    assert capsys.readouterr() == (f"--extra-index-url {host}/cpu\n", "")
    assert Index.asked == ["/cpu/torch/"]


def test_elsewhere_there_is_one_build(host: str, capsys: Printed) -> None:
    PROGRAM["main"]([f"{host}/cpu"], "darwin", PATIENCE)
    assert capsys.readouterr() == ("", "")
    assert Index.asked == []


def test_an_index_without_the_package_is_left_out(host: str, capsys: Printed) -> None:
    PROGRAM["main"]([f"{host}/empty"], "linux", PATIENCE)
    printed, said = capsys.readouterr()
    assert printed == ""
    assert f"{host}/empty cannot be reached: pip takes PyTorch from" in said
    assert Index.asked == ["/empty/torch/"]


def test_nobody_waits_for_an_index_that_is_silent(host: str) -> None:
    assert not PROGRAM["answers"](f"{host}/silent", limit=0.01)


def test_a_port_at_which_nobody_listens_is_no_index(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("no_proxy", "*")
    with HTTPServer(("127.0.0.1", 0), Index, bind_and_activate=False) as deaf:
        deaf.server_bind()
        assert not PROGRAM["answers"](f"http://127.0.0.1:{deaf.server_port}", PATIENCE)


@pytest.mark.parametrize(
    ("variable", "index"),
    [
        ("CUDA=", "https://download.pytorch.org/whl/cpu"),
        ("CUDA=/usr/local/cuda", "https://download.pytorch.org/whl/cpu"),
        ("CUDA=1", ""),
        ("TORCH_INDEX=http://of.mine", "http://of.mine"),
    ],
)
def test_every_environment_takes_what_one_question_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, index: str
) -> None:
    asked = tmp_path / "asked"
    base = tmp_path / "python"
    base.write_text(ANSWERS.format(asked=asked))
    base.chmod(0o700)
    command = ["make", "-n", "-B", f"BASE={base}", "SITE=built", "PIP_OPTIONS=--pre"]
    monkeypatch.delenv("MAKEFLAGS", raising=False)  # has the variables of `make test`
    printed = subprocess.run(
        [*command, variable, *TARGETS], cwd=ROOT, capture_output=True, text=True
    ).stdout.replace("\\\n", " ")
    calls = [
        line
        for line in printed.splitlines()
        if "--pip-options" in line or ("pip" in line and "--group" in line)
    ]
    option = f"--extra-index-url {index} --pre" if index else " --pre"
    assert [option in line for line in calls] == [True] * len(TARGETS)
    assert ["--extra-index-url" in line for line in calls] == [bool(index)] * len(calls)
    assert asked.read_text().splitlines() == [f".ci/torch_index.py {index}"]
