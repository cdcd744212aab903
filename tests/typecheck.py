"""The type checker behind the shape checks."""

from collections.abc import Callable
from typing import Any

from beartype import beartype
from beartype.roar import BeartypeDecorHintPep3119Exception


def check(function: Callable[..., Any]) -> Callable[..., Any]:
    """Check each call, unless a type in the signature cannot be checked at run time."""
    try:
        return beartype(function)
    except BeartypeDecorHintPep3119Exception:
        return function
