"""The reader's folder keeps what was written, and how far the reader is."""

import json
import os
from datetime import date, datetime
from hashlib import sha256
from pathlib import Path

import pytest

from headway.practice.task.library import Library
from headway.practice.terminal import folder as module
from headway.practice.terminal.folder import Folder, remembered_set
from tests.practice.small import CORE, HALF, TIMED, small_set


def write(folder: Folder, name: str, line: str) -> Path:
    """Fill the hole of an exercise."""
    path = folder.path_of(folder.library[name])
    stub = folder._stub(folder.library[name])
    begin = stub.index("raise NotImplementedError")
    end = stub.index("\n", begin)
    beside = folder.path.with_name("beside")  # a session never sees half a file
    beside.write_text(stub[:begin] + line + stub[end:])
    return beside.replace(path)


def states(folder: Folder) -> dict[str, str]:
    return {task.name: state for task, state in folder.state()}


def test_it_is_made_with_a_file_an_exercise(folder: Folder) -> None:
    names = sorted(path.name for path in folder.path.iterdir())
    files = ["01_double.py", "02_half.py", "AGENTS.md", "README.md"]
    assert names == [".headway.json", *files]
    text = (folder.path / "01_double.py").read_text()
    assert text.startswith('"""Twice as much\n\nWrite `double(x)`')
    head = text.split('"""')[1].splitlines()
    assert head[4].startswith('Read "What breaks it"')
    assert " ".join(head[5:]) == folder.library["double"].types
    compile(text, "stub", "exec")


def test_a_file_says_how_long_it_takes(tmp_path: Path) -> None:
    made = timed(tmp_path)
    made.make()
    texts = [path.read_text() for path in sorted(made.path.glob("*.py"))]
    assert ['\nAbout 5 min.\n"""\n' in text for text in texts] == [False, True]
    assert max(len(line) for text in texts for line in text.splitlines()) <= 88


def test_nothing_that_is_there_is_written_again(folder: Folder) -> None:
    path = write(folder, "double", "return x + x")
    (folder.path / "README.md").write_text("mine")
    (folder.path / "02_half.py").unlink()
    assert folder.make() == [folder.path / "02_half.py"]
    assert "return x + x" in path.read_text()
    assert (folder.path / "README.md").read_text() == "mine"


def test_a_file_keeps_its_number_when_the_set_grows(folder: Folder) -> None:
    (folder.path / "02_half.py").rename(folder.path / "07_half.py")
    assert folder.make() == []
    assert folder.path_of(folder.library["half"]).name == "07_half.py"
    (folder.path / "03_one_half.py").touch()
    assert folder.path_of(folder.library["half"]).name == "07_half.py"


def test_what_was_judged_right_stays_done_until_it_changes(folder: Folder) -> None:
    double = folder.library["double"]
    assert states(folder) == {"double": "open", "half": "open"}
    write(folder, "double", "return x + x")
    assert states(folder)["double"] == "begun"
    folder.mark(double, passed=True)
    assert states(folder)["double"] == "done"
    assert folder.passed(double)
    again = Folder(folder.path, folder.library)
    assert again.passed(double)
    with folder.path_of(double).open("a") as file:
        file.write("more = 1\n")
    assert not folder.passed(double)
    folder.mark(double, passed=False)
    assert states(folder)["double"] == "begun"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return x + x", "return x + x  # a comment"),
        ("return x + x", "return (x\n        + x)"),
        ('"""Double numbers of any shape."""', '"""Twice."""'),
        ('"""Double numbers of any shape."""', ""),
        ('"""Twice as much', '"""Another task'),
        ("import torch\n", "\n\nimport torch\n"),
        ("\n", "\r\n"),
    ],
)
def test_comments_docstrings_and_layout_lose_nothing(
    folder: Folder, old: str, new: str
) -> None:
    double = folder.library["double"]
    path = write(folder, "double", "return x + x")
    folder.mark(double, passed=True)
    path.write_bytes(path.read_bytes().replace(old.encode(), new.encode()))
    assert folder.passed(double)


@pytest.mark.parametrize("line", ["return (x +", 'return "\\d"', "return '\0'"])
def test_what_is_no_python_is_compared_as_it_is(folder: Folder, line: str) -> None:
    double = folder.library["double"]
    path = write(folder, "double", line)
    folder.mark(double, passed=True)
    assert folder.passed(double)
    path.write_text(path.read_text().replace("return", "return 1 +"))
    assert not folder.passed(double)


