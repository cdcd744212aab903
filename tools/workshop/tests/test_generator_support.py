"""What is generated is the same wherever that happens."""

import math
import re
from pathlib import Path

import pytest

from workshop.generator_support import (
    fixed,
    generate,
    read_hashes,
    run_program,
    sha256,
    significant,
    write_hashes,
)


def test_a_program_gives_what_it_defines_and_prints(
    capsys: pytest.CaptureFixture[str],
) -> None:
    names, printed = run_program("one = 1\nprint(one, __name__)\n")
    assert names["one"] == 1
    assert printed == "1 __main__\n"
    assert run_program("print(__name__)", "museum")[1] == "museum\n"
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (0.40955166, 4, "0.4096"),
        (0.40954996, 4, "0.4095"),
        (27.5449, 2, "27.54"),
        (-1.23456, 2, "-1.23"),
        (0.0, 4, "0.0000"),
        (1e-30, 2, "0.00"),
        (12345.4, 0, "12345"),
    ],
)
def test_a_number_is_rounded(value: float, decimals: int, text: str) -> None:
    assert fixed(value, decimals) == text


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.551678012, 8, "0.55167801"),
        (-27.5412349, 8, "-27.541235"),
        (1.0, 8, "1"),
        (0.0, 8, "0"),
        (0.000123456, 2, "0.00012"),
    ],
)
def test_digits_that_count_are_counted(value: float, digits: int, text: str) -> None:
    assert significant(value, digits) == text


# A tie, and its neighbours that another processor might have computed.
TIE = 0.40955
NEXT_TO_IT = [TIE, math.nextafter(TIE, 1), math.nextafter(TIE, 0), -TIE, TIE + 1e-13]


@pytest.mark.parametrize("value", [*NEXT_TO_IT, 0.409549985722, 0.03125, 1000.4])
def test_a_number_between_two_roundings_is_refused(value: float) -> None:
    refused = f"between two roundings; got value={value!r}, decimals=4."
    with pytest.raises(ValueError, match=re.escape(refused)):
        fixed(value, 4)


@pytest.mark.parametrize("value", [*NEXT_TO_IT, 4095.5, 4.0955e-9])
def test_so_is_one_between_two_that_have_as_many_digits(value: float) -> None:
    with pytest.raises(ValueError, match="between two roundings"):
        significant(value, 4)


MADE = {"a.md": "- \u221a2\n", "b/c.html": "<p>3</p>\n"}


def run(*arguments: str) -> int:
    return generate("make it", lambda: MADE, Path("nowhere"), arguments)


def test_what_is_written_passes_its_check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--to", str(tmp_path / "new")) == 0
    for name, text in MADE.items():
        assert (tmp_path / "new" / name).read_bytes() == text.encode()
    assert run("--check", "--to", str(tmp_path / "new")) == 0
    assert capsys.readouterr().out == ""


def test_a_check_names_all_that_is_wrong_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.md").write_bytes(MADE["a.md"].replace("\n", "\r\n").encode())
    (tmp_path / "d.md").write_text("old")
    assert run("--check", "--to", str(tmp_path)) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{tmp_path / 'a.md'} must be as made now; run make it.",
        f"{tmp_path / 'b/c.html'} must be as made now; run make it.",
        f"{tmp_path / 'd.md'} must not be there: make it does not make it.",
    ]
    assert {path.name for path in tmp_path.iterdir()} == {"a.md", "d.md"}


# ---- Files that git does not keep ----


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    """Give a list with the hashes of files that are made, and of others."""
    file = tmp_path / "hashes.txt"
    hashes = {f"made/{name}": sha256(text.encode()) for name, text in MADE.items()}
    hashes |= {"more/x.md": "0123", "made.md": "4567"}
    write_hashes(file, {tmp_path / name: one for name, one in hashes.items()})
    return file


def run_listed(listed: Path, *arguments: str) -> int:
    folder = listed.parent / "made"
    return generate("make it", lambda: MADE, folder, arguments, hashes=listed)


def test_a_list_has_a_line_for_each_file_in_their_order(listed: Path) -> None:
    paths = [line.split("  ")[1] for line in listed.read_text("utf-8").splitlines()]
    assert paths == ["made.md", "made/a.md", "made/b/c.html", "more/x.md"]
    assert sha256(b"abc").startswith("ba7816bf8f01cfea")  # as the standard has it
    assert read_hashes(listed, listed.parent / "more") == {
        listed.parent / "more/x.md": "0123"
    }
    assert len(read_hashes(listed)) == 4
    assert read_hashes(listed.parent / "none.txt") == {}


def test_a_check_needs_the_list_alone(
    listed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_listed(listed, "--check") == 0
    assert capsys.readouterr().out == ""
    assert [path.name for path in listed.parent.iterdir()] == [listed.name]


def test_a_check_names_all_that_is_wrong_in_the_list(
    listed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hashes = read_hashes(listed)
    folder = listed.parent / "made"
    hashes[folder / "a.md"] = hashes[folder / "b/c.html"]
    del hashes[folder / "b/c.html"]
    hashes[folder / "d.md"] = "89ab"
    write_hashes(listed, hashes)
    assert run_listed(listed, "--check") == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{folder / 'a.md'} in {listed} must be as made now; run make it.",
        f"{folder / 'b/c.html'} in {listed} must be as made now; run make it.",
        f"{folder / 'd.md'} in {listed} must not be there: make it does not make it.",
    ]
    assert read_hashes(listed) == hashes


def test_what_is_written_is_listed(listed: Path) -> None:
    before = listed.read_text("utf-8")
    hashes = read_hashes(listed)
    folder = listed.parent / "made"
    write_hashes(listed, hashes | {folder / "a.md": "0", folder / "d.md": "1"})
    assert run_listed(listed) == 0
    assert listed.read_text("utf-8") == before
    assert {path.name for path in folder.rglob("*.*")} == {"a.md", "c.html"}


def test_what_is_written_elsewhere_is_not(listed: Path) -> None:
    write_hashes(listed, {})
    other = listed.parent / "other"
    assert run_listed(listed, "--to", str(other)) == 0
    assert run_listed(listed, "--check", "--to", str(other)) == 0
    assert listed.read_text("utf-8") == ""
