"""What an answer changes in what it is given."""

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from headway.practice.judging.compare import same

_OF_LISTS = ("append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort")


def noting(answer: Any, changed: set[str]) -> Any:
    """Note what a function changes in tensors and modules besides their numbers."""
    if not inspect.isfunction(answer):
        return answer

    @functools.wraps(answer)
    def noted(*args: Any, **kwargs: Any) -> Any:
        given = (*args, *kwargs.values())
        before = [*_states(given)]
        result = answer(*args, **kwargs)
        changed.update(
            name
            for (name, one), (_, other) in zip(before, _states(given), strict=False)
            if one != other
        )
        return result

    return noted


def _states(given: Sequence[Any]) -> Iterator[tuple[str, bool]]:
    """Give the marks of tensors and modules, also of those in lists."""
    for one in given:
        if isinstance(one, torch.Tensor) and one.is_leaf:
            yield "requires_grad", one.requires_grad
            yield ".grad", one.grad is not None
        elif isinstance(one, torch.nn.Module):
            yield from (("training", part.training) for part in one.modules())
            yield from _states([*one.parameters()])
        elif isinstance(one, (list, tuple)):
            yield from _states(one)


def writes(answer: Any) -> str:
    """Say which line of a program may write into what it was given."""
    parts = vars(answer).values() if inspect.isclass(answer) else [answer]
    functions = [one for one in parts if inspect.isfunction(one)]
    given = {name for one in functions for name in inspect.signature(one).parameters}
    nodes = [node for one in functions for node in _nodes_of(one)]
    # First what is done to an argument itself, then to what may be a part of one.
    for names in (given, None):
        for node in nodes:
            if told := _writing(node, names):
                return f": {told}"
    return (
        ", such as by x[0] = y, by .sort() of a list, or by a method that ends in _. "
        "Copy it first"
    )


def _writing(node: ast.AST, names: set[str] | None) -> str:
    """Say how a piece of a program writes into one of these names, if it does."""
    if isinstance(node, ast.AugAssign) and _begins(node.target, names):
        return "x += y writes into x, and x = x + y does not"
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return ""
    name = node.func.attr
    if not _begins(node.func.value, names):
        return ""
    if name.endswith("_") and not name.startswith("_"):
        return f".{name}() writes into its tensor, and .{name[:-1]}() does not"
    if name in _OF_LISTS:
        return f".{name}() changes its list. Copy it first, as by list(x)"
    return ""


def _begins(node: ast.AST, names: set[str] | None) -> bool:
    """Ask whether an expression is one of these names, or a part of one."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return names is None or (isinstance(node, ast.Name) and node.id in names)


def _nodes_of(function: Callable[..., Any]) -> Iterator[ast.AST]:
    """Give what the text of a function consists of, if there is one."""
    try:
        text = textwrap.dedent(inspect.getsource(function))
        yield from ast.walk(ast.parse(text))
    except (OSError, SyntaxError):
        return


def tensors_differ(given: Sequence[Any], before: Sequence[Any]) -> bool:
    """Ask whether what was drawn has other numbers than before."""
    numbers = (torch.Tensor, list, tuple, int, float)
    both = zip(given, before, strict=True)
    return not all(same(a, b) for a, b in both if isinstance(a, numbers))
