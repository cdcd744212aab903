"""An error of other people's code is put into one line, and one of ours is raised."""

import ast
import contextlib
import copy
import re
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from headway import small_gpt
from headway._paths import shown
from headway.checks import check, check_model
from headway.checks.core.errors import describe, frames, is_ours, owner, place


def test_an_error_is_put_into_one_line() -> None:
    assert describe(KeyError("a")) == "KeyError: 'a'"
    assert describe(RuntimeError("two\n  lines.")) == "RuntimeError: two lines"
    assert describe(ValueError("x" * 157)) == "ValueError: " + "x" * 157
    assert describe(ValueError("x" * 158)) == "ValueError: " + "x" * 157 + "..."


def fails() -> None:
    raise RuntimeError


def test_an_error_without_words_is_told_by_its_line() -> None:
    with pytest.raises(RuntimeError) as caught:
        fails()
    assert describe(caught.value) == "RuntimeError: raise RuntimeError"
    assert describe(RuntimeError()) == "RuntimeError"


def test_the_place_is_the_last_line_of_a_readers_own() -> None:
    with pytest.raises(RuntimeError) as caught:
        fails()
    line = fails.__code__.co_firstlineno + 1
    assert place(caught.value) == f" at {shown(Path(__file__), Path.cwd())}:{line}"
    with pytest.raises(RuntimeError) as raised:
        torch.nn.Linear(2, 3)(torch.zeros(5))
    assert [frame.name for frame in frames(raised.value)] == [
        "test_the_place_is_the_last_line_of_a_readers_own"
    ]
    assert place("words") == ""


