"""What a property is, and what the rooms measure with."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from headway.checks.core.book_sections import Section

# Primes and a shift that half precision cannot follow.
T, D, SHIFT = 13, 8, 1_000_000
NEAR = 1e-9  # what 64 bits may differ by, also after a shift by a million


class Seen(NamedTuple):
    """How far something is from what it must be, and what that means."""

    figure: float | int
    sentence: str


class Property(NamedTuple):
    """One thing that must hold, and where the book explains it."""

    id: str
    name: str
    section: Section
    measure: Callable[[Mapping[str, Any]], Seen]


def draw(*shape: int, seed: int = 1) -> Tensor:
    """Draw numbers in 64 bits."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def far(a: Tensor, b: Tensor) -> float:
    """Say how far two results are from each other; infinitely, if one is nan."""
    return float((a.double() - b.double()).abs().nan_to_num(torch.inf).max())
