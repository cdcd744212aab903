"""What the functions of a program bind is listed, and watching changes nothing else."""

import sys
from collections.abc import Callable
from typing import Any

import pytest

from workshop.run.bound_names import LINES, Watch
from workshop.run.watched_shapes import WATCH

MODULE = """
import torch


class Attend(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.W = torch.nn.Linear(3, 2)

    def forward(self, x):
        texts, tokens, _ = x.shape
        query = self.W(x)
        query = query.view(texts, tokens, 2, 1)
        query = query.transpose(1, 2)
        _hidden = scores = self.score(query)
        again = scores.softmax(-1)
        again = again + 1
        return (again @ query).double()

    def score(self, query):
        return query @ query.transpose(-1, -2)


attend = Attend()
attend(torch.ones(5, 7, 3))
attend(torch.ones(2, 2, 3))
"""
WATCHED: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "forward, and what it calls": (
        MODULE,
        [
            ("inside Attend.forward", ""),
            ("x", "(5, 7, 3)"),
            ("query", "(5, 7, 2)"),
            ("query", "(5, 7, 2, 1)"),
            ("query", "(5, 2, 7, 1)"),
            ("scores", "(5, 2, 7, 7)"),
            ("again", "(5, 2, 7, 7)"),
            ("inside Attend.score", ""),
            ("query", "(5, 2, 7, 1)"),
        ],
    ),
    "until an error": (
        "import torch\ndef f(x):\n    y = x.sum(0)\n    z = y @ 3\nf(torch.ones(2, 3))",
        [("inside f", ""), ("x", "(2, 3)"), ("y", "(3,)")],
    ),
    "not what is no tensor, is not called, or has no name": (
        "import torch\nx = torch.ones(2)\n"
        "def f(a, layer):\n    b = [a, 'c']\n    return b\n"
        "def g(x):\n    y = x\n"
        "h = lambda x: x\n"
        "f(3, torch.nn.Linear(2, 2))\nh(x)\n[h(y) for y in x]",
        [],
    ),
    "not what a function around it has bound": (
        "import torch\ndef f(x):\n    def g(y):\n        return x + y\n"
        "    return g(x.sum())\nf(torch.ones(2))",
        [("inside f", ""), ("x", "(2,)"), ("inside f.g", ""), ("y", "()")],
    ),
    "lists as they are in the end": (
        "import torch\ndef f(x):\n    heads = []\n    for _ in range(3):\n"
        "        heads.append(x)\n    cat = torch.cat(heads)\nf(torch.ones(2))",
        [
            ("inside f", ""),
            ("x", "(2,)"),
            ("heads", "3 tensors of (2,)"),
            ("cat", "(6,)"),
        ],
    ),
    "a name that grows": (
        "import torch\ndef f(x):\n    for _ in range(20):\n"
        "        x = torch.cat((x, x[:1]))\nf(torch.ones(1))",
        [("inside f", ""), *(("x", f"({n},)") for n in range(1, 9))],
    ),
    "a long loop": (
        f"import torch\ndef f(x):\n    for n in range({LINES}):\n        y = n\n"
        "    z = x.sum()\nf(torch.ones(2))",
        [("inside f", ""), ("x", "(2,)"), ("z", "()")],
    ),
    "a type": (
        "import torch\ndef f(x):\n    mask = x > 0\nf(torch.ones(2))",
        [("inside f", ""), ("x", "(2,)"), ("mask", "(2,) bool")],
    ),
    "one without a shape": (
        "import torch\ndef f(x):\n    y = torch.nn.parameter.UninitializedParameter()\n"
        "f(torch.ones(2))",
        [("inside f", ""), ("x", "(2,)"), ("y", "not known yet")],
    ),
}


def watch(text: str) -> tuple[Watch, dict[str, Any]]:
    code = compile(text, "<page>", "exec")
    names: dict[str, Any] = {}
    with Watch(code) as seen:
        try:
            exec(code, names)  # noqa: S102
        except TypeError:
            names["failed"] = True
    return seen, names


@pytest.mark.parametrize("what", WATCHED)
def test_what_is_listed(what: str) -> None:
    text, expected = WATCHED[what]
    seen, names = watch(text)
    assert seen.rows() == expected
    assert ("failed" in names) == (what == "until an error")


def test_it_ends_with_the_first_calls() -> None:
    text = "import sys\ndef f():\n    return 1\nbefore = sys.gettrace()\nf()\n"
    outside = sys.gettrace()
    _, names = watch(f"{text}after = sys.gettrace()")
    assert names["before"] is not outside
    assert names["after"] is outside
    assert sys.gettrace() is outside


def test_a_program_without_functions_is_not_watched() -> None:
    outside = sys.gettrace()
    _, names = watch("import sys\nhere = sys.gettrace()\nf = lambda: 3")
    assert names["here"] is outside


def test_one_that_is_never_called_is_waited_for_no_longer_than_the_program() -> None:
    outside = sys.gettrace()
    _, names = watch("import sys\ndef f(): pass\nhere = sys.gettrace()")
    assert names["here"] is not outside
    assert sys.gettrace() is outside


def test_who_traces_goes_on_tracing(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    outside = sys.gettrace()

    def own(frame: Any, event: str, argument: object) -> None:
        calls.append(frame.f_code.co_name)

    try:
        sys.settrace(own)
        watch("def f(): pass\nf()")
        (lambda: None)()
        traced = sys.gettrace()
    finally:
        sys.settrace(outside)
    assert traced is own
    assert "<lambda>" in calls


def test_without_pytorch_there_is_no_tensor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torch")
    seen, _ = watch("def f(x):\n    y = x\nf(2)")
    assert seen.rows() == []


def test_what_cannot_be_looked_at_does_no_harm() -> None:
    text = (
        "import torch\nclass Odd(dict):\n    def values(self):\n"
        "        raise KeyError\ndef f(x):\n    y = Odd(a=x)\n    return 7\n"
        "done = f(torch.ones(2))"
    )
    seen, names = watch(text)
    assert names["done"] == 7
    assert seen.rows()[:2] == [("inside f", ""), ("x", "(2,)")]


@pytest.fixture
def run_program() -> Callable[..., Any]:
    from pytest_proofread.runner import Job, starter

    def run_program(code: str, *, watch: str) -> Any:
        start = starter("fork", sys.path, [])
        try:
            return start.run(Job(code, watch=watch))
        finally:
            start.stop()

    return run_program


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux")
def test_a_program_prints_and_fails_as_ever(run_program: Callable[..., Any]) -> None:
    code = (
        "import sys, torch\ntorch.manual_seed(3)\ndef f(x):\n    y = x @ x.T\n"
        "    print(y.shape, sys.gettrace() is None)\n    return y\n"
        "f(torch.rand(2, 3))\nprint(torch.rand(2))\nf(3)\n"
    )
    plain, watched = (run_program(code, watch=watch) for watch in ("", WATCH))
    assert plain.seen == []
    assert watched.seen == [("inside f", ""), ("x", "(2, 3)"), ("y", "(2, 2)")]
    assert plain.output.replace("True", "False") == watched.output.replace(
        "True", "False"
    )
    assert plain.traceback == watched.traceback
    assert "line 4, in f" in plain.traceback
    assert plain.problems == watched.problems == []
