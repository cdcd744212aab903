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
from headway.practice.terminal.keys import REDRAW
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

    def pressing(*acts: str | Callable[[], object], notice: str = "") -> str:
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
        Session(folder, Judge(), seed=7, notice=notice).run()
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
    assert "another" not in text
    assert "> [~]  1  double" in text
    assert "headway practice list shows all." in " ".join(text.split())


def test_the_task_stands_on_the_first_screen_until_something_is_written(
    folder: Folder, run: Run
) -> None:
    task = "\n\nWrite `double(x)`: each number twice as large.\n\n"
    text = run(lambda: write(folder, "double", "return 1"), "q", notice="One.\nTwo.")
    assert text.count(task) == 1
    assert "One.\nTwo.\n\n1 of 2  Twice as much\n" in text


def test_after_success_other_ways_and_how_far_one_is(folder: Folder, run: Run) -> None:
    text = run(lambda: write(folder, "double", "return x + x"), "s", "q")
    assert "01_double.py  (0 of 2 done)\n" in text
    assert "01_double.py  (1 of 2 done)\n" in text
    told = "All exercises of this chapter are solved.\n\n"
    told += "n goes on to the next exercise; s shows two ways to write it.\n"
    assert told in text
    assert "another way\n\n    return x + x\n" in text


def test_after_the_last_exercise_comes_the_ending(folder: Folder, run: Run) -> None:
    folder.mark(folder.library["double"], passed=True)
    text = run("n", lambda: write(folder, "half", "return x / 2"), "n", "n", "q")
    told = (
        "All 2 exercises are solved: n shows the ending; s shows two ways to write it."
    )
    assert told in " ".join(text.split())
    assert text.count("putting together what you wrote ...\n") == 2
    assert text.count("\nAll 2 exercises are solved.\n") == 2


def test_what_is_shown_is_drawn_again(folder: Folder, run: Run) -> None:
    def page(text: str) -> str:
        return text.partition("judging double ...\n")[2]

    once = page(run("q"))
    assert page(run(REDRAW, "q")) == 2 * once
    assert "It is wrong." in once


def test_another_terminal_does_not_move_this_one(folder: Folder, run: Run) -> None:
    def elsewhere() -> None:
        other = Folder(folder.path, folder.library)
        other.current = folder.library["half"]

    text = run(elsewhere, "r", elsewhere, "h", "s", "q")
    assert [line[0] for line in shown(text)] == [*"11"]
    assert "double: a solution" in text
    assert "hint 1/3  What is twice one?" in text
    assert folder.current.name == "half"


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
