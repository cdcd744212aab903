"""A set of exercises is a folder and a list of what is in it."""

from pathlib import Path

import pytest

from headway.practice.task.library import Library
from tests.practice.small import CORE, HALF, small_set


def test_exercises_are_found_by_name_and_by_number(library: Library) -> None:
    assert [*library] == ["double", "half"]
    assert library.find("half") is library.find("2") is library["half"]
    assert library["half"].number == 2
    assert library["half"].chapter == "second"


@pytest.mark.parametrize("word", ["0", "3", "tripel"])
def test_what_is_no_exercise_is_refused(library: Library, word: str) -> None:
    with pytest.raises(ValueError, match=f"from 1 to 2; got name='{word}'"):
        library.find(word)


def test_a_near_name_is_offered(library: Library) -> None:
    with pytest.raises(ValueError, match=r"Did you mean double\?"):
        library.find("duble")


def test_chapters_have_their_exercises(library: Library) -> None:
    found = {name: [one.name for one in of] for name, of in library.chapters().items()}
    assert found == {"first": ["double"], "second": ["half"]}


def test_core_exercises_are_those_with_stars(tmp_path: Path, library: Library) -> None:
    assert library.core() == []
    with_core = small_set(tmp_path / "other", half=CORE)
    assert [one.name for one in with_core.core()] == ["half"]
    assert [one.stars for one in with_core.values()] == ["", "**"]


def test_a_path_is_a_list_of_exercises(library: Library) -> None:
    (library.folder / "evening.txt").write_text("half\n2\n1\n")
    found = [one.name for one in library.path("evening")]
    assert found == ["half", "half", "double"]
    with pytest.raises(ValueError, match=r"\(evening\); got path='night'"):
        library.path("night")
    (library.folder / "evening.txt").unlink()
    with pytest.raises(ValueError, match=r"of this set \(none\); got path='night'"):
        library.path("night")


def test_a_folder_without_contents_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"must have a file contents\.txt"):
        Library(tmp_path)


def test_contents_and_files_agree(library: Library) -> None:
    contents = library.folder / "contents.txt"
    contents.write_text("first/double\n")
    with pytest.raises(ValueError, match=r"no others; got second/half\."):
        Library(library.folder)
    contents.write_text("first/double\nsecond/half\nthird/more\n")
    with pytest.raises(ValueError, match=r"no others; got third/more\."):
        Library(library.folder)
    contents.write_text("first/double\nsecond/half\nfirst/double\n")
    with pytest.raises(ValueError, match=r"each exercise once; got double\."):
        Library(library.folder)


def test_a_file_must_define_an_exercise(library: Library) -> None:
    path = library["half"].path
    path.write_text(path.read_text().replace("EXERCISE =", "OTHER ="))
    with pytest.raises(ValueError, match=r"half\.py must define EXERCISE"):
        _ = library["half"].exercise


@pytest.mark.parametrize(
    ("draw", "ask", "said"),
    [
        ("(d.normal(d.T, d.D),)", "f(*x)", "Hidden numbers have 64 bits: give"),
        ("([1, {'a': (d.normal(2),)}],)", "0", "Hidden numbers have 64 bits: give"),
        ("(d.integers(3, 2),)", "f(x[0] * 1.0)", "Results have 64 bits: make"),
        ("(d.booleans(2),)", "x[0]", ""),
        ("(d.nothing,)", "0", "Hidden numbers have 64 bits: give"),
    ],
)
def test_a_line_on_types_stands_where_numbers_have_fractions(
    tmp_path: Path, draw: str, ask: str, said: str
) -> None:
    half = HALF.replace("(d.normal(d.T, d.D),)", draw)
    half = half.replace("    covers=", f"    ask=lambda f, *x: {ask},\n    covers=")
    types = small_set(tmp_path / "other", half=half)["half"].types
    assert types.startswith(said)
    assert bool(types) is bool(said)
