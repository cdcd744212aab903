"""Calls with a cache: what past calls computed is handed to the next one."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from headway.checks.attention.subject.calls import (
    call_with_names,
    first_tensor,
)
from headway.checks.attention.subject.subject import Subject
from headway.checks.core.errors import at_the_border
from headway.checks.core.layer_cache import LayerCache
from headway.checks.core.signature import CallOption, Target, arguments

_PASTS = [
    "past_key_value",
    "past_key_values",
    "layer_past",
    "past",
    "past_kv",
    "past_kvs",
    "kv_cache",
    "cache",
    "kv",
    "prev_kv",
    "incremental_state",
    "state",
]
_STARTS = ["start_pos", "start_position", "position_offset", "offset", "cache_pos"]
_POSITIONS = ["cache_position", "input_pos", "position_ids", "positions"]
_FLAGS = ["use_cache", "return_cache", "return_kv", "return_past", "store_cache"]

Step = Callable[..., tuple[Tensor, Any]]


@dataclass(frozen=True)
class Way:
    """One way to call code with a cache.

    Attributes:
        shown: How, in the words of a call.
        begin: Makes the cache that the first call gets.
        step: Gives the rows of some tokens and the next cache, from the code, the
            tokens, the cache, how many tokens were before and, by name, what else is
            given, such as a mask.
        handed_on: Whether a call returns the cache for the next.
        without_positions: The same way where the code has to count positions itself.
        told: Whether somebody has said so, with nothing else to give.
    """

    shown: str
    begin: Callable[[], Any]
    step: Step
    handed_on: bool = False
    without_positions: "Way | None" = None
    told: bool = False


class LibraryCache:
    """A cache as large libraries make one: of all layers, and each adds to its own."""

    def __init__(self) -> None:
        self._kept: dict[int, tuple[Tensor, Tensor]] = {}

    @at_the_border
    def update(self, *given: Any, **named: Any) -> tuple[Tensor, Tensor]:
        """Keep what new tokens have in a layer; give that of all tokens.

        Keys come before values, wherever they stand; the first whole number is that of
        the layer.
        """
        values = [*given, *named.values()]
        rows = [one for one in values if isinstance(one, Tensor) and one.ndim > 2]
        key, value = rows[:2]
        layer = next((one for one in values if type(one) is int), 0)
        if layer in self._kept:
            old_key, old_value = self._kept[layer]
            key = torch.cat([old_key, key], dim=-2)
            value = torch.cat([old_value, value], dim=-2)
        self._kept[layer] = key, value
        return key, value

    @at_the_border
    def get_seq_length(self, layer_idx: int = 0) -> int:
        """Give how many tokens a layer has seen."""
        return self._kept[layer_idx][0].shape[-2] if layer_idx in self._kept else 0


_OBJECTS: dict[str, Callable[[], Any]] = {
    "KeyValueCache()": LayerCache,
    "a cache of layers": LibraryCache,
    "{}": dict,
    "[]": list,
}


def ways_to_cache(subject: Subject) -> Iterator[Way]:
    """Give the ways in which code may take a cache, the likeliest first."""
    option = subject.options.cached
    if option is not None:
        yield _as_told(option)
        return
    if subject.call.packing is not None or subject.options.call is not None:
        return
    taken = arguments(subject.target)
    extra = {name: True for name in _FLAGS if name in taken}
    starts = dict.fromkeys((name for name in _STARTS if name in taken), 0)
    asked = [name for name in _POSITIONS if name in taken]
    places = starts | dict.fromkeys(asked, 1)
    for name in (name for name in _PASTS if name in taken):
        shown = f"{name}=past"
        own = _calling(subject, extra, starts, name, _next)
        counting = Way(shown, lambda: None, own, handed_on=True) if asked else None
        for axes in (1, 2) if asked else (0,):
            given = starts | dict.fromkeys(asked, axes)
            handed = _calling(subject, extra, given, name, _next)
            yield Way(shown, lambda: None, handed, True, counting)
        if counting:
            yield counting
        kept = _calling(subject, extra, places, name)
        for words, make in _OBJECTS.items():
            yield Way(f"{name}={words}", make, kept)
        both = _calling(subject, extra, places, name, _next_pair)
        yield Way(f"{name}=(key, value)", lambda: None, both)
    inside = [*extra, *(name for name in places if name in _STARTS)]
    if inside:
        step = _calling(subject, extra, places, None)
        yield Way(f"{inside[0]}=...", lambda: None, step)


def _calling(
    subject: Subject,
    extra: Mapping[str, Any],
    places: Mapping[str, int],
    name: str | None,
    found: Callable[[Any], Any] | None = None,
) -> Step:
    """Make a step that hands over a cache by name, and says where new tokens stand.

    A position has no axis if it is that of the first token, one or two if of each. The
    next cache is found in what a call returned, or is that of before.
    """
    first = subject.call.time_first

    @at_the_border
    def step(
        target: Target, x: Tensor, past: Any, start: int, **given: Any
    ) -> tuple[Tensor, Any]:
        extras = {**subject.extra, **extra, **given}
        for argument, axes in places.items():
            here = torch.arange(start, start + x.shape[1], device=x.device)
            extras[argument] = (start, here, here.repeat(len(x), 1))[axes]
        if name is not None:
            extras[name] = past
        invoke = subject.call.moved(start).invoke
        result = invoke(target, x.transpose(0, 1) if first else x, **extras)
        rows = first_tensor(result)
        rows = rows.transpose(0, 1) if first else rows
        return rows, past if found is None else found(result)

    return step


def _next(result: Any) -> Any:
    """Find the cache among what a call returned: the last that is no number."""
    if isinstance(result, Mapping):
        named = [
            part for name, part in result.items() if "past" in name or "cache" in name
        ]
        return named[0] if named else None
    parts = result[1:] if isinstance(result, (list, tuple)) else ()
    held = [part for part in parts if isinstance(part, (list, tuple, dict))]
    others = [part for part in parts if part is not None]
    return (held or others or [None])[-1]


@at_the_border
def _next_pair(result: Any) -> tuple[Tensor, Tensor]:
    """Take keys and values that stand beside each other in what a call returned."""
    parts = result[1:] if isinstance(result, (list, tuple)) else ()
    *_, key, value = [part for part in parts if isinstance(part, Tensor)]
    return key, value


def _as_told(option: CallOption) -> Way:
    """Call as the reader wrote."""
    if not isinstance(option, str):
        name = getattr(option, "__name__", "cached")
        return Way(name, lambda: None, option, handed_on=True, told=True)
    words = option.strip()

    @at_the_border
    def step(target: Target, x: Tensor, past: Any, start: int) -> tuple[Tensor, Any]:
        names = {"x": x, "past": past, "start": start}
        result = call_with_names(words, target, names)
        if not isinstance(result, Sequence) or len(result) < 2:
            raise TypeError("cached must give the rows and the cache")
        return first_tensor(result[0]), result[-1]

    return Way(words, lambda: None, step, handed_on=True, told=True)
