"""The rates of dropout in a piece of code."""

import re
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from headway.checks.core.errors import at_the_border
from headway.checks.core.signature import Target, arguments

_NAME = re.compile(r"(^|_)p?drop(out)?(_p|_prob|_rate)?$")

_DROPPING = {
    functional.dropout,
    functional.alpha_dropout,
    functional.feature_alpha_dropout,
    functional.dropout1d,
    functional.dropout2d,
    functional.dropout3d,
    torch.dropout,
    torch.dropout_,
}
_RATE_OF_ATTENTION = 4  # its place among the arguments of PyTorch's own function


class WithoutDropout(TorchFunctionMode):
    """Let functions of torch drop nothing, at whatever rate."""

    @at_the_border
    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Call a function; one that drops gives what it gets."""
        named = dict(kwargs or {})
        if func in _DROPPING:
            return args[0] if args else named["input"]
        if func is functional.scaled_dot_product_attention:
            named.pop("dropout_p", None)
            if len(args) > _RATE_OF_ATTENTION:
                args = (
                    *args[:_RATE_OF_ATTENTION],
                    0.0,
                    *args[_RATE_OF_ATTENTION + 1 :],
                )
        return func(*args, **named)


def rate_attributes(target: Target) -> list[tuple[nn.Module, str]]:
    """List the attributes of a module and its parts that hold a rate of dropout."""
    found: list[tuple[nn.Module, str]] = []
    for part in target.modules() if isinstance(target, nn.Module) else ():
        if isinstance(part, nn.modules.dropout._DropoutNd):
            found.append((part, "p"))
        # Layers of other libraries call it `rate`.
        layer = "dropout" in type(part).__name__.lower()
        found += [
            (part, name)
            for name, value in vars(part).items()
            if _is_rate(value) and (_NAME.search(name) or (layer and name == "rate"))
        ]
    return found


def rate_argument(function: Target) -> str | None:
    """Find the argument of a function that is a rate of dropout."""
    known = arguments(function).items()
    rates = [name for name, one in known if _is_rate(one.default)]
    return next((name for name in rates if _NAME.search(name)), None)


def _is_rate(value: Any) -> bool:
    """Ask whether a value is a number; a layer that drops, or a flag, is none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)
