"""Small changes of a solution, made by rule: what no trial sees may hide a mistake."""

import ast
import copy
from collections.abc import Iterator

from headway.practice.task.source import Source

_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


def mutants(source: Source) -> Iterator[tuple[str, str]]:
    """Change one thing in the hole of an exercise at a time.

    Yields:
        What was changed, as `old -> new`, and the program.
    """
    program = source.solution
    begin = source.before.count("\n") + 1
    end = begin + source.hole.count("\n") - 1
    tree = ast.parse(program)
    seen = set()
    for number, node in enumerate(ast.walk(tree)):
        line = getattr(node, "lineno", 0)
        if not begin <= line <= end:
            continue
        for changed in _changes(node):
            again = copy.deepcopy(tree)
            old = [*ast.walk(again)][number]
            other = _Replace(old, changed).visit(again)
            text = ast.unparse(ast.fix_missing_locations(other))
            name = f"{ast.unparse(node)} -> {ast.unparse(changed)}"
            if text not in seen:
                seen.add(text)
                yield name, text


def _changes(node: ast.AST) -> Iterator[ast.AST]:
    """Give what may stand in the place of a piece of a program."""
    if isinstance(node, ast.BinOp) and (other := _OPERATORS.get(type(node.op))):
        yield ast.BinOp(node.left, other(), node.right)
    if isinstance(node, ast.Compare) and (to := _COMPARISONS.get(type(node.ops[0]))):
        yield ast.Compare(node.left, [to(), *node.ops[1:]], node.comparators)
    if isinstance(node, ast.Constant):
        yield from _constants(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.Invert)):
        yield node.operand
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield node.operand
    if isinstance(node, ast.Attribute) and node.attr in ("mT", "T"):
        yield node.value
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and not _is_module(node.func.value)
    ):
        yield node.func.value


def _constants(value: object) -> Iterator[ast.AST]:
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int):
        yield ast.Constant(value + 1)
    elif isinstance(value, float):
        yield ast.Constant(value * 2 + 1)


def _is_module(node: ast.AST) -> bool:
    """Ask whether a call is one of a function of a module, such as `torch.stack`."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in ("torch", "math", "F", "nn")


class _Replace(ast.NodeTransformer):
    """Puts a node in the place of another."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old = old
        self.new = new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)
