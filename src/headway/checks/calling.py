"""How a piece of attention code wants to be called."""

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from headway.checks import vocabulary

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
    names = [*vocabulary.arguments(target)]
    needed = [
        name
        for name, argument in vocabulary.arguments(target).items()
        if argument.default is argument.empty
        and argument.kind in (argument.POSITIONAL_ONLY, argument.POSITIONAL_OR_KEYWORD)
    ]
    time_first = getattr(target, "batch_first", True) is False
    takes_three = set(names[:3]) in THREE or len(needed) in (3, 4) or not names
    if told is not None:
        words, invoke, of_tokens = _told(told)
        takes_three = not of_tokens
    elif takes_three or len(needed) == 2:
        rest = (None,) * (len(needed) - 3)
        words = "m(x, x, x)"
        invoke = lambda m, *inputs, **extra: m(*inputs, *rest, **extra)  # noqa: E731
    else:
        words = "m(x)"
        invoke = lambda m, x, **extra: m(x, **extra)  # noqa: E731
    if isinstance(target, nn.Module) or not takes_three:
        if told is None and takes_three:
            three = invoke
            invoke = lambda m, x, **extra: three(m, x, x, x, **extra)  # noqa: E731
        elif told is None and len(needed) == 2:
            yield Call(
                "m(x, None)", lambda m, x, **e: m(x, None, **e), None, time_first
            )
            words, invoke = "m(x, x)", lambda m, x, **e: m(x, x, **e)
        yield Call(words, invoke, None, time_first)
        return
    words = words.replace("m(x, x, x)", "f(query, key, value)")
    for axes, value_width in itertools.product((4, 3, 2), (11, 5)):
        count = (num_heads or 2) if axes == 4 else 1
        yield Call(words, invoke, Cut(count, 5, value_width, axes))


def _told(call: Calling) -> tuple[str, Callable[..., Any], bool]:
    """Make a function of what the reader wrote; say also whether it takes tokens."""
    if not isinstance(call, str):
        count = len(vocabulary.arguments(call))
        return getattr(call, "__name__", "call"), call, count < 4
    try:
        code = compile(call.strip(), "<call>", "eval")
    except SyntaxError as error:
        raise ValueError(f"call must be an expression; got call={call!r}.") from error
    of_tokens = "x" in code.co_names

    def invoke(m: Target, *inputs: Tensor, mask: Any = None, **extra: Any) -> Any:
        names = {"m": m, "f": m, "torch": torch, "mask": mask}
        if of_tokens:
            names["x"] = inputs[0]
        else:
            for short, long, tensor in zip("qkv", THREE_NAMES, inputs, strict=True):
                names[short] = names[long] = tensor
        return eval(code, names)  # noqa: S307  # it is the reader's own expression

    return call, invoke, of_tokens


THREE_NAMES = ("query", "key", "value")


def _first_tensor(result: Any) -> Tensor:
    if isinstance(result, Tensor):
        return result
    parts = result.values() if isinstance(result, Mapping) else result
    if isinstance(parts, (list, tuple)) or isinstance(result, Mapping):
        for part in parts:
            if isinstance(part, Tensor):
                return part
    raise TypeError(f"it returned {type(result).__name__}, not a tensor")
