"""Tables in use: the tensors with a row for each token that a call is computed from."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch._C._functorch import is_functorch_wrapped_tensor
from torch.overrides import TorchFunctionMode

from headway.checks.core.errors import at_the_border

EXACT = 1e-5
_MOST = 400  # tensors of the shape of a table; a call that has more is cut off here


class TableWatch(TorchFunctionMode):
    """Keep the tensors with a row for each token that functions are handed or give."""

    def __init__(self, T: int) -> None:
        super().__init__()
        self.T = T
        self.kept: list[Tensor] = []

    @at_the_border
    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Call the function, and keep what looks like a table."""
        result = func(*args, **(kwargs or {}))
        if torch.compiler.is_compiling():  # there are no numbers yet to compare
            return result  # pragma: no cover  # Python does not run it
        for one in _tensors((args, result)):
            table = _as_table(one, self.T)
            if table is not None and len(self.kept) < _MOST:
                self.kept.append(table)
        return result


def _tensors(value: Any) -> Iterator[Tensor]:
    # Those of a compiler have no numbers, nor have those of vmap.
    if type(value) in (Tensor, nn.Parameter) and not is_functorch_wrapped_tensor(value):
        yield value
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from _tensors(one)


def _as_table(tensor: Tensor, T: int) -> Tensor | None:
    """Bring a tensor to (T, columns), if it is the same for all texts and heads."""
    if not (tensor.is_floating_point() or tensor.is_complex()):
        return None
    if tensor.ndim > 2 and tensor.shape[-1] == 2 and not tensor.is_complex():
        pairs = _as_table(torch.view_as_complex(tensor.double().contiguous()), T)
        if pairs is not None and is_constant(pairs.abs()):
            return pairs
    table = tensor.detach()
    while table.ndim > 2:
        axis = next((a for a in range(table.ndim - 1) if table.shape[a] != T), 0)
        if not table.shape[axis]:
            return None
        first = table.narrow(axis, 0, 1)
        if not torch.equal(first.expand_as(table), table):
            return None
        table = first.squeeze(axis)
    if table.ndim != 2 or table.shape[0] != T:
        return None
    wide = torch.complex128 if table.is_complex() else torch.float64
    # Made under the watch, so an operation on it must not be watched again.
    return table.to(wide).clone()


def is_constant(x: Tensor, exact: float = EXACT) -> bool:
    """Ask whether a tensor is one number throughout, and not zero."""
    first = x.flatten()[:1]
    return bool((first > EXACT).any()) and bool(
        ((x - first).abs() <= exact * first).all()
    )