def test_a_comment_alone_begins_nothing(folder: Folder) -> None:
    path = folder.path_of(folder.library["double"])
    path.write_text(path.read_text().replace("raise", "# How?\n    raise"))
    assert states(folder)["double"] == "open"
    assert folder.reset(folder.library["double"]) is not None  # it is kept even so


def test_where_the_book_lies_is_nobodys_text(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "to_section", lambda *_: 'Read "it" elsewhere')
    assert folder.reset(folder.library["double"]) is None
    path = folder.path_of(folder.library["double"])
    assert '\nRead "it" elsewhere\n' in path.read_text()


def on(monkeypatch: pytest.MonkeyPatch, day: str) -> None:
    """Let it be another day."""
    monkeypatch.setattr(module, "_today", lambda: date.fromisoformat(day))


def test_today_is_today() -> None:
    before, found, after = date.today(), module._today(), date.today()
    assert before <= found <= after


def test_what_was_solved_once_stays_solved(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    double, half = folder.library.values()
    assert (folder.solved(double), folder.done(double)) == ("", False)
    on(monkeypatch, "2026-11-02")
    write(folder, "double", "return x + x")
    folder.mark(double, passed=True)
    on(monkeypatch, "2026-11-20")
    folder.mark(double, passed=True)
    assert folder.to_review() == [double]
    for change in (
        lambda: write(folder, "double", "return 1"),
        lambda: folder.mark(double, passed=False),
        lambda: folder.reset(double),
        lambda: folder.path_of(double).unlink(),
    ):
        change()
        assert (folder.solved(double), folder.passed(double)) == ("2026-11-02", False)
        assert folder.done(double)
        assert folder.to_review() == []
    # A checkpoint that was solved once has solved what it contains.
    folder.mark(half, passed=True)
    write(folder, "half", "return 1")
    (folder.path / ".headway.json").write_text(
        (folder.path / ".headway.json").read_text().replace('"double"', '"other"')
    )
    assert (folder.solved(double), folder.done(double)) == ("", True)


def test_what_was_solved_a_week_ago_is_reviewed(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    double, half = folder.library.values()
    for task, day in ((half, "2026-11-03"), (double, "2026-11-04")):
        on(monkeypatch, day)
        folder.mark(task, passed=True)
    for day, tasks in (("09", []), ("10", [half]), ("11", [half, double])):
        on(monkeypatch, f"2026-11-{day}")
        assert folder.to_review() == tasks
    # What is solved again waits for another week; its first day stays.
    folder.reset(half)
    folder.mark(half, passed=True)
    assert folder.to_review() == [double]
    on(monkeypatch, "2026-11-18")
    assert folder.to_review() == [double, half]
    assert folder.solved(half) == "2026-11-03"


def test_progress_of_the_first_version_is_read(folder: Folder) -> None:
    double, half = folder.library.values()
    content = write(folder, "double", "return x + x").read_bytes()
    entries = {
        "double": {"passed": sha256(content).hexdigest(), "hints": 2},
        "half": {"passed": "of a file that has changed since"},
        "other": {"hints": 1},
    }
    old = {"version": 1, "exercises": entries, "current": "half"}
    progress = folder.path / ".headway.json"
    progress.write_text(json.dumps(old))
    stamp = datetime(2026, 10, 5, 12).timestamp()
    os.utime(progress, (stamp, stamp))
    again = Folder(folder.path, folder.library)
    assert again.current is half
    assert states(again) == {"double": "done", "half": "open"}
    again.open_hint(double)  # which writes the new version
    assert [again.solved(double), again.solved(half)] == ["2026-10-05"] * 2
    assert again.hints(double) == 3
    found = json.loads(progress.read_text())
    assert found["version"] == 2
    assert found["exercises"]["other"] == {"hints": 1}


def timed(folder: Path) -> Folder:
    """Give a folder of a set with minutes, a path and an optional exercise."""
    library = small_set(folder / "timed", half=TIMED)
    (library.folder / "short.txt").write_text("half\n")
    (library.folder / "back.txt").write_text("half double\n")
    return Folder(folder / "answers", library)


def test_a_path_has_an_order_of_its_own(tmp_path: Path) -> None:
    double, half = timed(tmp_path).library.values()
    back = Folder(tmp_path / "answers", timed_again(tmp_path), way="back")
    assert back.tasks == [half, double]
    assert back.current == back.next_open(double) == half
    assert [back.next_open(half), back.previous(double)] == [double, half]
    assert back.previous(half) == half
    back.make()
    back.mark(half, passed=True)
    assert back.next_open(half) == double
    short = Folder(tmp_path / "answers", timed_again(tmp_path), way="short")
    assert [short.next_open(double), short.previous(double)] == [half, half]


def timed_again(folder: Path) -> Library:
    return Library(folder / "timed")


def test_a_path_begins_with_its_own_files(tmp_path: Path) -> None:
    library = timed(tmp_path).library
    short = Folder(tmp_path / "answers", library, way="short")
    assert [path.name for path in short.make()] == ["02_half.py"]
    assert [path.name for path in short.make(library["double"])] == ["01_double.py"]
    short.path_of(library["double"]).unlink()
    short.current = library["double"]
    assert [path.name for path in short.make()] == ["01_double.py"]


def test_what_one_goes_through_is_remembered(tmp_path: Path, library: Library) -> None:
    first = timed(tmp_path)
    path, own = first.path, first.library
    short = Folder(path, own, way="short")
    short.make()
    assert Folder(path, own).way == ""  # nothing was begun yet
    short.current = own["half"]
    assert Folder(path, own).way == "short"
    (own.folder / "short.txt").unlink()
    assert Folder(path, own).way == ""
    # Another set has other paths, and keeps none of these.
    (library.folder / "short.txt").write_text("half")
    other = Folder(path, library)
    assert other.way == ""
    other.make()
    assert Folder(path, library).way == ""
    assert remembered_set(path) == library.folder.resolve()
    other.current = library["half"]
    assert [Folder(path, library, way=way).core for way in ("", "core")] == [0, 1]


def test_the_set_of_the_book_needs_no_place(tmp_path: Path) -> None:
    assert remembered_set(tmp_path) is None
    made = Folder(tmp_path, Library(), way="evening")
    assert len(made.make()) == 12
    assert remembered_set(tmp_path) is None
    assert json.loads((tmp_path / ".headway.json").read_text())["set"] == ""
    for text in ("{", "[]", "{}"):
        (tmp_path / ".headway.json").write_text(text)
        assert remembered_set(tmp_path) is None


def test_what_is_optional_comes_last(tmp_path: Path) -> None:
    folder = timed(tmp_path)
    folder.make()
    double, half = folder.library.values()
    (folder.library.folder / "optional.txt").write_text("double\n")
    assert folder.next_open(None) is half
    folder.mark(half, passed=True)
    assert folder.next_open(half) is double


def test_an_exercise_is_found_by_its_file(folder: Folder) -> None:
    for word in (
        *("double", "1", "01", "01_double", "01_double.py", "07_double.py"),
        *("practice/01_double.py", r"practice\01_double.py", "double.py"),
    ):
        assert folder.find(word).name == "double"
    with pytest.raises(ValueError, match=r"Did you mean double\?"):
        folder.find("01_duble.py")


def test_a_checkpoint_covers_what_it_contains(folder: Folder) -> None:
    write(folder, "half", "return x / 2")
    folder.mark(folder.library["half"], passed=True)
    assert states(folder) == {"double": "covered", "half": "done"}
    assert folder.covered(folder.library["double"]) is folder.library["half"]


def test_it_goes_on_where_the_reader_was(folder: Folder) -> None:
    double, half = folder.library.values()
    assert folder.current is double
    folder.mark(double, passed=True)
    assert folder.current is half
    folder.current = double
    assert Folder(folder.path, folder.library).current is double
    assert folder.next_open(double) is half
    folder.mark(half, passed=True)
    assert folder.next_open(double) is half  # the last, when all are done


def test_with_core_one_goes_through_the_core_alone(
    folder: Folder, tmp_path: Path
) -> None:
    library = small_set(tmp_path / "other", half=CORE)
    every, core = (Folder(folder.path, library, way=way) for way in ("", "core"))
    double, half = library.values()
    assert [every.tasks, core.tasks] == [[double, half], [half]]
    assert [every.next_open(None), core.next_open(None)] == [double, half]
    assert [every.previous(half), core.previous(half)] == [double, half]
    assert [every.previous(double), core.previous(double)] == [double, half]
    core.mark(half, passed=True)
    assert core.next_open(double) is half  # the last, when all are done


def test_reset_keeps_what_was_written(folder: Folder) -> None:
    double = folder.library["double"]
    assert folder.reset(double) is None
    for line, name in (("return 1", ".bak"), ("return 2", ".bak1")):
        path = write(folder, "double", line)
        kept = folder.reset(double)
        assert kept is not None
        assert kept.name == f"01_double.py{name}"
        assert line in kept.read_text()
        assert "raise NotImplementedError" in path.read_text()


def test_hints_are_counted(folder: Folder) -> None:
    double = folder.library["double"]
    assert [folder.open_hint(double) for _ in range(4)] == [1, 2, 3, 3]
    assert Folder(folder.path, folder.library).hints(double) == 3


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"exercises": 3}', '{"exercises": {"double": 3}}', "{}"]
)
def test_progress_that_cannot_be_read_is_kept_aside(folder: Folder, text: str) -> None:
    progress = folder.path / ".headway.json"
    progress.write_text(text)
    assert states(folder)["double"] == "open"
    assert (folder.path / ".headway.json.bak").read_text() == text
    assert "and is kept in .headway.json.bak." in folder.take_notice()
    assert folder.take_notice() == ""
    folder.mark(folder.library["double"], passed=True)
    assert json.loads(progress.read_text())["exercises"]["double"]["passed"]


