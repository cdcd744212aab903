"""The syntax tree of a function, where its source is at hand.

Bytecode differs between versions of Python; source does not. Code from `exec` has none,
and the file of a function may have been changed since: then there is no tree.
"""

import ast
import functools
import inspect
import linecache
import re
import warnings
from collections.abc import Mapping, Sequence
from types import CodeType, FunctionType
from typing import Any

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def body_of(function: Any) -> ast.Module | None:
    """Give what a function does as a tree, without its decorators and arguments.

    Returns:
        The tree, always the same one for the same code; `None` if there is no source,
        it is of other code, or it has two functions that cannot be told apart.
    """
    if not isinstance(function, FunctionType):
        return None
    code = function.__code__
    # A file in an archive is read by what has imported it.
    linecache.lazycache(code.co_filename, function.__globals__)
    return _body(code, code.co_filename)


def locals_of(code: CodeType) -> list[str]:
    """List the variables of a function without its arguments, as they first occur."""
    stars = (inspect.CO_VARARGS, inspect.CO_VARKEYWORDS)
    others = sum(bool(code.co_flags & star) for star in stars)
    first = code.co_argcount + code.co_kwonlyargcount + others
    arguments = code.co_varnames[:first]
    captured = [name for name in code.co_cellvars if name not in arguments]
    return [*code.co_varnames[first:], *captured]


# Code is equal to the same code from elsewhere: its file tells them apart.
@functools.lru_cache(maxsize=1024)
def _body(code: CodeType, file: str) -> ast.Module | None:
    linecache.checkcache(file)
    lines = linecache.getlines(file)
    here = _functions("".join(lines)).get(code.co_firstlineno, [])
    found = [node for node in here if _fits(node, code, lines)]
    if len(found) != 1:
        return None
    [node] = found
    if isinstance(node, ast.Lambda):
        return ast.Module([ast.Expr(node.body)], [])
    return ast.Module(node.body, [])


@functools.lru_cache(maxsize=16)
def _functions(source: str) -> Mapping[int, Sequence[_Function]]:
    """Find the functions of a file by the first line of each."""
    try:
        with warnings.catch_warnings(action="ignore"):  # as of "\d", long since said
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    found: dict[int, list[_Function]] = {}
    for node in ast.walk(tree):
        if isinstance(node, _Function):
            above = getattr(node, "decorator_list", [])
            first = min(one.lineno for one in (node, *above))
            found.setdefault(first, []).append(node)
    return found


def _fits(node: _Function, code: CodeType, lines: Sequence[str]) -> bool:
    """Ask whether code is of this source, by its name, arguments and variables."""
    taken = node.args
    arguments = (*taken.posonlyargs, *taken.args, *taken.kwonlyargs)
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    if getattr(node, "name", "<lambda>") != code.co_name:
        return False
    words = re.findall(r"\w+", "".join(lines[node.lineno - 1 : node.end_lineno]))
    # What is no identifier was made by Python, or by pytest of an `assert`.
    stored = {name for name in locals_of(code) if name.isidentifier()}
    return names == tuple(one.arg for one in arguments) and stored <= {*words}
