"""How a piece of attention code wants to be called."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter
from typing import Any

import torch
from torch import Tensor, nn

from headway.checks.names import arguments

Target = Callable[..., Any]
Calling = str | Callable[..., Any]
THREE = [
    {"query", "key", "value"},
    {"queries", "keys", "values"},
    {"q", "k", "v"},
]


@dataclass(frozen=True)
class Cut:
    """How tokens hold queries, keys and values, for a function of these three.

    A token is its query, its key and its value side by side, for all heads.
    """

    heads: int
    key_width: int
    value_width: int
    axes: int

    @property
    def d_in(self) -> int:
        """The width of a token."""
        return self.heads * (2 * self.key_width + self.value_width)

    def take(self, x: Tensor) -> list[Tensor]:
        """Take queries, keys and values out of tokens."""
        wide, narrow = self.heads * self.key_width, self.heads * self.value_width
        parts = x.split([wide, wide, narrow], dim=-1)
        if self.axes < 4:
            return [*parts]
        return [p.unflatten(-1, (self.heads, -1)).transpose(1, 2) for p in parts]

    def join(self, result: Tensor) -> Tensor:
        """Put the heads of a result side by side."""
        return result if self.axes < 4 else result.transpose(1, 2).flatten(2)


@dataclass(frozen=True)
class Call:
    """One way to call code with tokens of shape (B, T, width)."""

    words: str
    invoke: Callable[..., Any]
    cut: Cut | None = None
    time_first: bool = False

    def __call__(self, target: Target, x: Tensor, extra: Mapping[str, Any]) -> Tensor:
        """Call the target; `extra` are further arguments, such as a mask."""
        if self.cut is None:
            x = x.transpose(0, 1) if self.time_first else x
            result = _first_tensor(self.invoke(target, x, **extra))
            return result.transpose(0, 1) if self.time_first else result
        inputs = self.cut.take(x)
        if self.cut.axes == 2:
            texts = zip(*inputs, strict=True)
            results = [_first_tensor(self.invoke(target, *t, **extra)) for t in texts]
            return torch.stack(results)
        return self.cut.join(_first_tensor(self.invoke(target, *inputs, **extra)))


def ways(target: Target, told: Calling | None, num_heads: int | None) -> Iterator[Call]:
    """Give the ways in which code may want to be called, the likeliest first."""
    known = arguments(target)
    needed = [name for name, one in known.items() if _is_needed(one)]
    module = isinstance(target, nn.Module)
    time_first = getattr(target, "batch_first", True) is False
    three = set([*known][:3]) in THREE or len(needed) >= 3 or not known
    stars = [one.kind for one in known.values()][:1] == [Parameter.VAR_POSITIONAL]
    three = three or (stars and not module)
    three = three and not any("mask" in name for name in needed[1:3])
    if told is not None:
        words, invoke, of_tokens = _told(told)
        if of_tokens:
            yield Call(words, invoke, None, time_first)
        else:
            yield from _cuts(words, invoke, num_heads)
    elif three and not module:
        yield from _cuts("f(query, key, value)", _with(1, needed[3:]), num_heads)
        if stars:
            yield Call("m(x)", _with(1, []))
    elif three:
        yield Call("m(x, x, x)", _with(3, needed[3:]), None, time_first)
    else:
        words = ", ".join(["x"] + ["None"] * len(needed[1:]))
        yield Call(f"m({words})", _with(1, needed[1:]), None, time_first)
        if len(needed) == 2:
            yield Call("m(x, x)", _with(2, []), None, time_first)


def _is_needed(one: Parameter) -> bool:
    by_place = one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
    return one.default is one.empty and by_place


def _with(copies: int, blanks: Sequence[str]) -> Callable[..., Any]:
    """Call with each input so many times, and `None` for further arguments."""

    def invoke(target: Target, *inputs: Tensor, **extra: Any) -> Any:
        return target(*inputs * copies, **{**dict.fromkeys(blanks), **extra})

    return invoke


def _cuts(
    words: str, invoke: Callable[..., Any], num_heads: int | None
) -> Iterator[Call]:
    """Try queries, keys and values with heads, without, and of one text alone."""
    for axes, other in itertools.product((4, 3, 2), (11, None)):
        heads = (num_heads or 2) if axes == 4 else 1
        width = 3 if heads == 5 else 5  # as many heads as numbers hide mistakes
        yield Call(words, invoke, Cut(heads, width, other or width, axes))


def _told(call: Calling) -> tuple[str, Callable[..., Any], bool]:
    """Make a function of what the reader wrote; say also whether it takes tokens."""
    if not isinstance(call, str):
        words = getattr(call, "__name__", "call")
        return words, call, len(arguments(call)) < 4
    try:
        code = compile(call.strip(), "<call>", "eval")
    except SyntaxError as error:
        raise ValueError(f"call must be an expression; got call={call!r}.") from error
    of_tokens = "x" in code.co_names

    def invoke(m: Target, *inputs: Tensor, mask: Any = None) -> Any:
        given: dict[str, Any] = {"m": m, "f": m, "torch": torch, "mask": mask}
        if of_tokens:
            given["x"] = inputs[0]
        else:
            given |= zip(("q", "k", "v"), inputs, strict=True)
            given |= zip(("query", "key", "value"), inputs, strict=True)
        return eval(code, given)  # noqa: S307  # it is the reader's own expression

    return call.strip(), invoke, of_tokens


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