def test_an_exercise_that_left_the_set_is_no_trouble(
    folder: Folder, tmp_path: Path
) -> None:
    folder.mark(folder.library["half"], passed=True)
    folder.current = folder.library["half"]
    other = small_set(tmp_path / "other")
    (other.folder / "contents.txt").write_text("first/double\n")
    (other.folder / "second" / "half.py").unlink()
    smaller = Folder(folder.path, Library(other.folder))
    assert smaller.current.name == "double"
    assert states(smaller) == {"double": "open"}


def test_an_update_loses_nothing_of_the_readers(folder: Folder, tmp_path: Path) -> None:
    for name, line in (("double", "return x + x"), ("half", "return x / 2")):
        write(folder, name, line)
        folder.mark(folder.library[name], passed=True)
    folder.open_hint(folder.library["half"])
    mine = {path.name: path.read_bytes() for path in folder.path.glob("*.py")}
    # The next version begins with another exercise, and calls double something else.
    other = small_set(tmp_path / "other", half=HALF.replace('("double",)', "()"))
    first = other.folder / "first"
    (first / "quarter.py").write_text(HALF.replace('("double",)', "()"))
    (first / "double.py").rename(first / "twice.py")
    (other.folder / "contents.txt").write_text(
        "first/quarter\nfirst/twice\nsecond/half\n"
    )
    updated = Folder(folder.path, Library(other.folder))
    assert [one.name for one in updated.make()] == ["01_quarter.py", "02_twice.py"]
    assert states(updated) == {"quarter": "open", "twice": "open", "half": "done"}
    assert updated.path_of(updated.library["half"]).name == "02_half.py"
    assert updated.hints(updated.library["half"]) == 1
    updated.mark(updated.library["twice"], passed=True)
    assert {name: (folder.path / name).read_bytes() for name in mine} == mine
    # Who goes back finds all as it was, of what had left, too.
    assert folder.make() == []
    assert states(folder) == {"double": "done", "half": "done"}


