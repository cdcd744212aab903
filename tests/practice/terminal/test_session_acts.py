"""What a session does for each key and each file that is saved, without a terminal."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path, PureWindowsPath

import pytest

from headway.practice.judging.verdict import State, Verdict
from headway.practice.judging.worker import Worker
from headway.practice.task.library import Library, Task
from headway.practice.terminal import session as module
from headway.practice.terminal.folder import Folder
from headway.practice.terminal.session import Session
from tests.practice.small import CORE, small_set
from tests.practice.terminal.test_folder import write

Run = Callable[..., str]


class Judge(Worker):
    """Says of each file that it is right if it adds, without a process."""

    def __init__(self) -> None:
        self.ahead = False
        self._next = None

    def judge(self, library: Library, task: Task, path: Path, *, seed: int) -> Verdict:
        text, name = path.read_text("utf-8"), task.name
        if "x + x" in text or "x / 2" in text:
            return Verdict(name, "passed", "It holds.", seed=seed)
        state: State = "open" if "raise NotImplementedError" in text else "failed"
        return Verdict(name, state, "It is wrong.", hint="Count.", seed=seed)


@pytest.fixture
def run(
    folder: Folder,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Run:
    """Press keys, one after another; what is no text is done in between."""

    def pressing(*acts: str | Callable[[], object]) -> str:
        script = iter(acts)

        def pressed(_: float) -> str:
            act = next(script, None)
            if act is None:
                raise EOFError
            if isinstance(act, str):
                return act
            act()
            return ""

        monkeypatch.setattr(module, "pressed", pressed)
        monkeypatch.setattr(module, "single_keys", contextlib.nullcontext)
        Session(folder, Judge(), seed=7).run()
        return capsys.readouterr().out

    return pressing


def shown(text: str) -> Iterator[str]:
    yield from (line for line in text.splitlines() if " of 2  " in line)


def test_it_ends_by_a_key_or_with_the_terminal(run: Run) -> None:
    for acts in (("q", "l"), ("\x03", "l"), ()):
        assert "done\n" not in run(*acts)


def test_what_is_saved_is_judged_once(folder: Folder, run: Run) -> None:
    text = run(lambda: write(folder, "double", "return x * 3"), "", "", "q")
    assert text.count("It is wrong.") == 2  # the stub, and what was saved
    assert "hidden numbers from seed 7" in text
    assert folder.current.name == "double"


def test_it_never_moves_on_by_itself(folder: Folder, run: Run) -> None:
    text = run(lambda: write(folder, "double", "return x + x"), "", "q")
    assert [*shown(text)] == ["1 of 2  Twice as much"] * 2
    assert "n goes on to the next exercise" in text


def test_keys_go_through_the_exercises(run: Run) -> None:
    text = run("n", "p", "p", "r", "q")
    assert [line[0] for line in shown(text)] == [*"12111"]


def test_with_core_keys_go_through_the_core(
    folder: Folder, run: Run, tmp_path: Path
) -> None:
    folder.library, folder.way = small_set(tmp_path / "core", half=CORE), "core"
    text = run("p", "n", "l", "q")
    assert [line[0] for line in shown(text)] == [*"222"]
    assert "1  double" not in text
    # What is saved is judged, core or not, and stands in the list while one is there.
    text = run(lambda: write(folder, "double", "return x + x"), "l", "q")
    assert [line[0] for line in shown(text)] == [*"21"]
    assert "> [x]  1  double" in text


def test_another_file_that_is_saved_becomes_the_current_one(
    folder: Folder, run: Run
) -> None:
    text = run(lambda: write(folder, "half", "return x / 2"), "q")
    assert [line[0] for line in shown(text)] == [*"12"]
    assert folder.passed(folder.library["half"])


def test_hints_solution_and_list(folder: Folder, run: Run) -> None:
    text = run(lambda: write(folder, "double", "return 1"), "h", "h", "s", "l", "q")
    assert text.count("Count.") == 2
    assert text.count("hint 1/3") == text.count("hint 2/3  Multiply.") == 1
    assert "y = x * 2" in text
    assert "> [~]  1  double" in text
    assert "headway practice list shows all." in " ".join(text.split())


def test_a_file_that_is_gone_for_a_moment_is_no_trouble(
    folder: Folder, run: Run
) -> None:
    path = folder.path_of(folder.library["double"])
    kept = path.read_text()
    text = run(path.unlink, lambda: path.write_text(kept + "# more\n"), "q")
    assert [line[0] for line in shown(text)] == [*"11"]


def test_a_file_that_was_deleted_is_made_anew(folder: Folder, run: Run) -> None:
    path = write(folder, "double", "return 1")
    assert "1 of 2  Twice as much" in run(path.unlink, "r", "q")
    assert "raise NotImplementedError" in path.read_text()


def test_what_happened_to_the_folder_is_told_once(folder: Folder, run: Run) -> None:
    (folder.path / ".headway.json").write_text("{")
    text = " ".join(run("r", "q").split())
    assert text.count("is kept in .headway.json.bak.") == 1


def test_all_hints_are_shown_again_when_all_are_open(folder: Folder, run: Run) -> None:
    text = run("h", "h", "h", "h", "q")
    assert [text.count(f"hint {n}/3") for n in (1, 2, 3)] == [2, 2, 2]


def test_a_terminal_with_colours_is_cleared(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_coloured", lambda: True)
    assert run("q").startswith("\x1b[2J\x1b[H")


def test_a_folder_elsewhere_is_shown_by_its_whole_path(
    folder: Folder, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert f"{folder.path.as_posix()}/01_double.py" in run("q")
    monkeypatch.chdir(folder.path.parent)
    assert "\npractice/01_double.py" in run("q")


def test_a_file_is_named_with_slashes_everywhere() -> None:
    here = PureWindowsPath(r"C:\work")
    path = PureWindowsPath(r"c:\Work\practice\01_double.py")
    assert module.shown(path, here) == "practice/01_double.py"
    assert module.shown(PureWindowsPath(r"D:\x.py"), here) == "D:/x.py"
