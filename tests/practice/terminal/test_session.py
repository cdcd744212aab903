"""Practice at a terminal: a file is saved, a verdict is shown, a key is pressed."""

import codecs
import fcntl
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.practice.task.library import Library
from headway.practice.terminal.folder import Folder
from tests.practice.terminal.test_folder import write
from tests.support.processes import PATIENCE

pytestmark = pytest.mark.xdist_group("processes")

# The command, with a limit that no exercise of these tests can come near. It is a whole
# program as it stands, so that --changed sees what it imports.
PROGRAM = """
import functools, os, sys
from headway import cli
from headway.practice import cli as practice
limit = float(os.environ["PATIENCE"])
practice.Worker = functools.partial(practice.Worker, limit=limit)
sys.exit(cli.main())
"""


def _begin() -> None:
    """Begin as a shell begins a program: a terminal of its own, Ctrl-C not ignored."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Terminal:
    """`headway practice` in a pseudo-terminal."""

    def __init__(self, folder: Folder, *words: str) -> None:
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [
                sys.executable,
                *("-c", PROGRAM, "practice", *words, "--seed", "3"),
                *("--folder", str(folder.path), "--set", str(folder.library.folder)),
            ],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={
                **os.environ,
                "COLUMNS": "60",
                "TERM": "xterm",
                "PATIENCE": str(PATIENCE),
            },
            cwd=folder.path.parent,
            start_new_session=True,
            preexec_fn=_begin,
        )
        os.close(slave)
        self.seen = ""
        # A sign of several bytes may come in two pieces.
        self.decode = codecs.getincrementaldecoder("utf-8")().decode

    def wait_for(self, pattern: str) -> str:
        """Read until a pattern is shown; give what was shown up to it."""
        end = time.monotonic() + PATIENCE
        while not (found := re.search(pattern, self.seen, re.DOTALL)):
            assert time.monotonic() < end, f"no {pattern!r} in {self.seen!r}"
            if select.select([self.master], [], [], 0.1)[0]:
                try:
                    self.seen += self.decode(os.read(self.master, 4096))
                except OSError:
                    assert self.process.wait(PATIENCE) == 0
        shown, self.seen = self.seen[: found.end()], self.seen[found.end() :]
        return shown

    def press(self, key: str) -> None:
        os.write(self.master, key.encode())

    def close(self) -> int:
        """Give the exit status."""
        self.press("q")
        try:
            return self.process.wait(PATIENCE)
        finally:
            self.process.kill()
            os.close(self.master)


@pytest.fixture
def terminal(folder: Folder) -> Iterator[Terminal]:
    """Start it at the first exercise."""
    shown = Terminal(folder)
    yield shown
    if shown.process.poll() is None:
        shown.process.kill()
        shown.process.wait()
        os.close(shown.master)


def test_from_a_mistake_to_success(folder: Folder, terminal: Terminal) -> None:
    terminal.wait_for("q quit")
    write(folder, "double", "return x * 3")
    shown = terminal.wait_for("q quit")
    assert "1 of 2  Twice as much" in shown
    assert "practice/01_double.py" in shown
    assert "FAILED" in shown
    assert "when it is three times as" in shown
    lines = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", shown).splitlines()
    assert all(len(line) <= 60 for line in lines), lines
    terminal.press("h")
    shown = terminal.wait_for("q quit")
    assert "Count again." in shown
    assert "hint 1/3  What is twice one?" in shown
    write(folder, "double", "return x + x")
    shown = terminal.wait_for("q quit")
    assert "passed" in shown
    assert "n goes on to the next exercise" in shown
    terminal.press("\x03")
    assert terminal.process.wait(PATIENCE) in (0, 130)
    os.close(terminal.master)


@pytest.mark.slow
def test_keys_go_through_the_exercises(terminal: Terminal) -> None:
    assert "not written yet" in terminal.wait_for("q quit")
    terminal.press("s")
    assert "y = x * 2" in terminal.wait_for("q quit")
    terminal.press("l")
    assert "[ ]  1  double" in terminal.wait_for("q quit")
    terminal.press("n")
    assert "2 of 2  Half as much" in terminal.wait_for("q quit")
    terminal.press("p")
    assert "1 of 2  Twice as much" in terminal.wait_for("q quit")
    terminal.press("r")
    assert "1 of 2  Twice as much" in terminal.wait_for("q quit")
    assert terminal.close() == 0


@pytest.mark.slow
def test_saving_another_exercise_goes_to_it(folder: Folder, terminal: Terminal) -> None:
    terminal.wait_for("q quit")
    path = write(folder, "half", "return x / 2")
    assert "2 of 2  Half as much" in terminal.wait_for("q quit")
    beside = path.with_name("beside")  # as editors save
    beside.write_text(path.read_text() + "# more\n")
    beside.replace(path)
    assert "2 of 2  Half as much" in terminal.wait_for("q quit")
    path.unlink()
    terminal.press("x")  # no act, so that it looks at the files
    terminal.press("l")
    assert "2  half" in terminal.wait_for("q quit")
    assert terminal.close() == 0


@pytest.mark.slow
def test_the_first_screen_says_what_was_made(library: Library, tmp_path: Path) -> None:
    shown = Terminal(Folder(tmp_path / "new", library))
    assert "Made 2 exercises in" in shown.wait_for("q quit")
    assert shown.close() == 0


def test_after_ctrl_z_and_fg_keys_act_at_once(terminal: Terminal) -> None:
    terminal.wait_for("q quit")
    cooked = termios.tcgetattr(terminal.master)
    cooked[3] |= termios.ICANON | termios.ECHO
    # Ctrl-Z itself does nothing where there is no shell that could go on with it.
    os.kill(terminal.process.pid, signal.SIGSTOP)
    termios.tcsetattr(terminal.master, termios.TCSANOW, cooked)  # as a shell does
    os.kill(terminal.process.pid, signal.SIGCONT)
    assert "1 of 2  Twice as much" in terminal.wait_for("q quit")
    assert not termios.tcgetattr(terminal.master)[3] & (termios.ICANON | termios.ECHO)
    terminal.press("s")
    assert "y = x * 2" in terminal.wait_for("q quit")


@pytest.mark.slow
def test_after_the_last_exercise_comes_the_ending(
    folder: Folder, terminal: Terminal
) -> None:
    terminal.wait_for("q quit")
    write(folder, "half", "return x / 2")
    assert "e shows the ending" in terminal.wait_for("q quit")
    terminal.press("n")
    assert "All 2 exercises are solved." in terminal.wait_for("q quit")
    assert terminal.close() == 0


@pytest.mark.slow
def test_a_closed_terminal_ends_it(folder: Folder) -> None:
    shown = Terminal(folder)
    shown.wait_for("q quit")
    os.close(shown.master)
    shown.process.wait(PATIENCE)


@pytest.mark.slow
def test_it_goes_on_after_an_interrupted_run(folder: Folder) -> None:
    first = Terminal(folder, "half")
    first.wait_for("2 of 2  Half as much.*q quit")
    first.process.kill()
    first.process.wait()
    os.close(first.master)
    second = Terminal(folder)
    second.wait_for("2 of 2  Half as much.*q quit")
    assert second.close() == 0
