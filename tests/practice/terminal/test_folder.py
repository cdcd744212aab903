"""The reader's folder keeps what was written, and how far the reader is."""

import json
import os
from pathlib import Path

import pytest

from headway.practice.task.library import Library
from headway.practice.terminal.folder import Folder
from tests.practice.small import CORE, HALF, small_set


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
    assert names == ["01_double.py", "02_half.py", "AGENTS.md", "README.md"]
    text = (folder.path / "01_double.py").read_text()
    assert text.startswith('"""Twice as much\n\nWrite `double(x)`')
    assert 'Read: "What breaks it", basics/masks/#what-breaks-it' in text
    compile(text, "stub", "exec")


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
        file.write("# more\n")
    assert not folder.passed(double)
    folder.mark(double, passed=False)
    assert states(folder)["double"] == "begun"


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
    every, core = (Folder(folder.path, library, core=core) for core in (False, True))
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
