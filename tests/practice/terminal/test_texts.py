"""What a terminal says of an exercise, of a chapter, and at the very first start."""

from pathlib import Path

import pytest

from headway.practice.judging.verdict import Verdict
from headway.practice.task.library import Library, book
from headway.practice.task.refused import RefusedError
from headway.practice.terminal.folder import Folder
from headway.practice.terminal.session import page
from headway.practice.terminal.texts import (
    chapter_word,
    solution_text,
    task_text,
    ways,
    welcome_text,
)
from tests.practice.small import CORE, DOUBLE, small_set
from tests.support.book_nav import chapters


def test_the_welcome_names_the_file_the_keys_and_the_short_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = welcome_text(Folder(Path("practice"), book())).splitlines()
    assert len(lines) == 3
    assert lines[1].startswith("Open practice/01_lookup.py in your editor")
    assert "h gives a hint, s a solution, n the next exercise; q ends it" in lines[1]
    assert lines[2].startswith(
        "headway practice --path evening is the short way: 12 of"
    )


def test_the_welcome_adds_up_minutes_and_is_short_on_the_way(
    folder: Folder, library: Library
) -> None:
    assert len(welcome_text(folder).splitlines()) == 2  # a set without such a path
    path = library.folder / "evening.txt"
    path.write_text("half")
    half = library["half"].path
    half.write_text(
        half.read_text().replace("    covers=", "    minutes=7,\n    covers=")
    )
    text = welcome_text(Folder(folder.path, Library(library.folder)))
    assert text.splitlines()[2] == (
        "headway practice --path evening is the short way: 1 of 2 exercises, about 7 "
        "minutes, and in the end they write a text."
    )
    path.write_text("double half")
    assert len(welcome_text(folder).splitlines()) == 2  # already on it
    path.write_text("half double")
    assert "exercises, about" not in welcome_text(folder)


def test_a_task_is_broken_into_lines_but_for_what_is_indented(tmp_path: Path) -> None:
    library = small_set(tmp_path / "set")
    path = library["double"].path
    indented = "\n\n    2 x 2 x 2  x  2 x 2 x 2 x 2"
    text = f"Write `double(x)`: each number twice as large.{indented}"
    path.write_text(
        DOUBLE.replace("Write `double(x)`: each number twice as large.", text)
    )
    shown = task_text(Library(library.folder)["double"], 30)
    assert shown == (f"Write `double(x)`: each number\ntwice as large.{indented}")


def test_other_ways_are_shown_once_it_is_solved(library: Library) -> None:
    double = library["double"]
    one = "double: a solution\n\n    y = x * 2\n    return y"
    assert solution_text(double, solved=False) == one
    assert solution_text(double) == f"{one}\n\nanother way\n\n    return x + x"
    assert ways(double) == "two ways to write it"


@pytest.mark.parametrize(
    ("right", "told"),
    [
        ("[]", "a solution"),
        ('["return x + x", "# By two.\\nreturn 2 * x"]', "three ways to write it"),
        ('["return x + x"] * 5', "six ways to write it"),
        ('["return x + x"] * 6', "7 ways to write it"),
    ],
)
def test_ways_are_counted(library: Library, right: str, told: str) -> None:
    path = library["double"].path
    path.write_text(DOUBLE.replace('["return x + x"]', right))
    double = Library(library.folder)["double"]
    assert ways(double) == told
    if "three" in told:
        assert solution_text(double).endswith(
            "another way 1\n\n    return x + x\n\n"
            "another way 2\n\n    # By two.\n    return 2 * x"
        )


def test_a_chapter_ends_with_a_word(folder: Folder, library: Library) -> None:
    double, half = library["double"], library["half"]
    assert chapter_word(folder, double) == ""
    folder.mark(double, passed=True)
    plain = "All exercises of this chapter are solved."
    assert chapter_word(folder, double) == plain
    assert chapter_word(folder, half) == ""
    folder.mark(half, passed=True)
    (library.folder / "words.toml").write_text('"first" = "You can double."')
    assert chapter_word(folder, double) == "You can double."
    assert chapter_word(folder, half) == plain
    (library.folder / "words.toml").write_text("You can double.")
    with pytest.raises(RefusedError, match=r"^words.toml of a set must be TOML; got"):
        chapter_word(folder, double)


def test_with_core_a_chapter_ends_with_its_core(tmp_path: Path) -> None:
    library = small_set(tmp_path / "set", half=CORE)
    path = library.folder / "second" / "more.py"
    path.write_text(DOUBLE)
    (library.folder / "contents.txt").write_text(
        "first/double\nsecond/half\nsecond/more"
    )
    library = Library(library.folder)
    folder = Folder(tmp_path / "practice", library)
    folder.make()
    half = library["half"]
    folder.mark(half, passed=True)
    assert chapter_word(folder, half) == ""
    plain = "All exercises of this chapter are solved."
    passed = Verdict("half", "passed", "So it is.")
    assert plain not in page(folder, half, passed, width=60, colour=False)
    folder.way = "core"
    assert chapter_word(folder, half) == plain
    assert plain in page(folder, half, passed, width=60, colour=False)


def test_each_chapter_of_the_book_has_a_word(tmp_path: Path) -> None:
    library = book()
    words = (library.folder / "words.toml").read_text("utf-8").splitlines()
    named = [one.split('"')[1] for one in words if one.startswith('"')]
    assert named == [one for one in chapters() if one in named]
    assert library.chapters().keys() <= {*named}
