"""What is generated is the same wherever that happens."""

import math
import re
from pathlib import Path

import pytest

from workshop.generator_support import fixed, generate, run_program, significant


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
