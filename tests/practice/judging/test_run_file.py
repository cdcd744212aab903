"""A reader's file is run and judged, whatever stands in it."""

from pathlib import Path

import pytest

from headway.practice.judging.judge import example
from headway.practice.judging.run_file import judge_file
from headway.practice.judging.verdict import Verdict
from headway.practice.terminal.folder import Folder
from tests.practice.small import HALF, small_set
from tests.practice.terminal.test_folder import write


def of(folder: Folder, line: str) -> Verdict:
    path = write(folder, "double", line)
    return judge_file(folder.library["double"], path)


def test_the_stub_is_open(folder: Folder) -> None:
    double = folder.library["double"]
    assert judge_file(double, folder.path_of(double)).state == "open"


def test_a_stub_that_calls_itself_is_open(folder: Folder) -> None:
    path = folder.path_of(folder.library["double"])
    path.write_text(path.read_text() + "\ndouble(torch.ones(2))\n")
    assert judge_file(folder.library["double"], path).state == "open"


def test_what_is_right_passes(folder: Folder) -> None:
    assert of(folder, "return x + x").ok


def test_what_the_example_prints_on_the_way_is_shown(folder: Folder) -> None:
    verdict = of(folder, 'print("on the way", x.shape); return x + x')
    assert verdict.ok
    assert verdict.printed == "on the way torch.Size([1])\ntensor([3.])"


def test_the_worked_example_comes_out(folder: Folder) -> None:
    verdict = of(folder, "return x + x if x.numel() > 1 else x * 7")
    assert verdict.state == "failed"
    assert verdict.sentence == (
        "The output of the worked example differs from its comment: it prints "
        "`tensor([10.5000])`, and must print `tensor([3.])`."
    )
    assert of(folder, "return x + x if x.numel() > 1 else x.y").sentence == (
        "The worked example raised AttributeError: 'Tensor' object has no attribute "
        "'y'. That was at return x + x if x.numel() > 1 else x.y"
    )
    both = of(folder, "return x.y")
    assert both.sentence.startswith("It raised AttributeError: 'Tensor' object has no")
    assert both.example == "The worked example raises it too."


@pytest.mark.parametrize(
    ("printed", "expected", "alike"),
    [
        ("tensor(False)", "False", True),
        ("tensor(True) tensor(1.5000)", "True 1.5", True),
        ("tensor(2.5000, dtype=torch.float64)", "2.5", True),
        ("tensor(-2)", "-2", True),
        ("tensor(2.5000)", "2.7", False),
        ("tensor(0.3333)", "0.333333", True),
        ("tensor(0.3334)", "0.333333", True),
        ("tensor(0.3336)", "0.333333", False),
        ("tensor(3.)", "3.0", True),
        ("tensor(3.)", "3.5", False),
        ("[4.]", "[3.]", False),
        ("tensor([2.5000])", "2.5", False),
        ("2.5", "tensor(2.5000)", False),
        ("tensor(2., grad_fn=<A>)", "tensor(2., grad_fn=<A>)", True),
        ("tensor(2.)", "tensor(2., grad_fn=<A>)", False),
    ],
)
def test_a_tensor_of_one_number_stands_for_the_number(
    tmp_path: Path, printed: str, expected: str, alike: bool
) -> None:
    half = HALF.replace("print(half(torch.tensor(3.0)))", f"print({printed!r})")
    half = half.replace("# tensor(1.5000)", f"# {expected}")
    task = small_set(tmp_path / "other", half=half)["half"]
    assert (example(task, {})[1] == "") is alike


def test_a_long_output_is_cut(tmp_path: Path) -> None:
    half = HALF.replace("print(half(", "print('x' * 999, half(")
    task = small_set(tmp_path / "other", half=half)["half"]
    _, told = example(task, {"half": lambda x: x})
    assert "x ...`, and must print `tensor(1.5000)`." in told


def test_gradients_are_no_part_of_what_an_example_prints(folder: Folder) -> None:
    assert of(folder, "return torch.nn.Parameter(x) * 2").ok


def test_an_answer_that_gives_nothing_is_asked_for_its_return(folder: Folder) -> None:
    verdict = of(folder, "x = None\n    return x + 1")
    assert "does a function end without a return" in verdict.sentence


def test_what_max_gives_is_told(folder: Folder) -> None:
    verdict = of(folder, "return x - x.max(dim=-1)")
    assert "With dim, max and min return two tensors" in verdict.sentence


def test_a_wrong_answer_says_both(folder: Folder) -> None:
    verdict = of(folder, "return x * 3")
    assert verdict.mistakes == ("it is three times as much",)
    assert verdict.example.startswith("The output of the worked example differs")


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("return (x", "line 16: return (x\nSyntaxError: "),
        ("pass\n1 / 0", "line 17, in <module>\n    1 / 0\nZeroDivisionError: "),
        ("pass\nraise NotImplementedError('on this')", "line 17, in <module>\n"),
        ("pass\nraise SystemExit(3)", "line 17, in <module>\n    raise SystemExit(3)"),
    ],
)
def test_a_file_that_cannot_be_run_shows_the_readers_lines(
    folder: Folder, line: str, shown: str
) -> None:
    verdict = of(folder, line)
    assert verdict.sentence == "01_double.py could not be run."
    assert verdict.traceback.startswith(shown)


def test_a_file_that_is_gone_or_no_text_is_told(folder: Folder) -> None:
    double = folder.library["double"]
    path = folder.path_of(double)
    path.write_bytes(b"\xff\xfe\x00")
    assert "01_double.py could not be read: " in judge_file(double, path).sentence
    path.unlink()
    assert judge_file(double, path).sentence == (
        "01_double.py could not be read: No such file or directory."
    )


def test_what_is_printed_is_cut(folder: Folder) -> None:
    path = write(folder, "double", "return x + x")
    path.write_text("print('x' * 9999)\n" + path.read_text())
    verdict = judge_file(folder.library["double"], path)
    assert verdict.ok
    assert len(verdict.printed) < 2100


def test_a_file_that_was_changed_shows_its_new_lines(folder: Folder) -> None:
    of(folder, "return x.a")
    path = folder.path_of(folder.library["double"])
    path.write_text(path.read_text().replace("x.a", "x.bcd"))
    verdict = judge_file(folder.library["double"], path)
    assert "    return x.bcd" in verdict.traceback


def test_files_of_windows_are_read(folder: Folder) -> None:
    path = write(folder, "double", "y = x.a\n    return y")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    verdict = judge_file(folder.library["double"], path)
    assert verdict.traceback.endswith("line 16, in double\n    y = x.a")
    path.write_bytes(path.read_bytes().replace(b"x.a", b"x+x"))
    assert judge_file(folder.library["double"], path).ok


def test_paths_may_have_spaces(folder: Folder, tmp_path: Path) -> None:
    path = tmp_path / "a folder" / "my double.py"
    path.parent.mkdir()
    path.write_text(folder.library["double"].source.solution)
    assert judge_file(folder.library["double"], path).ok
