"""List the tensors that a program has made: under which name, and of which shape.

It needs nothing but the standard library; where no PyTorch is loaded there is no
tensor. What only a function has seen has no name any more, and names that begin with an
underscore are not shown. One that was bound twice stands for what it means at the end.
"""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_proofread.runner import Row

MOST = 8  # rows for one name


def shapes(names: Mapping[str, Any]) -> list[Row]:
    """Return a row for each tensor, in the order in which the names were first bound.

    Args:
        names: What a program has named.

    Returns:
        A name and a shape each; the type stands behind the shape if it is not float32.
        Modules, lists, tuples and dictionaries have rows for the tensors in them, but
        biases have none.
    """
    torch = sys.modules.get("torch")
    if torch is None:
        return []
    shown = [name for name in names if not name.startswith("_")]
    return [row for name in shown for row in rows(name, names[name], torch)]


def rows(name: str, value: Any, torch: Any) -> list[Row]:
    """Return the rows for one name."""
    if isinstance(value, torch.Tensor):
        return [(name, shape(value))]
    if isinstance(value, torch.nn.Module):
        return listed(name, [*of_module(name, value)], MOST)
    if isinstance(value, list | tuple):
        return of_all(name, dict(enumerate(value)), 1, torch)
    if isinstance(value, dict):
        return of_all(name, value, MOST, torch)
    return []


def of_module(name: str, module: Any) -> Iterator[tuple[str, Any]]:
    """Yield what a module learns and keeps; a bias is as long as its weight is."""
    learned = dict(module.named_parameters(prefix=name))
    for part, one in (learned | dict(module.named_buffers(prefix=name))).items():
        if not (part.endswith("bias") and part in learned and one.dim() == 1):
            # As a program names it: PyTorch has a point before the number in a list.
            yield re.sub(r"\.(\d+)(?=\.|$)", r"[\1]", part), one


def of_all(name: str, values: dict[Any, Any], alike: int, torch: Any) -> list[Row]:
    """Return the rows for a collection, if it holds tensors and nothing else."""
    if not all(isinstance(one, torch.Tensor) for one in values.values()):
        return []
    inside = [(f"{name}[{key!r}]", one) for key, one in values.items()]
    return listed(name, inside, alike)


def listed(name: str, inside: Sequence[tuple[str, Any]], alike: int) -> list[Row]:
    """Return a row for each of several tensors; if they are alike, for this many."""
    found = [(part, shape(one)) for part, one in inside]
    if len(found) > alike and len({said for _, said in found}) == 1:
        return [(name, f"{len(found)} tensors of {found[0][1]}")]
    more = len(found) - MOST
    rest = [(name, f"and {more} more")] if more > 0 else []
    return [*found[:MOST], *rest]


def shape(tensor: Any) -> str:
    """Return the shape of a tensor, and its type if that is not the usual one."""
    try:
        size = tuple(tensor.shape)
    except RuntimeError:  # a lazy parameter gets it from its first input
        return "not known yet"
    kind = str(tensor.dtype).removeprefix("torch.").replace("float32", "")
    return f"{size} {kind}".strip()
