"""The tree of a function is of its source, or there is none."""

import ast
import functools
import importlib
import linecache
import os
import sys
import warnings
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from headway.checks.core.source import body_of, locals_of


def kept(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function, and leave it as it is."""
    return function


@pytest.fixture
def written(tmp_path: Path) -> Iterator[Callable[[str], Any]]:
    """Write a file, import it, and give its function `f`."""

    def write(text: str) -> Any:
        file = tmp_path / "written_for_its_tree.py"
        file.write_text(text, encoding="utf-8")
        os.utime(file, ns=(0, len(text)))
        code = compile(text, str(file), "exec")
        space: dict[str, Any] = {"kept": kept}
        exec(code, space)  # noqa: S102
        return space["f"]

    yield write
    linecache.clearcache()


def shown(function: Any) -> str | None:
    body = body_of(function)
    return None if body is None else ast.unparse(body)


def test_a_function_is_found_by_its_first_line() -> None:
    @kept
    @functools.lru_cache(
        maxsize=3,
    )
    def decorated(x: int) -> int:
        return x + 2

    class Counted:
        async def later(self, x: int, /, *, y: int = 3) -> int:
            return x + y

    by_three = lambda x: x * 3  # noqa: E731
    assert shown(decorated.__wrapped__) == "return x + 2"
    assert shown(Counted.later) == "return x + y"
    assert shown(by_three) == "x * 3"
    assert shown(shown) == (
        "body = body_of(function)\nreturn None if body is None else ast.unparse(body)"
    )


def test_the_tree_of_the_same_code_is_read_once() -> None:
    assert body_of(shown) is not None
    assert body_of(shown) is body_of(shown)


def test_two_functions_of_one_line_are_told_apart_by_their_arguments() -> None:
    pair = [lambda x: x + 1, lambda y: y + 2]
    twins = [lambda x: x + 1, lambda x: x + 2]
    assert [*map(shown, pair)] == ["x + 1", "y + 2"]
    assert [*map(shown, twins)] == [None, None]


@pytest.mark.parametrize("other", [len, 5, functools.partial(shown), ast.AST])
def test_what_is_no_function_has_no_tree(other: Any) -> None:
    assert body_of(other) is None


def test_code_without_a_file_has_no_tree_where_the_same_code_with_one_has(
    written: Callable[[str], Any],
) -> None:
    text = "def f(x):\n    y = x\n    return y\n"
    space: dict[str, Any] = {}
    exec(text, space)  # noqa: S102
    assert shown(written(text)) == "y = x\nreturn y"
    assert body_of(space["f"]) is None


@pytest.mark.parametrize(
    "changed",
    [
        "",
        "def f(x:\n",
        "f = '\\0'\0",
        "\n\ndef f(x):\n    y = x\n    return y\n",
        "def g(x):\n    y = x\n    return y\n",
        "def f(z):\n    y = z\n    return y\n",
        "def f(x):\n    w = x\n    return w\n",
        "f = lambda x: (y := x)\n",
    ],
)
def test_a_file_that_was_changed_is_not_taken_for_the_code(
    written: Callable[[str], Any], changed: str
) -> None:
    f = written("def f(x):\n    y = x\n    return y\n")
    Path(f.__code__.co_filename).write_text(changed, encoding="utf-8")
    assert body_of(f) is None


def test_lines_of_an_older_file_are_read_again(written: Callable[[str], Any]) -> None:
    assert shown(written("def f(x):\n    return x\n")) == "return x"
    assert shown(written("# Longer.\ndef f(x):\n    return 2 * x\n")) == "return 2 * x"


def test_what_python_warns_of_in_a_file_was_said_when_it_was_imported(
    written: Callable[[str], Any],
) -> None:
    with warnings.catch_warnings(action="ignore"):
        f = written('def f(x):\n    return x, "\\d"\n')
    assert body_of(f) is not None  # a warning would be an error, and there were no tree


def test_a_module_in_an_archive_has_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = tmp_path / "packed.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("packed_for_its_tree.py", "def f(x):\n    return x + 5\n")
    monkeypatch.syspath_prepend(archive)
    try:
        module = importlib.import_module("packed_for_its_tree")
        assert shown(module.f) == "return x + 5"
    finally:
        sys.modules.pop("packed_for_its_tree", None)


def test_the_variables_of_code_are_those_that_are_no_arguments() -> None:
    def f(a: int, /, b: int, *c: int, d: int, **e: int) -> Any:
        first = b
        captured = a
        return lambda: (captured, b, c, d, e, first)

    def g(*c: int) -> int:
        first = c[0]
        second = first
        return second

    assert sorted(locals_of(f.__code__)) == ["captured", "first"]
    assert locals_of(g.__code__) == ["first", "second"]
