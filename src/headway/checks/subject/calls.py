"""How a piece of attention code wants to be called."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter
from typing import Any

import torch
from torch import Tensor, nn

from headway.checks.subject.signature import Target, arguments

CallOption = str | Callable[..., Any]
_QUERY_KEY_VALUE = [
    {"query", "key", "value"},
    {"queries", "keys", "values"},
    {"q", "k", "v"},
]


@dataclass(frozen=True)
class Packing:
    """How tokens hold queries, keys and values, for a function of these three.

    A token is its query, its key and its value side by side, for all heads.

    Attributes:
        heads: Number of heads.
        key_width: Width of a query and of a key of one head.
        value_width: Width of a value of one head.
        axes: 4 if the function takes heads, 3 if it takes none, 2 if it takes one text.
    """

    heads: int
    key_width: int
    value_width: int
    axes: int

    @property
    def d_in(self) -> int:
        """The width of a token."""
        return sum(self.widths)

    @property
    def widths(self) -> list[int]:
        """The widths of the three parts of a token."""
        wide, narrow = self.heads * self.key_width, self.heads * self.value_width
        return [wide, wide, narrow]

    def unpack(self, x: Tensor) -> list[Tensor]:
        """Take queries, keys and values out of tokens."""
        parts = x.split(self.widths, dim=-1)
        if self.axes < 4:
            return [*parts]
        return [p.unflatten(-1, (self.heads, -1)).transpose(1, 2) for p in parts]

    def merge(self, result: Tensor) -> Tensor:
        """Put the heads of a result side by side."""
        return result if self.axes < 4 else result.transpose(1, 2).flatten(2)


@dataclass(frozen=True)
class Call:
    """One way to call code with tokens of shape (B, T, width).

    Attributes:
        text: The call, as a report shows it.
        invoke: Calls the target with tokens, or with queries, keys and values.
        packing: How tokens hold queries, keys and values; `None` if it takes tokens.
        time_first: Whether it takes tokens of shape (T, B, width).
    """

    text: str
    invoke: Callable[..., Any]
    packing: Packing | None = None
    time_first: bool = False

    def __call__(self, target: Target, x: Tensor, extra: Mapping[str, Any]) -> Tensor:
        """Call the target; `extra` are further arguments, such as a mask."""
        if self.packing is None:
            x = x.transpose(0, 1) if self.time_first else x
            result = _first_tensor(self.invoke(target, x, **extra))
            return result.transpose(0, 1) if self.time_first else result
        inputs = self.packing.unpack(x)
        if self.packing.axes == 2:
            texts = zip(*inputs, strict=True)
            results = [_first_tensor(self.invoke(target, *t, **extra)) for t in texts]
            return torch.stack(results)
        return self.packing.merge(_first_tensor(self.invoke(target, *inputs, **extra)))


def possible_calls(
    target: Target, option: CallOption | None, num_heads: int | None
) -> Iterator[Call]:
    """Give the ways in which code may want to be called, the likeliest first."""
    time_first = getattr(target, "batch_first", True) is False
    if option is not None:
        text, invoke, takes_tokens = _from_option(option)
        if takes_tokens:
            yield Call(text, invoke, None, time_first)
        else:
            yield from _of_three(text, invoke, num_heads)
        return
    known = arguments(target)
    needed = [name for name, one in known.items() if _is_needed(one)]
    if isinstance(target, nn.Module):
        if _takes_three(known, needed):
            yield Call("m(x, x, x)", _repeat(3, needed[3:]), None, time_first)
            return
    else:
        any_number = [p.kind for p in known.values()][:1] == [Parameter.VAR_POSITIONAL]
        if any_number or _takes_three(known, needed):
            invoke = _repeat(1, needed[3:])
            yield from _of_three("f(query, key, value)", invoke, num_heads)
            if any_number:
                yield Call("m(x)", _repeat(1, []))
            return
    arguments_shown = ", ".join(["x"] + ["None"] * len(needed[1:]))
    yield Call(f"m({arguments_shown})", _repeat(1, needed[1:]), None, time_first)
    if len(needed) == 2:
        yield Call("m(x, x)", _repeat(2, []), None, time_first)


def _takes_three(known: Mapping[str, Parameter], needed: Sequence[str]) -> bool:
    """Ask whether code takes queries, keys and values; unknown arguments may be."""
    if any("mask" in name for name in needed[1:3]):
        return False
    return set([*known][:3]) in _QUERY_KEY_VALUE or len(needed) >= 3 or not known


def _is_needed(parameter: Parameter) -> bool:
    kinds = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    return parameter.default is Parameter.empty and parameter.kind in kinds


def _repeat(copies: int, blanks: Sequence[str]) -> Callable[..., Any]:
    """Call with each input so many times, and `None` for further arguments."""

    def invoke(target: Target, *inputs: Tensor, **extra: Any) -> Any:
        return target(*inputs * copies, **{**dict.fromkeys(blanks), **extra})

    return invoke


def _of_three(
    text: str, invoke: Callable[..., Any], num_heads: int | None
) -> Iterator[Call]:
    """Try queries, keys and values with heads, without, and of one text alone."""
    for axes, other in itertools.product((4, 3, 2), (11, None)):
        heads = (num_heads or 2) if axes == 4 else 1
        width = 3 if heads == 5 else 5  # as many heads as numbers hide mistakes
        yield Call(text, invoke, Packing(heads, width, other or width, axes))


def _from_option(option: CallOption) -> tuple[str, Callable[..., Any], bool]:
    """Make a function of what the reader wrote; say also whether it takes tokens."""
    if not isinstance(option, str):
        text = getattr(option, "__name__", "call")
        return text, option, len(arguments(option)) < 4
    try:
        code = compile(option.strip(), "<call>", "eval")
    except SyntaxError as error:
        raise ValueError(f"call must be an expression; got call={option!r}.") from error
    takes_tokens = "x" in code.co_names

    def invoke(m: Target, *inputs: Tensor, mask: Any = None) -> Any:
        names: dict[str, Any] = {"m": m, "f": m, "torch": torch, "mask": mask}
        if takes_tokens:
            names["x"] = inputs[0]
        else:
            names |= zip(("q", "k", "v"), inputs, strict=True)
            names |= zip(("query", "key", "value"), inputs, strict=True)
        return eval(code, names)  # noqa: S307  # it is the reader's own expression

    return option.strip(), invoke, takes_tokens


def _first_tensor(result: Any) -> Tensor:
    if isinstance(result, Tensor):
        return result
    parts = result.values() if isinstance(result, Mapping) else result
    if isinstance(parts, (list, tuple)) or isinstance(result, Mapping):
        found = [part for part in parts if isinstance(part, Tensor)]
        rows = [one for one in found if one.shape[-2:-1] != one.shape[-1:]]
        if found:  # a square is a table of weights, if there are rows beside it
            return next((r for r in rows if r.ndim == found[0].ndim), found[0])
    raise TypeError(f"it returned {type(result).__name__}, not a tensor")
