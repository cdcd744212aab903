"""Designs that a reader says are meant: refused if they cannot be, and told."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from headway.checks.cannot_check import CannotCheckError
from headway.checks.subject import Options

_NORMALIZE = ("softmax", "sigmoid", "softmax plus one")


def _is_number(value: Any) -> bool:
    numeric = isinstance(value, (int, float)) and not isinstance(value, bool)
    return numeric and math.isfinite(value)


def _is_call(value: Any) -> bool:
    if not isinstance(value, str):
        return callable(value)
    try:
        compile(value.strip(), "<cached>", "eval")
    except SyntaxError:
        return False
    return True


_CONDITIONS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "scale": (lambda one: _is_number(one) and one > 0, "be a positive number"),
    "normalize": (
        lambda one: one in _NORMALIZE,
        'be "softmax", "sigmoid" or "softmax plus one"',
    ),
    "rotary_base": (lambda one: _is_number(one) and one > 1, "be a number above 1"),
    "window": (
        lambda one: type(one) is int and one > 0,
        "be a positive whole number",
    ),
    "cached": (_is_call, "be an expression or a function"),
}


def refuse_impossible(options: Options) -> None:
    """Refuse a design that no attention can have.

    Raises:
        ValueError: If a scale, a base, a window or the like is none.
    """
    for name, (holds, condition) in _CONDITIONS.items():
        value = getattr(options, name)
        if value is not None and not holds(value):
            raise CannotCheckError(f"{name} must {condition}; got {name}={value!r}.")


def facts_of_design(options: Options) -> dict[str, str]:
    """Say which designs were asked for."""
    said = []
    if options.scale is not None:
        said.append(f"scores times {options.scale:g}")
    if options.normalize is not None:
        said.append(f"{options.normalize} of the scores")
    if options.rotary_base is not None:
        said.append(f"rotary positions with base {options.rotary_base:g}")
    if options.window is not None:
        keys = "key" if options.window == 1 else f"{options.window} keys"
        said.append(f"a window on the latest {keys}")
    found = {"design": f"{', '.join(said)}; as asked"} if said else {}
    if options.cached is not None:
        cached = options.cached
        if not isinstance(cached, str):
            cached = getattr(cached, "__name__", "a function")
        found["cached"] = cached.strip()
    return found
