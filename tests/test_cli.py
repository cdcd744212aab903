"""The command `headway` says which commands there are, and which one was meant."""

import subprocess
import sys

import pytest

from headway.cli import main

WITHOUT_PYTORCH = """
import sys
from headway.cli import main
try:
    print("status", main(sys.argv[1:]))
except SystemExit as end:
    print("status", end.code)
assert not {"torch", "numpy"} & {*sys.modules}
"""


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ([], 2),
        (["--help"], 0),
        (["practce"], 2),
        (["explain"], 0),
        (["explain", "leek"], 2),
        (["explain", "leak"], 0),
    ],
)
def test_pytorch_is_not_imported_to_say_so(words: list[str], status: int) -> None:
    command = [sys.executable, "-P", "-c", WITHOUT_PYTORCH, *words]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, f"status {status}")


def test_without_a_command_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    told = " ".join(capsys.readouterr().err.split())
    with pytest.raises(SystemExit, match=r"^0$"):
        main(["--help"])
    assert told == " ".join(capsys.readouterr().out.split())
    assert "check check what must hold of attention code" in told
    assert "explain show what the book says of a property or a mistake" in told
    assert "practice (practise) write each stage of attention" in told


def test_a_mistake_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "leak"]) == 0
    assert "leak" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("practce", " Did you mean practice?"),
        ("practises", " Did you mean practise?"),
        ("chek", " Did you mean check?"),
        ("explane", " Did you mean explain?"),
        ("teach", ""),
        ("", ""),
    ],
)
def test_an_unknown_command_is_refused(
    capsys: pytest.CaptureFixture[str], word: str, hint: str
) -> None:
    with pytest.raises(SystemExit, match=r"^2$"):
        main([word])
    told = capsys.readouterr().err.splitlines()[-1]
    assert told == f"headway: error: there is no command {word!r}.{hint}"


def test_practice_is_spelled_in_two_ways(capsys: pytest.CaptureFixture[str]) -> None:
    for word in ("practice", "practise"):
        with pytest.raises(SystemExit, match=r"^0$"):
            main([word, "--help"])
        assert capsys.readouterr().out.startswith("usage: headway practice ")
