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
    yield from (line for line in text.splitlines() if " as much" in line)


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
    head = "1 of 1 in the core  Half as much"
    assert [*shown(text)][:3] == [f"{head}  a core exercise, medium"] * 3
    assert "1  double" not in text
    # What is saved is judged, core or not, and stands in the list while one is there.
    text = run(lambda: write(folder, "double", "return x + x"), "l", "q")
    assert "\n1 of 2, not in the core  Twice as much\n" in text
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
        "All 2 exercises are solved: e shows the ending; s shows two ways to write it."
    )
    assert told in " ".join(text.split())
    assert text.count(f"{module.WAIT}\nq goes back.\n") == 2
    assert text.count("\nAll 2 exercises are solved.\n") == 2


def test_where_all_is_solved_n_goes_on_and_e_shows_the_ending(
    folder: Folder, run: Run
) -> None:
    assert "e ending" not in run("q")
    for name, line in (("double", "return x + x"), ("half", "return x / 2")):
        write(folder, name, line)
        folder.mark(folder.library[name], passed=True)
    folder.current = folder.library["double"]
    text = run("n", "p", "e", "n", "q")
    assert [line[0] for line in shown(text)] == [*"1212"]
    assert text.count("\nAll 2 exercises are solved.\n") == 1
    assert "r run again  e ending  q quit\n" in text


@pytest.mark.parametrize(("key", "back"), [("q", True), ("\x03", True), ("x", False)])
def test_one_goes_back_from_an_ending_that_takes_long(
    folder: Folder, run: Run, monkeypatch: pytest.MonkeyPatch, key: str, back: bool
) -> None:
    def ending(*_: object, stopped: Callable[[], bool], **__: object) -> str:
        if stopped():
            raise KeyboardInterrupt
        return "A text."

    monkeypatch.setattr(module, "ending_text", ending)
    text = run("e", key, "q")
    after = text.partition("q goes back.\n")[2]
    assert ("It is wrong." in after, "A text." in after) == (back, not back)


def test_where_keys_lead_nowhere_or_back_it_is_said(folder: Folder, run: Run) -> None:
    first, back, only = (
        "This is the first exercise.\n",
        "No later one is open: n has gone back to this one.\n",
        "This is the only exercise that is still open.\n",
    )
    assert run("p", "q").count(first) == 2  # while it is judged, and after that
    text = run("n", "n", "q")
    assert (text.count(back), text.count(only)) == (2, 0)
    assert text.index("2 of 2") < text.index(back)
    folder.current = folder.library["double"]
    write(folder, "half", "return x / 3")
    path = folder.library.folder / "short.txt"
    path.write_text("half\n")
    folder.way = "short"
    text = run("n", "n", "q")
    assert (text.count(back), text.count(only)) == (0, 2)


def test_the_welcome_stands_there_before_the_first_verdict(run: Run) -> None:
    assert run("q", notice="Welcome!").startswith("Welcome!\n\njudging double ...\n")


def test_on_a_path_all_of_it_is_listed(tmp_path: Path, run: Run) -> None:
    library = small_set(tmp_path / "long")
    names = [f"chapter{n}/more{n}" for n in range(5)]
    for name in names:
        path = library.folder / f"{name}.py"
        path.parent.mkdir()
        path.write_text(library["half"].path.read_text())
    places = ["first/double", "second/half", *names]
    (library.folder / "contents.txt").write_text("\n".join(places))
    (library.folder / "short.txt").write_text("double more4 more3 more2")
    folder = Folder(tmp_path / "practice", Library(library.folder), way="short")
    folder.make()
    double = folder.library["double"]
    text = module.list_text(folder, 40, near=double)
    assert [one for one in text.splitlines() if "[" not in one][:4] == [
        "first",
        "chapter4",
        "chapter3",
        "chapter2",
    ]
    assert "headway practice list" not in text
    assert "> [ ]  1  double               Twice ...\n" in text
    folder.way = ""
    assert "chapter2" not in module.list_text(folder, 40, near=double)


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