def test_how_lines_end_is_the_editors_affair(folder: Folder) -> None:
    double = folder.library["double"]
    path = folder.path_of(double)

    def windows() -> None:
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))

    windows()
    assert states(folder)["double"] == "open"
    assert folder.reset(double) is None
    write(folder, "double", "return x + x")
    folder.mark(double, passed=True)
    windows()
    assert states(folder)["double"] == "done"


def test_a_file_that_another_program_reads_is_written_a_moment_later(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace, waits = os.replace, []

    def busy(*paths: Path) -> None:
        if len(waits) < 2:
            raise PermissionError
        replace(*paths)

    monkeypatch.setattr(os, "replace", busy)
    monkeypatch.setattr("time.sleep", waits.append)
    folder.open_hint(folder.library["double"])
    assert folder.hints(folder.library["double"]) == 1
    assert len(waits) == 2
    waits.clear()
    monkeypatch.setattr("time.sleep", lambda _: None)
    with pytest.raises(PermissionError):
        folder.open_hint(folder.library["double"])


def test_a_place_that_cannot_be_written_to_is_refused(
    tmp_path: Path, library: Library
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="folder must be writable"):
        Folder(tmp_path / "file", library).make()


def test_a_file_is_written_whole_or_not_at_all(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(folder, "double", "return 1")

    def full(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="no space left"):
        folder.mark(folder.library["double"], passed=True)
    assert "return 1" in path.read_text()