def test_a_place_elsewhere_is_shown_whole(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(RuntimeError) as caught:
        fails()
    monkeypatch.chdir(tmp_path)
    assert place(caught.value).startswith(f" at {__file__}:")


PYTHON, LINUX = "C:\\Python\\Lib", "/usr/lib/python3.11"
PACKAGES = f"{PYTHON}\\site-packages"


@pytest.mark.parametrize(
    ("filename", "expected"),
    [
        (f"{PYTHON}\\copy.py", "library"),
        ("c:\\python\\lib\\json\\decoder.py", "library"),
        (f"{PACKAGES}\\jaxtyping\\_decorator.py", "library"),
        (f"{PACKAGES}\\torch\\nn\\modules\\linear.py", "library"),
        (f"{PACKAGES}\\headway\\checks\\run.py", "checks"),
        (f"{PACKAGES}\\headway\\basics\\masks.py", "reader"),
        (f"{PACKAGES}\\transformers\\models\\gpt2.py", "reader"),
        ("D:\\code\\mine.py", "reader"),
        ("D:\\code\\numpy.py", "reader"),
        ("<call>", "call"),
        ("<cached>", "call"),
        ("<frozen importlib._bootstrap>", "library"),
        ("<string>", "reader"),
    ],
)
def test_whose_a_line_is_on_windows(filename: str, expected: str) -> None:
    folders = {
        "checks": f"{PACKAGES}\\headway\\checks",
        "torch": f"{PACKAGES}\\torch",
        "standard": PYTHON,
    }
    assert owner(filename, **folders) == expected


@pytest.mark.parametrize(
    ("filename", "expected"),
    [
        (f"{LINUX}/copy.py", "library"),
        (f"{LINUX}/site-packages/beartype/door.py", "library"),
        (f"{LINUX}/site-packages/transformers/gpt2.py", "reader"),
        (copy.__file__, "library"),
        (torch.nn.Linear.__init__.__code__.co_filename, "library"),
        (check.__code__.co_filename, "checks"),
        (__file__, "reader"),
    ],
)
def test_whose_a_line_is_elsewhere(filename: str, expected: str) -> None:
    standard = LINUX if filename.startswith(LINUX) else sysconfig.get_path("stdlib")
    assert owner(filename, standard=standard) == expected


def test_a_place_on_another_drive_is_shown_whole_with_slashes() -> None:
    code = compile("1 / 0", "D:\\code\\mine.py", "exec")
    with pytest.raises(ZeroDivisionError) as caught:
        exec(code)  # noqa: S102
    assert place(caught.value) == " at D:/code/mine.py:1"


# An error of ours is raised; one of the code that is checked is told.


def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return scaled_dot_product_attention(query, key, value)


def wrong(*given: Any, **named: Any) -> Any:
    return [][1]


# As if it stood in the checks.
ours = FunctionType(
    wrong.__code__.replace(co_filename=check.__code__.co_filename), globals()
)


def unscaled(query: Tensor, key: Tensor, value: Tensor, mask: Any = None) -> Tensor:
    scores = query @ key.mT
    scores = scores if mask is None else scores.masked_fill(~mask, -torch.inf)
    return scores.softmax(-1) @ value


@pytest.fixture(scope="module")
def without_an_error() -> None:
    """Check what raises nothing by itself."""
    check(unscaled)


@pytest.mark.parametrize(
    "where",
    [
        "headway.checks.attention.properties.layout._in_other_orders",
        "headway.checks.attention.properties.numerics.example_table",
        "headway.checks.attention.properties.equation.explain",
        "headway.checks.attention.evidence.evidence.find_designs",
        "headway.checks.attention.evidence.masks.example_table",
    ],
)
@pytest.mark.usefixtures("without_an_error")
def test_an_error_of_ours_is_raised(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(where, ours)
    with pytest.raises(IndexError):
        check(unscaled)


def test_an_error_of_ours_is_raised_of_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headway.checks.model.properties.texts.alone", ours)
    monkeypatch.setattr("headway.checks.model.properties.precision.moves", ours)
    with pytest.raises(IndexError):
        check_model(small_gpt())


def test_an_error_of_the_code_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def picky(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        return wrong() if query.shape[-2] == 1 else attend(query, key, value)

    failed = [row.sentence for row in check(picky).failed]
    assert failed
    assert all("raised IndexError" in one for one in failed)


@pytest.mark.parametrize(
    "call", ["m(x, x)[7]", "m(x)", "m(x, x, x, nothing=1)", "m(x, x, x)[0] @ x", "1"]
)
def test_an_error_of_a_call_is_told(call: str) -> None:
    with pytest.raises(ValueError, match="must"):
        check(nn.MultiheadAttention(12, 2, batch_first=True), call=call)


def test_an_error_of_pytorch_is_of_the_code_that_it_was_handed() -> None:
    report = check(nn.MultiheadAttention(12, 2, batch_first=True))
    assert not any("IndexError" in row.sentence for row in report.rows)
    with pytest.raises(ValueError, match="must"):
        check(nn.MultiheadAttention(12, 2, batch_first=True), d_in=13)


ODD: dict[str, Callable[[Any, Tensor], Any]] = {
    "another width in training": lambda m, y: y[..., :2] if m.training else y,
    "another width of floats": lambda m, y: y if y.dtype == torch.float64 else y[:, :1],
    "another width each call": lambda m, y: y[..., : 2 + m.calls % 3],
    "nothing each third call": lambda m, y: None if m.calls % 3 == 2 else y,
    "numbers that are whole": lambda m, y: y.long(),
    "no axes": lambda m, y: y.sum(),
    "no tensor": lambda m, y: y.detach().numpy(),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_results_are_told_and_raise_nothing_of_ours(name: str) -> None:
    class Odd(nn.Module):
        calls = 0

        def forward(
            self, query: Tensor, key: Tensor, value: Tensor, mask: Any = None
        ) -> Any:
            self.calls += 1
            plain = scaled_dot_product_attention(query, key, value)
            return plain if mask is None else ODD[name](self, plain)

    check(Odd())

    class Tokens(nn.Module):
        calls = 0

        def __init__(self) -> None:
            super().__init__()
            self.q, self.k, self.v = (nn.Linear(5, 5) for _ in range(3))

        def forward(self, x: Tensor) -> Any:
            self.calls += 1
            return ODD[name](self, attend(self.q(x), self.k(x), self.v(x)))

    with contextlib.suppress(ValueError):  # it cannot be called
        check(Tokens())


# Where any error is caught: what is done with one of ours.
CAUGHT = {
    "checks/parametrize.py:kept": "it is raised again",
    "checks/command/worker.py:answer": "it is told as one",
    "checks/command/imports.py:_import_file": "it is raised again",
    "checks/command/imports.py:import_place": "it is raised again",
    "checks/command/imports.py:_run_cell": "there is none, the cell alone is run",
    "checks/command/constructor.py:_call": "there is none, the constructor is called",
    "practice/judging/judge.py:example": "there is none, the example is run",
    "practice/judging/judge.py:_result": "there is none, edits are put together",
    "practice/judging/run_file.py:_run": "there is none, the file is run",
    "practice/judging/worker.py:judge": "it is raised again",
    "practice/judging/worker.py:verdict_on": "it is told as one",
    "practice/grading/child.py:_fork": "there is none, an answer has that process",
    "practice/grading/protected.py:_judged": "there is none, the file is run",
    "practice/grading/protected.py:judge_protected": "it is told as one",
    "practice/grading/wire.py:_ask": "there is none, what an answer gave is read",
    "practice/grading/wire.py:_error": "there is none, what an answer gave is read",
    "practice/grading/wire.py:answer": "there is none, the answer is called",
    "practice/task/library.py:types": "it is told by a proof",
    "practice/terminal/assembled.py:answer": "it is told with its lines",
    "practice/proof/prove.py:prove": "it is told as one of the exercise",
    "practice/proof/prove.py:_defined": "there is none, an edit is run",
}


def everything_caught(node: ast.AST, function: str = "") -> Iterator[str]:
    """Name the functions that catch whatever is raised."""
    for child in ast.iter_child_nodes(node):
        inside = child.name if isinstance(child, ast.FunctionDef) else function
        caught = ""
        if isinstance(child, ast.ExceptHandler):
            caught = ast.unparse(child.type) if child.type else "BaseException"
        elif isinstance(child, ast.Call) and ast.unparse(child.func) in SUPPRESS:
            caught = ast.unparse(child)
        if re.search(r"\b(Base)?Exception\b", caught):
            yield inside
        yield from everything_caught(child, inside)


SUPPRESS = ("suppress", "contextlib.suppress")


def test_only_errors_of_a_reader_are_caught() -> None:
    package = Path(check.__code__.co_filename).parents[2]
    found = {
        f"{path.relative_to(package).as_posix()}:{function}"
        for folder in ("checks", "practice")
        for path in (package / folder).rglob("*.py")
        if "exercises" not in path.parts
        for function in everything_caught(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert found == {*CAUGHT}


def test_an_error_that_was_raised_nowhere_is_not_ours() -> None:
    assert not is_ours(IndexError("it has no traceback"))


def test_what_pytorch_refuses_is_about_tensors_of_the_code() -> None:
    def refused() -> None:
        torch.zeros(3) + torch.zeros(5)

    # As if it stood in the checks.
    refused.__code__ = refused.__code__.replace(co_filename=check.__code__.co_filename)
    with pytest.raises(RuntimeError) as caught:
        refused()
    assert not is_ours(caught.value)
